// Who answers for a Health ID, and which one is shown of whom: each in a register in which there are all the others.
import { beforeAll, describe, expect, test } from 'vitest'
import { mint } from '../../../src/lib/health-id.ts'
import {
  currentHealthIds,
  freeHealthId,
  holderOf,
  holdersAmong,
  lostHealthIds,
  mergedInto,
  readHealthId,
} from '../../../src/mpi/register/health-ids.ts'
import { mergedWith } from '../../../src/mpi/register/merged.ts'
import { fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const on = () => service.application.database
const of: Record<string, string> = {}

beforeAll(async () => {
  service = await startService()
  const store = async (...patients: { id: string }[]): Promise<void> => {
    for (const body of patients) {
      const { status, text } = await call('PUT', `Patient/${body.id}`, { body })
      expect(status, text).toBeLessThan(300)
    }
  }
  const filled = <T>(list: T[]): T[] | undefined => (list.length > 0 ? list : undefined)
  const names = 'plain before after lost passed gone moved a b c ward round bend turn late double1 double2 left1 left2'
  for (const name of names.split(' ')) of[name] = mint('CM')
  const patient = (id: string, held: string[], link: [type: string, id: string][] = []) => ({
    resourceType: 'Patient',
    id,
    identifier: filled(held.map(name => ({ system: `${service.url}/fhir/NamingSystem/health-id`, value: of[name] }))),
    link: filled(link.map(([type, other]) => ({ type, other: { reference: `Patient/${other}` } }))),
  })
  const by = (id: string): [string, string] => ['replaced-by', id]
  const replaces = (id: string): [string, string] => ['replaces', id]
  await store(patient('plain', ['plain']), patient('double', ['double1', 'double2']))
  await store(patient('changed', ['before']), patient('changed', ['after']))
  await store(patient('lost', ['lost', 'left1', 'left2']), patient('lost', []))
  await store(patient('giver', ['passed', 'gone']), patient('giver', []), patient('taker', ['passed']))
  await store(patient('deleted', ['gone']))
  await store(
    patient('moved', ['moved']),
    patient('moved', []),
    patient('moved-on', ['moved']),
    patient('moved-on', []),
  )
  await store(
    patient('a', ['a'], [by('b')]),
    patient('b', ['b'], [replaces('a'), by('c')]),
    patient('c', ['c'], [replaces('b')]),
  )
  await store(patient('ward', ['ward'], [by('nameless')]), patient('nameless', []))
  await store(patient('round', ['round'], [by('bend')]), patient('bend', ['bend'], [by('round')]))
  await store(patient('turn', ['turn']), patient('turn', [], [by('twist')]), patient('twist', [], [by('turn')]))
  await store(patient('early', ['late'], [by('over')]), patient('over', []))
  await store(patient('former', [], [by('later')]), patient('later', [], [replaces('former/_history/12')]))
  // Of those who say that they were merged into it, it says so of one; and what somebody says of others is nothing.
  await store(patient('one', [], [by('claimed')]), patient('other', [], [by('claimed')]))
  await store(patient('claimed', [], [replaces('one')]), patient('liar', [], [replaces('ward'), replaces('other')]))
  for (const id of ['deleted', 'moved', 'over', 'a']) expect((await call('DELETE', `Patient/${id}`)).status).toBe(204)
})

describe('a Health ID leads to', () => {
  test.each<[string, string, [patient: string, current: string | undefined, isMerged: boolean] | undefined]>([
    ['whoever holds it', 'plain', ['plain', 'plain', false]],
    ['its holder, who has another too', 'double2', ['double', 'double2', false]],
    ['whoever had it and has another now', 'before', ['changed', 'after', false]],
    ['whoever had it and has none now, who is known by it still', 'lost', ['lost', 'lost', false]],
    ['whoever has it now, not whoever had it before', 'passed', ['taker', 'passed', false]],
    [
      'whoever had it last and is stored, not whoever had it before and is deleted',
      'moved',
      ['moved-on', 'moved', false],
    ],
    ['whoever had it before and is stored, not whoever had it last and is deleted', 'gone', ['giver', 'gone', false]],
    ['the last of those who replace each other, even where the first is deleted', 'a', ['c', 'c', true]],
    ['the last from the middle, too', 'b', ['c', 'c', true]],
    ['the last, who may be others as well', 'c', ['c', 'c', true]],
    ['whoever replaces its holder and has none', 'ward', ['nameless', undefined, true]],
    ['its holder, where merges go round in a circle', 'round', ['round', 'round', true]],
    ['nobody new in a circle in which it was lost', 'turn', ['turn', undefined, true]],
    ['nobody, if who replaces its holder is deleted', 'late', undefined],
  ])('%s', async (_what, name, expected) => {
    const [patient, current, isMerged] = expected ?? []
    expect(await holderOf(on(), of[name]!)).toEqual(expected && { patient, current: current && of[current], isMerged })
  })

  test('nobody, if it was never given out', async () => {
    expect(await holderOf(on(), mint('CM'))).toBeUndefined()
  })
})

describe('a Health ID that somebody wrote', () => {
  const refused = (text: string) => readHealthId(on(), text, 'health_id').catch(failure => failure)
  const wrong = 'The check symbols of this Health ID are wrong: compare it with the card.'
  const copied = (name: string): string => {
    const [start, last] = [of[name]!.slice(0, 5), of[name]![5]!]
    return `${start}${last === '7' ? '8' : '7'}${of[name]!.slice(6)}`
  }

  test('is read in any case, and told in capitals', async () => {
    expect(await readHealthId(on(), of['plain']!.toLowerCase(), 'health_id')).toBe(of['plain'])
  })

  test('in another form is refused with the form', async () => {
    const message = 'A Health ID must have the form CC-XXXX-XXXX-XXXX: a country code and twelve letters or digits.'
    expect(await refused('7')).toMatchObject({
      ...{ code: 'INVALID_HEALTH_ID', message },
      options: { details: [{ field: 'health_id', code: 'checksum', message }] },
    })
  })

  test('with a slip is refused with the one that was meant, if somebody answers for that, and without otherwise', async () => {
    const details = [{ field: 'health_id', code: 'checksum', message: wrong }]
    const meant = await refused(copied('plain'))
    expect([meant.code, meant.message, meant.options]).toEqual([
      'INVALID_HEALTH_ID',
      wrong,
      { details, extra: { suggestion: of['plain'] } },
    ])
    expect((await refused(copied('late'))).options).toEqual({ details })
  })
})

test('of many texts those count that are Health IDs which somebody answers for, and each patient once', async () => {
  const texts = [of['b']!, of['c']!, of['plain']!.toLowerCase(), of['late']!, 'hello', mint('CM')]
  expect(await holdersAmong(on(), texts)).toEqual(['c', 'plain'])
})

test('whoever was merged into a patient is found through all merges, and nobody else', async () => {
  expect((await mergedInto(on(), 'c')).sort()).toEqual(['a', 'b', 'c'])
  expect((await mergedInto(on(), 'b')).sort()).toEqual(['a', 'b'])
  expect((await mergedInto(on(), 'round')).sort()).toEqual(['bend', 'round'])
  expect(await mergedInto(on(), 'plain')).toEqual(['plain'])
})

test('whoever was merged or is inactive is not to be found', async () => {
  for (const [id, active] of [
    ['asleep', false],
    ['awake', true],
  ] as const)
    expect((await call('PUT', `Patient/${id}`, { body: { resourceType: 'Patient', id, active } })).status).toBe(201)
  const rows = await on().query<{ patient: string }>({
    text: 'select patient from person where patient = any($1) order by patient',
    values: [['asleep', 'awake', 'b', 'c', 'deleted', 'nameless', 'plain', 'round', 'ward']],
  })
  expect(rows.map(row => row.patient)).toEqual(['awake', 'c', 'nameless', 'plain'])
})

test('patients are one person where both say so', async () => {
  const same = await mergedWith(on(), ['c', 'a', 'ward', 'round', 'former', 'one', 'other', 'liar', 'plain'])
  expect([...same].map(([id, all]) => [id, all.toSorted()])).toEqual([
    ['c', ['a', 'b', 'c']],
    ['a', ['a', 'b', 'c']],
    ['ward', ['ward']],
    ['round', ['round']],
    ['former', ['former', 'later']],
    ['one', ['claimed', 'one']],
    ['other', ['other']],
    ['liar', ['liar']],
    ['plain', ['plain']],
  ])
})

test('a person is found to be a hundred patients at most', async () => {
  const links = (at: number) => [
    ...(at > 0 ? [{ type: 'replaces', other: { reference: `Patient/many-${at - 1}` } }] : []),
    ...(at < 110 ? [{ type: 'replaced-by', other: { reference: `Patient/many-${at + 1}` } }] : []),
  ]
  const entry = Array.from({ length: 111 }, (_, at) => ({
    resource: { resourceType: 'Patient', id: `many-${at}`, link: links(at) },
    request: { method: 'PUT', url: `Patient/many-${at}` },
  }))
  const { status, text } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
  expect(status, text).toBe(200)
  const same = await mergedWith(on(), ['many-0', 'many-110'])
  expect(same.get('many-0')).toEqual(Array.from({ length: 100 }, (_, at) => `many-${at}`))
  expect(same.get('many-110')).toEqual(Array.from({ length: 100 }, (_, at) => `many-${110 - at}`))
})

test('a patient has lost what it had and nobody has', async () => {
  const lost = (id: string) => lostHealthIds(on(), id)
  expect(await lost('lost')).toEqual([of['lost'], of['left1'], of['left2']].sort())
  expect(await lost('giver')).toEqual([of['gone']])
  expect(await lost('taker')).toEqual([])
  expect(await lost('changed')).toEqual([of['before']])
})

test('the Health IDs shown of patients are their own, or those of whoever replaces them', async () => {
  const asked = ['plain', 'double', 'changed', 'lost', 'a', 'b', 'c', 'ward', 'nameless', 'nobody']
  const shown = await currentHealthIds(on(), asked)
  expect(Object.fromEntries(shown)).toEqual({
    plain: of['plain'],
    double: [of['double1'], of['double2']].sort()[0],
    changed: of['after'],
    a: of['c'],
    b: of['c'],
    c: of['c'],
    ward: of['ward'],
  })
})

test('a new Health ID is one that nobody has had', async () => {
  const [free, tried] = [mint('CM'), [of['plain']!, of['before']!, of['gone']!]]
  const minted = (country: string) => (country === 'CM' ? (tried.pop() ?? free) : expect.unreachable())
  expect(await freeHealthId(on(), 'CM', minted)).toBe(free)
  expect(tried).toEqual([])
})
