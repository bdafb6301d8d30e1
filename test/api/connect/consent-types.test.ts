// The types of consent: data that informaticists change while the service runs.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { opens } from '../../../src/access/consent/opening.ts'
import { readFolder } from '../../../src/mapping/files.ts'
import { mappingSet } from '../../../src/mapping/set.ts'
import { shapes } from '../../../src/shapes/all.ts'
import { creatorBy, fhirCaller, matchIds } from '../../support/fhir.ts'
import { eventually } from '../../support/identity.ts'
import { copyMaps } from '../../support/maps.ts'
import { type Service, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Call, clientOf, connectCaller } from './support.ts'

const path = '/api/v1/connect/consent-types'
let service: Service
let clinic: Call
let folder: string
let file: string
let original: string

beforeAll(async () => {
  const above = await temporaryFolder('consents')
  folder = join(above, 'mappings')
  await copyMaps(folder)
  file = join(folder, 'consents.json')
  original = await readFile(file, 'utf8')
  service = await startService({ MAPPINGS_DIR: folder })
  clinic = await clientOf(service, 'clinic', 'consents:read', 'patients:read', 'labs:read')
})

const listed = async (): Promise<string[]> =>
  (await clinic('GET', path)).body.data.map((each: { consent_type: string }) => each.consent_type)

/** Saves the file with a type more. */
const saveWith = (name: string, type: object): Promise<void> =>
  writeFile(
    file,
    original.replace('"documents": {', `${JSON.stringify(name)}: ${JSON.stringify(type)}, "documents": {`),
  )

test('whoever may ask for consents finds what can be consented to, and what for', async () => {
  const { status, body } = await clinic('GET', path)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    purposes: ['treatment', 'payment', 'operations', 'research', 'public_health', 'emergency'],
    has_more: false,
  })
  const of = (name: string) => body.data.find((each: { consent_type: string }) => each.consent_type === name)
  expect(of('lab_results')).toEqual({
    consent_type: 'lab_results',
    title: 'Laboratory results',
    meaning: 'Your laboratory results and reports may be read.',
    resource_types: ['Observation', 'DiagnosticReport'],
    categories: ['laboratory'],
  })
  expect(of('full_record')).toMatchObject({ resource_types: null, categories: [] })
  expect(of('emergency_only')).toMatchObject({ resource_types: [], categories: [] })
  const writer = await clientOf(service, 'clinic', 'consents:write')
  expect((await writer('GET', path)).status).toBe(200)
})

test('others may not', async () => {
  const other = await clientOf(service, 'clinic', 'labs:read')
  expect(await other('GET', path)).toMatchObject({ status: 403, body: { error_code: 'INSUFFICIENT_SCOPE' } })
})

/** The Consent that the maps of the folder make of this one, as it is now. */
async function consentBy(type: string, patient: string): Promise<{ resourceType: string; id: string }> {
  const files = await readFolder(folder)
  const compiled = new Set(files.filter(({ name }) => name === 'consent-to-fhir.fml').map(({ path }) => path))
  const { mappings, consents } = mappingSet(files, { shapes, compiled })
  const record = {
    health_id: 'CM-TQYE-6SRK-YQ6S',
    status: 'active',
    consent_id: crypto.randomUUID(),
    consent_type: type,
    organization_id: 'clinic',
  }
  const context = { base_url: service.url, received_at: new Date().toISOString(), patient_id: patient }
  const program = mappings.get('consent-to-fhir')!.program!
  return program.run([record, { ...context, ...opens(consents!, type, []) }]) as { resourceType: string; id: string }
}

/** What the clinic finds of a patient, by the ids of what it asks for. */
async function seen(patient: string, ...types: string[]): Promise<string[]> {
  const found = await Promise.all(types.map(type => clinic('GET', `/api/fhir/R4/${type}?patient=${patient}`)))
  return found.flatMap(({ body }) => matchIds(body))
}

test('a type that is saved is listed within a second, and a consent of that type opens what it says', async () => {
  const store = creatorBy(fhirCaller(() => service))
  const subject = { reference: 'Patient/awa' }
  await store(
    { resourceType: 'Patient', id: 'awa' },
    { resourceType: 'Condition', id: 'malaria', subject },
    {
      resourceType: 'Immunization',
      id: 'bcg',
      status: 'completed',
      vaccineCode: { text: 'BCG' },
      patient: subject,
      occurrenceDateTime: '2026-01-05',
    },
  )
  await saveWith('immunizations', { title: 'Vaccinations', meaning: 'Your vaccinations.', opens: ['Immunization'] })
  await eventually(async () => (await listed()).includes('immunizations'))
  expect(await seen('awa', 'Condition', 'Immunization')).toEqual([])
  const consent = await consentBy('immunizations', 'awa')
  expect(consent).toMatchObject({
    provision: { type: 'permit', class: [{ system: 'http://hl7.org/fhir/resource-types', code: 'Immunization' }] },
  })
  await store(consent)
  expect(await seen('awa', 'Condition', 'Immunization')).toEqual(['bcg'])
})

test('a mistake stands at /readyz with its place, and the types before it stay', async () => {
  const call = fhirCaller(() => service)
  const state = async (): Promise<string> => (await call('GET', '/readyz')).body.checks.mappings
  const problems = async (): Promise<string[] | undefined> => (await call('GET', '/readyz')).body.mapping_problems
  expect(await problems()).toBeUndefined()
  const before = await listed()
  await saveWith('dental', { title: 'Teeth', meaning: 'Your teeth.', opens: ['Proceduer'] })
  await eventually(async () => (await state()).startsWith('refused: 1 problem, serving the set of '))
  expect(await problems()).toEqual([
    expect.stringMatching(
      /^consents\.json:\d+:\d+: types\.dental\.opens\.0 is not a resource type of R4; did you mean `Procedure`/,
    ),
  ])
  expect(await listed()).toEqual(before)
  await writeFile(file, original)
  await eventually(async () => !(await listed()).includes('immunizations'))
  expect(await state()).toBe('ok')
  expect(await problems()).toBeUndefined()
})

test('a type that opens nothing is for every purpose, and granting it opens nothing', async () => {
  const { body } = await connectCaller(() => service).resolve({
    ...{ first_name: 'Salamatou', last_name: 'Njoya', date_of_birth: '1983-05-06', sex: 'female' },
  })
  const writer = await clientOf(service, 'clinic', 'consents:write', 'system/*.rs')
  await saveWith('refusal', { title: 'Nothing', meaning: 'Nothing may be read.', opens: 'nothing' })
  await eventually(async () => (await listed()).includes('refusal'))
  const granted = await writer('POST', `/api/v1/connect/patient/${body.health_id}/consent/grant`, {
    consent_type: 'refusal',
  })
  expect(granted).toMatchObject({ status: 201, body: { status: 'active', purpose: null } })
  expect((await writer('GET', `/api/fhir/R4/Patient/${body.patient_id}`)).status).toBe(403)
})

test('laboratory results are Observations and reports of laboratories, and nothing else of these', async () => {
  const store = creatorBy(fhirCaller(() => service))
  const subject = { reference: 'Patient/moussa' }
  const categories = 'http://terminology.hl7.org/CodeSystem/observation-category'
  const sections = 'http://terminology.hl7.org/CodeSystem/v2-0074'
  const filed = (resourceType: string, id: string, system: string, code: string) => ({
    resourceType,
    id,
    status: 'final',
    category: [{ coding: [{ system, code }] }],
    code: { text: id },
    subject,
  })
  await store(
    { resourceType: 'Patient', id: 'moussa' },
    filed('Observation', 'haemoglobin', categories, 'laboratory'),
    filed('Observation', 'pulse', categories, 'vital-signs'),
    filed('DiagnosticReport', 'blood-count', sections, 'HM'),
    filed('DiagnosticReport', 'chest-x-ray', sections, 'RAD'),
    await consentBy('lab_results', 'moussa'),
  )
  expect(await seen('moussa', 'Observation', 'DiagnosticReport')).toEqual(['haemoglobin', 'blood-count'])
})
