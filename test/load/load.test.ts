import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, test } from 'vitest'
import { system } from '../../src/access/caller.ts'
import { load, type Progress } from '../../src/load/load.ts'
import { fhirCaller } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { transactionBundle } from './bundles.ts'

let service: Service
let folder: string
const call = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
  folder = await temporaryFolder('load')
})

async function loadText(name: string, text: string): Promise<Progress> {
  await writeFile(join(folder, name), name.endsWith('.gz') ? gzipSync(text) : text)
  return load(service.application.storeFor(system), { paths: [join(folder, name)], parallel: 4 })
}

const outcome = ({ created, updated, unchanged, problems }: Progress) => ({
  created,
  updated,
  unchanged,
  problems: problems.map(({ line, message }) => ({ line, message })),
})

test('gzipped NDJSON of single resources is stored, and loading it again changes nothing', async () => {
  const lines = Array.from({ length: 450 }, (_, index) =>
    JSON.stringify({ resourceType: 'Patient', id: `nd-${index}`, name: [{ family: `Nd${index}` }] }),
  )
  expect(outcome(await loadText('patients.ndjson.gz', lines.join('\n')))).toEqual({
    created: 450,
    updated: 0,
    unchanged: 0,
    problems: [],
  })
  expect(outcome(await loadText('patients.ndjson.gz', lines.join('\n')))).toEqual({
    created: 0,
    updated: 0,
    unchanged: 450,
    problems: [],
  })
  expect((await call('GET', 'Patient?name=nd449')).body.entry).toHaveLength(1)
})

test('a transaction bundle keeps its ids, its references lead to what was stored, and it can be loaded again', async () => {
  const text = JSON.stringify(transactionBundle('whole', 5), null, 2)
  expect(outcome(await loadText('whole.json', text))).toEqual({ created: 5, updated: 0, unchanged: 0, problems: [] })
  expect(outcome(await loadText('whole.json', text))).toEqual({ created: 0, updated: 0, unchanged: 5, problems: [] })
  const [patient] = (await call('GET', 'Patient?name=whole')).body.entry
  expect((await call('GET', `Observation?patient=${patient.resource.id}&_total=accurate`)).body.total).toBe(4)
})

test('resources without an id get the same id each time', async () => {
  const text = JSON.stringify({ resourceType: 'Basic', code: { text: 'no id' } })
  expect((await loadText('basic.json', text)).created).toBe(1)
  expect((await loadText('basic.json', text)).unchanged).toBe(1)
})

test('bad lines are reported with their line, and the rest goes on', async () => {
  const text = [
    '{"resourceType":"Patient","id":"ok-1"}',
    '{"resourceType":"Patient","id":',
    '{"resourceType":"Patient","id":"bad-1","gender":"unheard-of"}',
    '[1]',
    '',
    '{"resourceType":"Patient","id":"ok-2"}',
  ].join('\n')
  const progress = await loadText('mixed.ndjson', text)
  expect(progress.created).toBe(2)
  expect(progress.problems.map(problem => problem.line).sort()).toEqual([2, 3, 4])
  expect(progress.problems.find(problem => problem.line === 3)?.message).toMatch(/gender.*unheard-of/)
})

test('a bad entry keeps the whole transaction out', async () => {
  const bundle = transactionBundle('half', 4) as { entry: { resource: Record<string, unknown> }[] }
  bundle.entry[3]!.resource['status'] = 'nonsense'
  const progress = await loadText('half.json', JSON.stringify(bundle))
  expect({ created: progress.created, problems: progress.problems.length }).toEqual({ created: 0, problems: 1 })
  expect((await call('GET', 'Patient?name=half')).body.entry).toBeUndefined()
})

test('a conditional reference to a resource that comes later in the files is followed', async () => {
  const text = [
    {
      resourceType: 'Encounter',
      id: 'later-1',
      status: 'finished',
      class: { code: 'AMB' },
      participant: [{ individual: { reference: 'Practitioner?identifier=http://example.org/staff|7' } }],
    },
    { resourceType: 'Practitioner', id: 'staff-7', identifier: [{ system: 'http://example.org/staff', value: '7' }] },
  ]
  const progress = await loadText('later.ndjson', text.map(line => JSON.stringify(line)).join('\n'))
  expect(outcome(progress)).toEqual({ created: 2, updated: 0, unchanged: 0, problems: [] })
  expect((await call('GET', 'Encounter/later-1')).body.participant[0].individual.reference).toBe('Practitioner/staff-7')
})

test('of several lines with one id the last one counts, also where an earlier one waits for what it refers to', async () => {
  const visit = (status: string, participant: string) => ({
    ...{ resourceType: 'Encounter', id: 'told-often', status, class: { code: 'AMB' } },
    participant: [{ individual: { reference: participant } }],
  })
  const others = (from: number) =>
    Array.from({ length: 250 }, (_, index) => ({
      resourceType: 'Basic',
      id: `between-${from + index}`,
      code: { text: 'x' },
    }))
  const patient = (version: number) => ({ resourceType: 'Patient', id: 'told-often', multipleBirthInteger: version })
  const lines = [
    visit('planned', 'Practitioner?identifier=http://example.org/staff|8'),
    ...Array.from({ length: 20 }, (_, version) => patient(version)),
    visit('in-progress', 'Practitioner/staff-8'),
    ...others(0),
    patient(20),
    ...others(250),
    visit('finished', 'Practitioner/staff-8'),
    patient(21),
    { resourceType: 'Practitioner', id: 'staff-8', identifier: [{ system: 'http://example.org/staff', value: '8' }] },
  ]
  const progress = await loadText('often.ndjson', lines.map(line => JSON.stringify(line)).join('\n'))
  expect(outcome(progress)).toEqual({ created: 503, updated: 23, unchanged: 0, problems: [] })
  expect((await call('GET', 'Encounter/told-often')).body.status).toBe('finished')
  expect((await call('GET', 'Patient/told-often')).body.multipleBirthInteger).toBe(21)
  const { body } = await call('GET', 'Patient/told-often/_history')
  expect(
    body.entry.map((entry: { resource: { multipleBirthInteger: number } }) => entry.resource.multipleBirthInteger),
  ).toEqual(Array.from({ length: 22 }, (_, index) => 21 - index))
})

test('a resource whose id is none is reported with the id, and the others are loaded', async () => {
  const lines = ['bad id!', 'good'].map(id => JSON.stringify({ resourceType: 'Patient', id }))
  expect(outcome(await loadText('ids.ndjson', lines.join('\n')))).toEqual({
    ...{ created: 1, updated: 0, unchanged: 0 },
    problems: [{ line: 1, message: '"bad id!" is not an id: an id has 1 to 64 letters, digits, hyphens and dots' }],
  })
})
