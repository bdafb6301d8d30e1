// What searches pass over and how they count, for a client that sees by consent: the same as resources read one by one.
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { byConsent } from '../../src/access/consent/visibility.ts'
import type { Queryable } from '../../src/db/statement.ts'
import { hash64 } from '../../src/lib/hash.ts'
import { planCount } from '../../src/store/search/count.ts'
import { parseSearch } from '../../src/store/search/parse.ts'
import { runSearch } from '../../src/store/search/run.ts'
import { run } from '../../src/store/search/strategy.ts'
import { createSketches, makeSketch, type Sketch } from '../../src/store/sketch.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import type { Visibility } from '../../src/store/visibility.ts'
import { consentOf, ofType, terminology } from '../support/consents.ts'
import { layoutOfRun } from '../support/database.ts'
import { clientOf, openRecords, type Records } from './records.ts'

let records: Records
const clinic = clientOf('clinic')
const visibility = clinic.visibility!
const sensitive = { coding: [{ system: 'http://loinc.org', code: '55277-8' }] }
const plain = { coding: [{ system: 'http://loinc.org', code: '718-7' }] }
const ended = { period: { end: '2020-01-01' } }
const research = { purpose: [{ system: `${terminology}/v3-ActReason`, code: 'HRESCH' }] }

/** Patients, and what they consented to. */
const consents: Record<string, object[]> = {
  whole: [consentOf('whole', 'whole', 'clinic')],
  twice: [consentOf('first', 'twice', 'clinic'), consentOf('second', 'twice', 'clinic', ofType('Observation'))],
  typed: [consentOf('typed', 'typed', 'clinic', ofType('Observation'))],
  otherwise: [consentOf('otherwise', 'otherwise', 'clinic', ofType('Encounter'))],
  sensitive: [consentOf('sensitive', 'sensitive', 'clinic', { provision: [{ type: 'deny', code: [sensitive] }] })],
  coded: [consentOf('coded', 'coded', 'clinic', { code: [plain] })],
  ended: [consentOf('ended', 'ended', 'clinic', ended)],
  researched: [consentOf('researched', 'researched', 'clinic', research)],
  revoked: [consentOf('revoked', 'revoked', 'clinic', {}, { status: 'inactive' })],
  denied: [consentOf('permitted', 'denied', 'clinic'), consentOf('refused', 'denied', 'clinic', { type: 'deny' })],
  elsewhere: [consentOf('elsewhere', 'elsewhere', 'another')],
  silent: [],
}

const observation = (patient: string, kind: string, code: object) => ({
  resourceType: 'Observation',
  id: `${patient}-${kind}`,
  status: 'final',
  code,
  subject: { reference: `Patient/${patient}` },
  effectiveDateTime: '2026-01-01',
})

const appointment = (id: string, ...named: string[]) => ({
  resourceType: 'Appointment',
  id,
  status: 'proposed',
  participant: named.map(patient => ({ actor: { reference: `Patient/${patient}` }, status: 'accepted' })),
})

beforeAll(async () => {
  records = await openRecords()
  for (const [patient, given] of Object.entries(consents)) {
    await records.put([{ resourceType: 'Patient', id: patient, name: [{ family: 'Same' }] }])
    await records.put([observation(patient, 'plain', plain), observation(patient, 'sensitive', sensitive)])
    await records.put([observation(patient, 'own', plain)], clinic)
    await records.put(given)
  }
  await records.put([appointment('both', 'whole', 'twice'), appointment('one', 'whole', 'silent')])
  await records.put(['ward', 'theatre'].map(id => ({ resourceType: 'Location', id })))
  // Grants of people who are not here: so many that searches are not narrowed to them.
  await records.database.run({
    text: `insert into consent_grant (patient, organization, starts_at, ends_at, consent)
      select n, $1, '-infinity', 'infinity', 'absent' from generate_series(1001, 1300) as n`,
    values: [hash64('Organization/clinic')],
  })
})

/** Sketches are of tables on one server. */
const isDistributed = layoutOfRun() === 'distributed'

const optionsOf = (sketch: Sketch | undefined, by: Visibility = visibility) => ({
  ...{ indexer: records.indexer, base: records.base, party: clinic.party, visibility: by, sketch },
  ...{ maySee: () => true, maxIncluded: 1000, layout: layoutOfRun() },
})

/** The database, which notes the texts of its statements. */
const noting = (texts: string[]): Queryable => ({
  ...records.database,
  query: statement => {
    texts.push(statement.text)
    return records.database.query(statement)
  },
})

const asked = (type: string, query: string) =>
  parseSearch([type], new URLSearchParams(query), {
    ...{ params: records.indexer.params, strict: true, defaultCount: 1000, maxCount: 1000 },
  })

const sketchOf = (by: Visibility = visibility): Promise<Sketch> => makeSketch(records.database, by)

async function pageOf(type: string, query: string, sketch: Sketch | undefined, by?: Visibility): Promise<string[]> {
  const { matches } = await runSearch(records.database, asked(type, query), optionsOf(sketch, by))
  return matches.map(({ id }) => id).sort()
}

/** The names of what is there, and of that what a client reads. */
async function readable(type: string, is: (id: string) => boolean = () => true, by = clinic): Promise<string[]> {
  const exempt = { ...optionsOf(undefined), visibility: undefined }
  const { matches } = await runSearch(records.database, asked(type, ''), exempt)
  const names = matches.map(({ id }) => `${type}/${id}`).filter(is)
  expect(names.length).toBeGreaterThan(1)
  return (await records.seen(by, ...names)).map(name => name.slice(type.length + 1)).sort()
}

const searches: [type: string, query: string, is?: (id: string) => boolean][] = [
  ['Observation', ''],
  ['Observation', 'date=2026'],
  ['Observation', 'date=ge2026'],
  ['Observation', 'code=718-7&date=gt2025-12', id => !id.endsWith('sensitive')],
  ['Observation', 'code=718-7', id => !id.endsWith('sensitive')],
  ['Observation', 'code=55277-8', id => id.endsWith('sensitive')],
  ['Observation', 'code=718-7,55277-8&_sort=-date'],
  ['Observation', 'status=final&_sort=_id'],
  ['Observation', '_sort=-_lastUpdated'],
  ['Observation', '_lastUpdated=gt2000&_sort=_lastUpdated'],
  ['Patient', ''],
  ['Patient', 'family=same'],
  ['Patient', '_sort=family'],
  ['Appointment', ''],
  ['Location', ''],
]

describe.each(isDistributed ? ['no sketch'] : ['no sketch', 'a sketch'])('with %s', how => {
  let sketch: Sketch | undefined
  beforeAll(async () => {
    sketch = how === 'a sketch' ? await sketchOf() : undefined
    expect(sketch?.field !== undefined).toBe(how === 'a sketch')
  })

  test.each(searches)('pages and counts hold what can be read: %s?%s', async (type, query, is) => {
    const expected = await readable(type, is)
    expect(await pageOf(type, query, sketch)).toEqual(expected)
    for (const step of planCount(asked(type, `${query}&_summary=count`), optionsOf(sketch)).slice(-2))
      if (step.name.startsWith('count'))
        expect([step.name, await run(records.database, [step])]).toEqual([step.name, expected.length])
  })
})

test.skipIf(isDistributed)(
  'a consent counts from the next search on, and so does its end, whatever sketch is used',
  async () => {
    const sketch = await sketchOf()
    const found = async () => ({
      coded: await pageOf('Observation', 'code=55277-8', sketch),
      all: await pageOf('Observation', '', sketch),
      count: await run(records.database, planCount(asked('Observation', '_summary=count'), optionsOf(sketch))),
    })
    const before = await found()
    await records.put([consentOf('late', 'silent', 'clinic')])
    const { coded, all, count } = await found()
    expect(coded).toContain('silent-sensitive')
    expect(all).toContain('silent-plain')
    expect(count).toBe(all.length)
    await records.put([consentOf('late', 'silent', 'clinic', {}, { status: 'inactive' })])
    expect(await found()).toEqual(before)
  },
)

describe.skipIf(isDistributed)('a client that may see little', () => {
  const small = clientOf('another')
  beforeAll(async () => {
    await records.put([
      consentOf('small', 'sensitive', 'another', { provision: [{ type: 'deny', code: [sensitive] }] }),
    ])
    await records.put([observation('silent', 'small', plain)], small)
  })

  test.each(searches)('is answered by one statement, with what it can read: %s?%s', async (type, query, is) => {
    const sketch = await sketchOf(small.visibility!)
    expect(sketch).toMatchObject({ isMany: false, isLittle: true })
    const asks: string[] = []
    const { matches } = await runSearch(noting(asks), asked(type, query), optionsOf(sketch, small.visibility))
    expect(matches.map(({ id }) => id).sort()).toEqual(await readable(type, is, small))
    expect(asks).toHaveLength(1)
  })

  test('is answered as any other when it may see much, whatever its sketch says', async () => {
    const grown = clientOf('grown')
    const sketch = await sketchOf(grown.visibility!)
    expect(sketch.isLittle).toBe(true)
    await records.put([consentOf('grown', 'whole', 'grown')])
    await records.database.run({
      text: `insert into consent_grant (patient, organization, starts_at, ends_at, consent)
        select n, $1, '-infinity', 'infinity', 'absent' from generate_series(1001, 1300) as n`,
      values: [hash64('Organization/grown')],
    })
    expect(await pageOf('Observation', '', sketch, grown.visibility)).toEqual(
      await readable('Observation', undefined, grown),
    )
  })

  test.each([['another', small] as const, ['clinic', clinic] as const])(
    'reads everything about all patients as it reads each: %s',
    async (_organization, by) => {
      const dates = { start: undefined, end: undefined, since: undefined, types: undefined }
      const { matches } = await records
        .storeFor(by)
        .everything({ patient: undefined, ...dates, count: 1000, after: undefined })
      const found = matches.map(({ type, id }) => `${type}/${id}`).filter(name => !name.startsWith('Consent/'))
      const named = async (type: string) => (await readable(type, undefined, by)).map(id => `${type}/${id}`)
      const all = [...(await named('Patient')), ...(await named('Observation')), ...(await named('Appointment'))]
      expect(found.sort()).toEqual(all.sort())
    },
  )
})

test.skipIf(isDistributed)('an emergency opens what the sketch of the organisation lacks', async () => {
  const viewer = { clientId: clinic.clientId, organizationId: 'clinic', purpose: '' }
  const ambulance = byConsent({ ...viewer, opened: [hash64('Patient/silent')] })
  const sketch = await sketchOf()
  expect(await pageOf('Observation', 'code=55277-8', sketch, ambulance)).toContain('silent-sensitive')
  expect(await pageOf('Observation', 'code=55277-8', sketch)).not.toContain('silent-sensitive')
})

describe.skipIf(isDistributed)('a sketch', () => {
  const day = 86_400_000

  test('is made in the background, again after half a minute, and is not used for longer than a minute', async () => {
    let time = day
    const sketchFor = createSketches(records.database, () => time)
    expect(sketchFor(visibility)).toBeUndefined()
    const first = await vi.waitFor(() => sketchFor(visibility) ?? expect.unreachable(), { interval: 5 })
    time += 29_999
    expect(sketchFor(visibility)).toBe(first)
    time += 1
    expect(sketchFor(visibility)).toBe(first)
    await vi.waitFor(() => expect(sketchFor(visibility)).not.toBe(first), { interval: 5 })
    time += 60_000
    expect(sketchFor(visibility)).toBeUndefined()
  })

  test('is done without where it cannot be made', async () => {
    const failing = { ...records.database, query: () => Promise.reject(new Error('no connection')) }
    const sketchFor = createSketches(failing, () => day)
    expect(sketchFor(visibility)).toBeUndefined()
    await new Promise(done => setImmediate(done))
    expect(sketchFor(visibility)).toBeUndefined()
  })

  test('of few grants says so, and one of very many has no field', async () => {
    const grant = (organization: string, count: number) =>
      records.database.run({
        text: `insert into consent_grant (patient, organization, starts_at, ends_at, consent)
          select n, $1, '-infinity', 'infinity', 'many' from generate_series(1, $2) as n`,
        values: [hash64(`Organization/${organization}`), count],
      })
    await grant('two-hundred', 200)
    await grant('very-many', 33_000)
    const of = (organizationId: string) => sketchOf(byConsent({ clientId: 'x', organizationId, purpose: '' }))
    expect(await of('two-hundred')).toMatchObject({ isMany: false, isLittle: true, field: {} })
    expect(await of('very-many')).toEqual({ isMany: true, isLittle: false, wroteMuch: new Set() })
  })
})

describe.skipIf(isDistributed)('a client that wrote a great part of a type', () => {
  const writer = clientOf('writer')
  const flags = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, n) => ({
      ...{ resourceType: 'Flag', id: `${prefix}-${n}`, status: 'active', code: { text: 'falls' } },
      subject: { reference: 'Patient/silent' },
    }))
  const asksFor = async (sketch: Sketch): Promise<[ids: string[], texts: string[]]> => {
    const texts: string[] = []
    const { matches } = await runSearch(noting(texts), asked('Flag', ''), optionsOf(sketch, writer.visibility))
    return [matches.map(({ id }) => id), texts]
  }
  const narrowing = expect.stringContaining('order by s.author, s.type')
  const own = flags('own', 51)

  test('finds it as everybody finds things, and not by reading all of it, while it is a fifth of all', async () => {
    await records.put(own, writer)
    const sketch = await sketchOf(writer.visibility!)
    expect([...sketch.wroteMuch]).toEqual([typeNumber('Flag')])
    const [ids, texts] = await asksFor(sketch)
    expect(ids.sort()).toEqual(own.map(({ id }) => id).sort())
    expect(texts).toEqual([expect.not.stringContaining('order by s.author, s.type')])
  })

  test('reads what it wrote as soon as that is less, and finds the same', async () => {
    await records.put(flags('other', 205))
    const sketch = await sketchOf(writer.visibility!)
    expect([...sketch.wroteMuch]).toEqual([])
    const [ids, texts] = await asksFor({ ...sketch, isLittle: true })
    expect(ids.sort()).toEqual(own.map(({ id }) => id).sort())
    expect(texts).toEqual([narrowing])
  })
})
