// Maps that are changed while the service runs, as those who change them see it.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clientOf, connectCaller } from '../api/connect/support.ts'
import { consentOf } from '../support/consents.ts'
import { fhirCaller } from '../support/fhir.ts'
import { eventually } from '../support/identity.ts'
import { copyMaps } from '../support/maps.ts'
import { startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const josiane = { first_name: 'Josiane', date_of_birth: '1993-03-30', sex: 'female' }

test('a saved map is live at once; a broken one is told at /readyz, and the last good one goes on', async () => {
  const folder = join(await temporaryFolder('live'), 'mappings')
  await copyMaps(folder)
  const service = await startService({ MAPPINGS_DIR: folder })
  const call = fhirCaller(() => service)
  const file = join(folder, 'allergy-to-fhir.fml')
  const original = await readFile(file, 'utf8')
  const save = (from: string, to: string) => writeFile(file, original.replace(from, to))
  const record = { id: 'a', patient_id: 'p', substance: 'Penicillin', severity: 'severe', status: 'active' }
  const criticality = async () => {
    const source = { name: 'source', valueUri: 'https://health-interop.org/fhir/StructureMap/allergy-to-fhir' }
    const content = { name: 'content', valueString: JSON.stringify(record) }
    const body = { resourceType: 'Parameters', parameter: [source, content] }
    return (await call('POST', 'StructureMap/$transform', { body })).body.criticality
  }
  const state = async () => (await call('GET', '/readyz')).body.checks.mappings
  expect([await state(), await criticality()]).toEqual(['ok', 'high'])

  await save('tgt.criticality', 'tgt.criticalty')
  await eventually(async () => /^refused: 1 problem, serving the set of /.test(await state()))
  expect((await call('GET', '/readyz')).status).toBe(200)
  expect(await criticality()).toBe('high')

  await save('s:severe - t:high', 's:severe - t:low')
  await eventually(async () => (await criticality()) === 'low')
  expect(await state()).toBe('ok')
})

test('a saved map is live for records that were read before, too', async () => {
  const folder = join(await temporaryFolder('live'), 'mappings')
  await copyMaps(folder)
  const service = await startService({ MAPPINGS_DIR: folder })
  const { call, resolve } = connectCaller(() => service)
  const clinic = await clientOf(service, 'clinic', 'patient:diagnostics:read')
  const { body: person } = await resolve({ ...josiane, last_name: 'Ngono' })
  const patient = (await call('GET', `Patient?identifier=${person.health_id}`)).body.entry[0].resource.id
  await call('PUT', 'Consent/hers', { body: consentOf('hers', patient, 'clinic') })
  const code = { text: 'Malaria' }
  await call('POST', 'Condition', {
    body: { resourceType: 'Condition', subject: { reference: `Patient/${patient}` }, code },
  })
  const name = async () => {
    const { body } = await clinic('GET', `/api/v1/connect/patient/${person.health_id}/records?type=diagnoses`)
    return body.data.diagnoses[0].display_name
  }
  expect([await name(), await name()]).toEqual(['Malaria', 'Malaria'])

  const file = join(folder, 'diagnosis-from-fhir.fml')
  const original = await readFile(file, 'utf8')
  const line = /-> *\n? *tgt\.display_name = \w+;/
  expect(original).toMatch(line)
  await writeFile(file, original.replace(line, "-> tgt.display_name = 'another';"))
  await eventually(async () => (await name()) === 'another')
})

test('saved weights are live too; without sound ones the last good ones go on', async () => {
  const folder = join(await temporaryFolder('live'), 'mappings')
  await copyMaps(folder)
  const service = await startService({ MAPPINGS_DIR: folder })
  const { call, resolve } = connectCaller(() => service)
  const file = join(folder, 'matching.json')
  const original = await readFile(file, 'utf8')
  const state = async () => (await call('GET', '/readyz')).body.checks.mappings
  const somebody = { ...josiane, last_name: 'Ngono' }
  const married = { ...somebody, last_name: 'Biya' }
  await resolve(somebody)

  await writeFile(file, original.replace('"certainty": 0.99', '"certainty": 2'))
  await eventually(async () => /^refused: 1 problem, serving the set of /.test(await state()))
  expect((await resolve(somebody)).body.status).toBe('found')

  const block = '"different": { "same_person": 0.03, "other_people": 0.986, "blocks_match": true }'
  expect(original).toContain(block)
  const lenient = original
    .replace(block, block.replace('true', 'false'))
    .replace('"certainty": 0.99', '"certainty": 0.21')
  await writeFile(file, lenient)
  await eventually(async () => (await state()) === 'ok')
  expect((await resolve(married)).body.status).toBe('found')
})
