// Answers of hundreds of kilobytes, many at a time: their bodies are in reused memory, and no answer shows anything of another.
import { beforeAll, expect, test } from 'vitest'
import { linesOf, manifestOf } from '../../support/bulk.ts'
import { type Answer, fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'

let service: Service
const call = fhirCaller(() => service)
const get = (path: string) => call('GET', path)

const people = ['one', 'two', 'three', 'four', 'five', 'six']

/** Texts of every length up to that of a block of memory and beyond, with characters of one to four bytes. */
const noteOf = (person: string, nth: number): string =>
  `${person} ${['x', 'é', '患', '👩'][nth % 4]} `.repeat(1 + nth * 7)

const noted = (person: string, nth: number) => ({
  resourceType: 'Observation',
  id: `${person}-${nth}`,
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: 'x' }] },
  subject: { reference: `Patient/${person}` },
  effectiveDateTime: '2024-01-01',
  performer: [{ reference: 'Practitioner/who' }],
  note: [{ text: noteOf(person, nth) }],
})

const observationsOf = (person: string) => [...Array(60).keys(), 2500].map(nth => noted(person, nth))
const notes = new Map(people.flatMap(observationsOf).map(({ id, note }) => [id, note[0]!.text]))

beforeAll(async () => {
  service = await startService()
  await call('PUT', 'Practitioner/who', { body: { resourceType: 'Practitioner', id: 'who' } })
  for (const person of people) {
    const entry = [{ resourceType: 'Patient', id: person }, ...observationsOf(person)].map(resource => ({
      resource,
      request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
    }))
    const { status, text } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    expect(status, text.slice(0, 1000)).toBe(200)
  }
})

interface Entry {
  readonly resource: { readonly id: string; readonly note?: readonly { readonly text: string }[] }
}

/** What is asked about a person, and the ids that it finds besides the Observations. */
const kinds: Record<
  string,
  { readonly path: (person: string) => string; readonly more: (person: string) => string[] }
> = {
  $everything: { path: person => `Patient/${person}/$everything`, more: person => [person, 'who'] },
  search: { path: person => `Observation?patient=${person}&_count=1000`, more: () => [] },
  compartment: { path: person => `Patient/${person}/Observation?_sort=-date&_count=1000`, more: () => [] },
  includes: {
    path: person =>
      `Observation?patient=${person}&_count=1000&_include=Observation:patient&_include=Observation:performer`,
    more: person => [person, 'who'],
  },
  revincludes: { path: person => `Patient?_id=${person}&_revinclude=Observation:patient`, more: person => [person] },
}

function mustBeOf(person: string, more: readonly string[], { entry }: Answer['body']): void {
  const given = new Map((entry as Entry[]).map(({ resource }) => [resource.id, resource.note?.[0]?.text]))
  const wrong = [...given].filter(([id, note]) => note !== notes.get(id))
  expect(wrong.map(([id]) => id)).toEqual([])
  expect([...given.keys()].sort()).toEqual([...observationsOf(person).map(({ id }) => id), ...more].sort())
}

test('each has what was asked for, on its own and in a batch', async () => {
  const all = Object.values(kinds).flatMap(({ path, more }) => people.map(person => ({ person, path, more })))
  const read = async ({ person, path, more }: (typeof all)[number]): Promise<void> =>
    mustBeOf(person, more(person), (await get(path(person))).body)
  await Promise.all([...all, ...all].map(read))
  const entry = all.map(({ person, path }) => ({ request: { method: 'GET', url: path(person) } }))
  const batch = { body: { resourceType: 'Bundle', type: 'batch', entry } }
  const [{ body }] = await Promise.all([call('POST', '', batch), ...all.map(read)])
  for (const [index, { person, more }] of all.entries()) mustBeOf(person, more(person), body.entry[index].resource)
})

test('each is recorded with its own patient', async () => {
  const database = await databaseOf(service)
  for (const [name, { path, more }] of Object.entries(kinds)) {
    const id = `long-answer-${name.slice(1)}`
    await call('GET', path('three'), { headers: { 'x-request-id': id } })
    expect(await rowsOf(database, id), name).toMatchObject([
      { patients: ['three'], resources: 61 + more('three').length },
    ])
  }
})

test('pages are as whole as all at once, and a part of each resource has nothing else', async () => {
  const ids: string[] = []
  for (let next: string | undefined = 'Observation?patient=two&_count=25&_sort=_id'; next; ) {
    const { body } = await get(next)
    const entries = body.entry as Entry[]
    for (const { resource } of entries) expect(resource.note?.[0]?.text === notes.get(resource.id)).toBe(true)
    ids.push(...entries.map(({ resource }) => resource.id))
    next = body.link.find(({ relation }: { relation: string }) => relation === 'next')?.url
  }
  expect(ids).toEqual(
    observationsOf('two')
      .map(({ id }) => id)
      .sort(),
  )
  const { body } = await get('Observation?patient=two&_count=100&_elements=note')
  for (const { resource } of body.entry as Entry[])
    expect([Object.keys(resource).includes('subject'), resource.note?.[0]?.text === notes.get(resource.id)]).toEqual([
      false,
      true,
    ])
})

test('exports write every line as it is stored, also while others read', async () => {
  const read = () =>
    Promise.all(people.map(async person => mustBeOf(person, [], (await get(kinds['search']!.path(person))).body)))
  const [{ output }] = await Promise.all([
    manifestOf(call, '$export?_type=Observation', { token: service.token }),
    read(),
    read(),
  ])
  const lines: Entry['resource'][] = await linesOf(output, service.token)
  expect(lines.map(({ id }) => id).sort()).toEqual([...notes.keys()].sort())
  for (const { id, note } of lines) expect(note?.[0]?.text === notes.get(id)).toBe(true)
})

test('histories have every version as it is stored, many at a time', async () => {
  const read = async (): Promise<void> => {
    const { body } = await get('Observation/_history?_count=1000')
    const resources = (body.entry as Entry[]).map(({ resource }) => resource)
    expect(resources.map(({ id }) => id).sort()).toEqual([...notes.keys()].sort())
    expect(resources.filter(({ id, note }) => note?.[0]?.text !== notes.get(id)).map(({ id }) => id)).toEqual([])
  }
  await Promise.all(Array.from({ length: 8 }, read))
})
