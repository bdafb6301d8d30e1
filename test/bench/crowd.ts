// Many people with small records, written by set-based SQL: what the loader would take hours for. Each is a copy of somebody
// who is there already under a new id, with some of that record's resources, found by the same codes, names and dates.
import type { Database } from '../../src/db/database.ts'
import { resourceTypes } from '../../src/definitions/r4.ts'
import { storedKeys } from '../../src/store/index/param-paths.ts'
import { shardSql, shards } from '../../src/store/index/shard.ts'
import { typeNumber } from '../../src/store/type-number.ts'

const perPatient = 20

const hashOf = (text: string): string =>
  `('x' || encode(substring(sha256(convert_to(${text}, 'UTF8')) from 1 for 8), 'hex'))::bit(64)::bigint`

/** What a reference to a patient is xor-ed with, by whichever parameter. */
const salts = (): bigint[] => [
  ...new Set(
    resourceTypes.flatMap(type => ['patient', 'subject'].flatMap(code => storedKeys(type, code).map(key => key.salt))),
  ),
]

/** Dates are spread, so that copies do not follow one another; what has none goes without. */
const later = (date: string): string =>
  `case when abs(${date}) > 9000000000000000 then ${date} else ${date} - c.later end`

const plan = (people: number, types: readonly [number, string][]): string[] => [
  `create unlogged table crowd_model as
    select row_number() over (order by r.id) - 1 as place, r.id, s.* from resource r join search s using (shard, key)
    where r.type = ${typeNumber('Patient')} and r.id not like 'crowd-%'`,
  `create unlogged table crowd_part as
    select m.place, row_number() over (partition by m.key order by md5(r.id)) as ord, m.self as was, r.id, s.key, s.shard
    from crowd_model m join search s on s.patient = m.self join resource r on r.shard = s.shard and r.key = s.key`,
  `delete from crowd_part where ord >= ${perPatient}`,
  `create unlogged table crowd as
    select nextval('resource_number') * ${shards} + ${shardSql('self')} as key, ${shardSql('self')} as shard, made.* from (select made.*, ${hashOf("'Patient/' || id")} as self from (
      select n, 'crowd-' || n as id, m.key as model, m.id as model_id, m.place
      from generate_series(1, ${people}) n join crowd_model m on m.place = n % (select count(*) from crowd_model)) made) made`,
  `create unlogged table crowd_row as
    select nextval('resource_number') * ${shards} + c.shard as key, c.shard, p.key as model, p.was, p.id as model_id, c.model_id as patient_model,
      c.id as patient_id, c.self as patient, c.id || '-' || p.ord as id, (c.n::bigint * 7919 % 86400) * 300000 as later
    from crowd c join crowd_part p using (place)`,
  `insert into resource (key, shard, updated_at, version, type, method, id, body)
    select c.key, c.shard, r.updated_at, 1, r.type, r.method, c.id, replace(r.body, c.model_id, c.id)
    from crowd c join resource r on r.key = c.model
    union all
    select c.key, c.shard, r.updated_at, 1, r.type, r.method, c.id, replace(replace(r.body, c.patient_model, c.patient_id), c.model_id, c.id)
    from crowd_row c join resource r on r.key = c.model`,
  'insert into directory (key, shard, type, id) select key, shard, type, id from resource on conflict do nothing',
  `insert into search (key, shard, self, patient, date, date_high, type, tokens, refs, texts, subject, author)
    select c.key, c.shard, c.self, null, s.date, s.date_high, s.type, s.tokens, s.refs, '{}'::bigint[], c.self, 0
    from crowd c join search s on s.key = c.model
    union all
    select c.key, c.shard, ${hashOf("t.name || '/' || c.id")}, c.patient, ${later('s.date')}, ${later('s.date_high')}, s.type, s.tokens,
      array(select case when ref # c.was = any('{${salts().join(',')}}'::bigint[]) then ref # c.was # c.patient else ref end from unnest(s.refs) ref),
      '{}'::bigint[], c.patient, 0
    from crowd_row c join search s on s.key = c.model
      join (values ${types.map(([number, name]) => `(${number}, '${name}')`).join(', ')}) t(number, name) on t.number = s.type`,
  `insert into coded (posting, date, key, shard, subject, author)
    select v.posting, s.date, s.key, s.shard, s.subject, s.author from crowd_row c join search s on s.key = c.key
      join search was on was.key = c.model join coded v on v.key = c.model and v.date = was.date and v.posting = any(was.tokens)`,
  `insert into word (key, shard, param, folded, exact)
    select c.key, c.shard, w.param, w.folded, w.exact from crowd c join word w on w.key = c.model`,
  'drop table crowd_model, crowd_part, crowd, crowd_row',
]

/** Adds this many people, unless they are there. */
export async function writeCrowd(database: Database, people: number): Promise<void> {
  const ask = (text: string) => database.query<{ name: string; text: string }>({ text, values: [] })
  const [there] = await database.query({
    text: 'select from directory where type = $1 and id = $2',
    values: [typeNumber('Patient'), `crowd-${people}`],
  })
  if (there) return
  const types = resourceTypes.map(type => [typeNumber(type), type] as [number, string])
  const indexes = await ask(`select indexname as name, indexdef as text from pg_indexes
    where tablename in ('search', 'coded', 'word') and indexname not in ('search_key', 'word_key')`)
  for (const { name } of indexes) await ask(`drop index ${name}`)
  await ask('create index coded_key on coded (key)')
  for (const step of plan(people, types)) {
    process.stdout.write(`  ${step.trim().split('\n')[0]!.slice(0, 80)}\n`)
    await ask(step)
  }
  await ask('drop index coded_key')
  for (const { text } of indexes) await ask(text)
  await ask('vacuum analyze directory, resource, search, coded, word')
}
