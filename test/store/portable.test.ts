// The statements and migrations stay open for engines of PostgreSQL's kind that distribute the FHIR tables over several nodes. What
// these refuse, and what this project does instead, is in docs/decisions/0092-portable-statements.md.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { system } from '../../src/access/caller.ts'
import type { Storage } from '../../src/app/storage.ts'
import { commandsOf } from '../../src/db/commands.ts'
import { openDatabase } from '../../src/db/database.ts'
import { isKeyTaken } from '../../src/db/taken.ts'
import { takeWaiting } from '../../src/events/waiting.ts'
import { readConfig } from '../../src/lib/config.ts'
import { mustHaveLayout } from '../../src/store/distribution.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import { isOnCluster } from '../support/citus.ts'
import { onCleanup } from '../support/cleanup.ts'
import { createTestDatabase, openTestDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/process.ts'
import { openTestStorage } from '../support/storage.ts'

const source = join(import.meta.dirname, '../../src')
const namesIn = (folder: string, ending: string): string[] =>
  readdirSync(join(source, folder), { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith(ending))

/** The code of src without comments, by file. */
const code = new Map(
  namesIn('.', '.ts').map(name => [
    name,
    readFileSync(join(source, name), 'utf8').replace(/^\s*(?:\/\/|\/\*|\*).*$|\s\/\/ .*$/gm, ''),
  ]),
)

/** The files in which `faults` finds any, with what it finds. */
const faultsIn = (faults: (text: string) => readonly string[]): Record<string, readonly string[]> =>
  Object.fromEntries(
    [...code].map(([name, text]) => [name, faults(text)] as const).filter(([, found]) => found.length > 0),
  )

/** The texts of a file, each as it is written; those within a placeholder belong to the text around them. */
function textsIn(file: string): string[] {
  const texts = [...file.matchAll(/'[^'`\n]+'/g)].map(([text]) => text)
  let [start, depth] = [-1, 0]
  for (let at = 0; at < file.length; at++) {
    if (file[at] === '\\') at++
    else if (start >= 0 && file.startsWith('${', at)) depth++
    else if (start >= 0 && depth > 0 && file[at] === '}') depth--
    else if (file[at] === '`' && depth === 0) {
      if (start >= 0) texts.push(file.slice(start, at))
      start = start >= 0 ? -1 : at + 1
    }
  }
  return texts
}

/** The text up to the bracket that closes what it stands in, or to its end. */
function upToBracket(text: string): string {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '(') depth++
    else if (text[at] === ')' && --depth < 0) return text.slice(0, at)
  }
  return text
}

const fhirTable = /\b(?:resource|history|search|coded|span|word|term)\b/

/** Recursions whose query names a FHIR table, or takes in a piece of SQL that may. A number in capitals is none. */
const recursionsIn = (file: string): string[] =>
  textsIn(file).flatMap(text =>
    [...text.matchAll(/with recursive/g)]
      .map(({ index }) => upToBracket(text.slice(index)))
      .filter(query => fhirTable.test(query) || /\$\{(?![A-Z_]+\})/.test(query))
      .map(query => query.slice(0, 40)),
  )

/** Insertions that may meet a row with the same key, and that group their rows themselves. */
const groupedInsertionsIn = (file: string): string[] =>
  textsIn(file).flatMap(text =>
    [...text.matchAll(/insert into (?:(?!insert into).)*?on conflict/gs)]
      .map(([insertion]) => insertion.replaceAll(/\((?:[^()]|\([^()]*\))*\)/g, '()'))
      .filter(insertion => insertion.includes('group by')),
  )

/** Comparisons with the name of a constraint. */
const namedConstraintsIn = (file: string): string[] =>
  file.match(/\bconstraint\b[^\n]*?[!=]==? *['"`][^\n]*|\bconstraint\b[^\n]*?\.(?:includes|startsWith)\([^\n]*/g) ?? []

test('no error is told by the name of a constraint, which parts of a table do not have', () => {
  expect(namedConstraintsIn("(error as { constraint?: unknown }).constraint === 'directory_id'")).toHaveLength(1)
  expect(faultsIn(namedConstraintsIn)).toEqual({})
})

test('no recursion stands in a query with a FHIR table', () => {
  const beside = [
    'with recursive a as (select 1) select from a join resource r',
    'with recursive a as ($' + '{stored}) select',
  ]
  for (const text of beside) expect(recursionsIn(`text: \`${text}\``)).toHaveLength(1)
  const apart =
    'with a as materialized (with recursive b as (select $' + '{MOST}) select from b) select from a join resource'
  expect(recursionsIn(`text: \`${apart}\``)).toEqual([])
  const [written, found] = [[...code.values()], [...code.values()].flatMap(textsIn)].map(
    texts => texts.flatMap(text => text.match(/with recursive/g) ?? []).length,
  )
  expect(found).toBe(written)
  expect(faultsIn(recursionsIn)).toEqual({})
})

test('no rows are grouped in the insertion that they may conflict in', () => {
  const grouped = 'insert into a select b, max(c) from (select 1) d group by b on conflict (b) do update set c = 1'
  expect(groupedInsertionsIn(`\`${grouped}\``)).toHaveLength(1)
  expect(faultsIn(groupedInsertionsIn)).toEqual({})
})

/** The functions that migrations leave and that name a table. */
function readingFunctions(): string[] {
  const texts = namesIn('db/migrations', '.sql')
    .sort()
    .map(name => readFileSync(join(source, 'db/migrations', name), 'utf8'))
  const commands = texts.flatMap(commandsOf).map(each => each.replaceAll(/--.*$/gm, '').trim())
  const functions = new Map<string, string>()
  for (const command of commands) {
    const [, verb, name] = /^(create|drop) (?:or replace )?function (?:if exists )?(\w+)/i.exec(command) ?? []
    if (verb === 'drop') functions.delete(name!)
    else if (name) functions.set(name, command)
  }
  return [...functions].flatMap(([name, text]) =>
    /\b(?:from|join|into|update) +(?!statement_)\w/.test(text) ? [name] : [],
  )
}

test('no function in SQL that reads tables is called but by writers', () => {
  const reading = readingFunctions().filter(name => !name.startsWith('audit_'))
  expect(reading).toEqual(expect.arrayContaining(['may_write']))
  const calls = new RegExp(`\\b(?:${reading.join('|')})\\(`, 'g')
  expect(Object.keys(faultsIn(text => text.match(calls) ?? []))).toEqual(['store/row-parts.ts', 'store/rows.ts'])
})

describe('a key that is taken', () => {
  test('is told by the table or a part of it, or where no table is named', () => {
    const taken = (more: object) => isKeyTaken({ code: '23505', ...more }, 'resource')
    expect([{ table: 'resource' }, { table: 'resource_102010' }, {}].map(taken)).toEqual([true, true, true])
    expect([{ table: 'resources' }, { table: 'search' }, { code: '23503', table: 'resource' }].map(taken)).toEqual([
      ...[false, false, false],
    ])
  })

  let storage: Storage
  beforeAll(async () => {
    storage = await openTestStorage()
  })

  test('is a lost race, whatever the index is called', async () => {
    const { database } = storage
    const ask = (text: string, ...values: unknown[]) => database.query<{ count: number }>({ text, values })
    await ask('alter index directory_id rename to directory_id_102010')
    const person = { resourceType: 'Person', id: 'raced', active: true }
    let late: Promise<{ version: number }> | undefined
    await database.transaction(async first => {
      await first.query({
        text: `with placed as (
            insert into directory (key, shard, type, id) values (nextval('resource_number') * 1024, 0, $1, 'raced') returning key, shard
          ), made as (
            insert into resource (key, shard, updated_at, version, type, method, id, body)
            select key, shard, now(), 1, $1, 2, 'raced', $2 from placed
          )
          insert into search (key, shard, self, date, date_high, type, tokens, refs, texts, subject, author)
          select key, shard, 0, 0, 0, $1, '{}', '{}', '{}', 0, 0 from placed`,
        values: [typeNumber('Person'), JSON.stringify({ ...person, active: false })],
      })
      late = storage.storeFor(system).update('Person', 'raced', person, {}) as Promise<never>
      await until('the second writer waits for the first', async () => {
        const [row] = await ask(`select count(*) from pg_locks where not granted and locktype = 'transactionid'`)
        return row!.count > 0
      })
    })
    expect(await late).toMatchObject({ version: 2 })
  })
})

describe('plans', () => {
  let connection: TestDatabase
  beforeAll(async () => {
    connection = await createTestDatabase()
  })

  test.each([
    ['whole', 'force_generic_plan'],
    ['distributed', 'auto'],
  ] as const)('of statements that one plan suits are kept for tables that are whole: %s', async (setting, mode) => {
    const { databaseLayout: layout } = readConfig({ DATABASE_LAYOUT: setting })
    const database = openDatabase(connection, { poolSize: 2, statementTimeout: 10_000, layout })
    onCleanup(() => database.end())
    const asked = { text: `select current_setting('plan_cache_mode') as mode`, values: [] }
    expect(await database.query({ ...asked, isFixed: true })).toEqual([{ mode }])
    expect(await database.query(asked)).toEqual([{ mode: 'force_custom_plan' }])
    const within = await database.transaction(async on => {
      const before = await on.query(asked)
      await takeWaiting(on, 'events', 1)
      return [before, await on.query(asked)]
    })
    expect(within).toEqual([[{ mode }], [{ mode }]])
  })

  test.skipIf(isOnCluster())(
    'are never made for whole tables where these are distributed: the setting that is needed is named',
    async () => {
      const database = await openTestDatabase()
      await mustHaveLayout(database, 'whole')
      await database.run({ text: 'create table pg_dist_partition (logicalrelid regclass)', values: [] })
      await mustHaveLayout(database, 'whole')
      await database.run({ text: `insert into pg_dist_partition values ('resource')`, values: [] })
      await expect(mustHaveLayout(database, 'whole')).rejects.toThrow('set DATABASE_LAYOUT=distributed')
      await mustHaveLayout(database, 'distributed')
    },
  )
})

describe('statements about resources', () => {
  const stored = 'resource|history|search|coded|span|word'
  const ofStore = (rule: RegExp) => (text: string) =>
    new RegExp(`\\b(?:${stored})\\b`).test(text) ? (text.match(rule) ?? []) : []

  test.each<[rule: string, fault: RegExp, example: string]>([
    ['select columns', /\bselect\s+from\b/g, 'exists (select from search s where s.self = 1)'],
    [
      'join tables by bucket and row number, not by the number alone',
      new RegExp(`\\bjoin (?:${stored}) \\w+ using \\(key\\)`, 'g'),
      'from search s join resource r using (key)',
    ],
    [
      'number rows in an order, since subqueries have none',
      /\brow_number\(\) over \(\)/g,
      'select row_number() over () from (select 1 from search order by key) page',
    ],
    [
      'lock no row of a resource',
      new RegExp(`\\b(?:from|join) (?:${stored}) \\w+\\b[^()]*\\bfor (?:no key )?update`, 'g'),
      'select key from resource r where r.key = 1 for update',
    ],
  ])('%s', (_rule, fault, example) => {
    expect(ofStore(fault)(example)).toHaveLength(1)
    const files = Object.entries(faultsIn(ofStore(fault))).filter(([name]) => name.startsWith('store/'))
    expect(files).toEqual([])
  })
})
