// What a data set is called does not depend on where it is served: other ports, other BASE_URLs, other ways to write the address.
import { writeFile } from 'node:fs/promises'
import { type RequestOptions, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { mint } from '../../src/lib/health-id.ts'
import { createLog } from '../../src/lib/log.ts'
import { clientOf, connectCaller } from '../api/connect/support.ts'
import { adminOn } from '../support/admin.ts'
import { consentOf, ofType, terminology } from '../support/consents.ts'
import { layoutOfRun } from '../support/database.ts'
import { fhirCaller, matchIds } from '../support/fhir.ts'
import { run } from '../support/process.ts'
import { testKey } from '../support/server.ts'
import { type Service, startBeside, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { databaseOf, tamper } from '../support/trail.ts'

const somebody = { first_name: 'Odile', last_name: 'Ngassa', date_of_birth: '1971-02-03', sex: 'female' }
const far = 'https://fhir.example.org'
const systemAt = (address: string): string => `${address}/fhir/NamingSystem/health-id`

/** Everything that makes a data set one of an earlier version, which had no identity. */
async function forgetIdentity(service: Service): Promise<void> {
  await tamper(await databaseOf(service), 'delete from data_set; delete from data_set_address')
}

describe.each([
  ['another port', undefined],
  ['another BASE_URL', far],
])('a person who was registered before a restart at %s', (_name, baseUrl) => {
  let service: Service
  const { call, resolve, verify } = connectCaller(() => service)
  let healthId: string
  let id: string
  let origin: string
  let token: string

  beforeAll(async () => {
    service = await startService()
    ;({ url: origin, token } = service)
    const { body } = await resolve(somebody)
    healthId = body.health_id
    id = body.patient_id
    await service.stop()
    service = await startBeside(service, baseUrl ? { BASE_URL: baseUrl } : {})
  })

  test('keeps the Health ID through an update', async () => {
    const { body: patient } = await call('GET', `Patient/${id}`)
    const updated = await call('PUT', `Patient/${id}`, { body: { ...patient, maritalStatus: { text: 'married' } } })
    expect(updated.status, updated.text).toBe(200)
    expect(updated.body.identifier).toEqual(patient.identifier)
    expect((await verify(healthId)).body).toMatchObject({ status: 'verified', valid: true, registered: true })
    expect((await verify(healthId)).body.current_health_id).toBeUndefined()
  })

  test('is found again, with no second Health ID', async () => {
    expect((await resolve(somebody)).body).toMatchObject({ status: 'found', health_id: healthId, patient_id: id })
    expect((await resolve({ health_id: healthId, external_reference: 'F-9' })).body).toMatchObject({
      health_id: healthId,
    })
    const { body } = await call('GET', `Patient/${id}`)
    const values = body.identifier.filter(({ system }: { system: string }) => system.endsWith('/health-id'))
    expect(values).toEqual([{ use: 'official', system: systemAt(origin), value: healthId }])
  })

  test('is found by the Health ID under the system of any of the addresses', async () => {
    for (const address of [origin, baseUrl ?? service.url])
      expect(matchIds((await call('GET', `Patient?identifier=${systemAt(address)}|${healthId}`)).body)).toEqual([id])
  })

  test('has a Health ID that other clients than the record-keeping system cannot change, whatever it begins with', async () => {
    const clinic = await clientOf(service, 'clinic-a', 'system/Patient.cruds')
    const system = systemAt(baseUrl ?? service.url)
    const held = mint('CM')
    const kept = { resourceType: 'Patient', id: 'kept', identifier: [{ use: 'official', system, value: held }] }
    expect((await clinic('PUT', 'Patient/kept', JSON.stringify(kept))).status).toBe(201)
    const taken = { ...kept, identifier: [{ use: 'official', system, value: mint('CM') }] }
    const answer = await call('PUT', 'Patient/kept', {
      body: taken,
      token: await service.application.identity.tokens.mint(
        { clientId: 'clinic-b', organizationId: 'clinic-a', consentExempt: false },
        ['system/Patient.cruds'],
      ),
    })
    expect(answer.status).toBe(403)
    expect((await verify(held)).body.status).toBe('verified')
  })

  test('is read with a token that was given out before', async () => {
    expect((await call('GET', `Patient/${id}`, { token })).status).toBe(200)
  })

  test('is verified and registered by a service whose documents name one issuer, and endpoints where they were asked for', async () => {
    const address = baseUrl ?? service.url
    const { body } = await call('GET', '/.well-known/oauth-authorization-server')
    expect(body).toMatchObject({
      issuer: origin,
      token_endpoint: `${address}/api/v1/connect/auth/token`,
      jwks_uri: `${address}/.well-known/jwks.json`,
    })
    const smart = await call('GET', '.well-known/smart-configuration')
    expect(smart.body.token_endpoint).toBe(`${address}/api/v1/connect/auth/token`)
    const { url, implementation } = (await call('GET', 'metadata')).body
    expect({ url, base: implementation.url }).toEqual({
      url: `${origin}/api/fhir/R4/metadata`,
      base: `${address}/api/fhir/R4`,
    })
  })
})

test('a Health ID that an update left out is still that of the patient, and is given back instead of a second one', async () => {
  const service = await startService()
  const { call, resolve, verify } = connectCaller(() => service)
  const { health_id: healthId, patient_id: id } = (await resolve(somebody)).body
  const { identifier: _identifier, ...patient } = (await call('GET', `Patient/${id}`)).body
  expect((await call('PUT', `Patient/${id}`, { body: patient })).status).toBe(200)
  expect((await verify(healthId)).body).toMatchObject({ status: 'verified', valid: true })
  expect((await resolve(somebody)).body).toMatchObject({ status: 'found', health_id: healthId })
  const { body } = await call('GET', `Patient/${id}`)
  expect(body.identifier).toEqual([{ use: 'official', system: systemAt(service.url), value: healthId }])
})

describe('a data set of an earlier version', () => {
  let service: Service
  const { call, resolve, verify } = connectCaller(() => service)
  const [first, second] = [mint('CM'), mint('CM')]
  const older = 'http://localhost:8080'
  const patient = (id: string, address: string, value: string) => ({
    ...{ resourceType: 'Patient', id, name: [{ family: id, given: ['Odile'] }], birthDate: '1971-02-03' },
    identifier: [{ use: 'official', system: systemAt(address), value }],
  })

  // Loaded at one address, then served at another, by a version that knew the Health IDs of its own address only.
  beforeAll(async () => {
    service = await startService()
    for (const each of [patient('early', service.url, first), patient('late', service.url, second)])
      expect((await call('PUT', `Patient/${each.id}`, { body: each })).status).toBe(201)
    await service.stop()
    const database = await databaseOf(service)
    await database.query(`update resource set body = replace(body, $1, $2) where id = 'early'`, [
      systemAt(service.url),
      systemAt(older),
    ])
    await database.query(`update health_id set is_current = false where patient = 'early'`)
    await database.query(`update person set health_id = null where patient = 'early'`)
    await forgetIdentity(service)
    service = await startBeside(service)
  })

  test('keeps the systems that its Health IDs have, and knows all of them', async () => {
    const database = await databaseOf(service)
    const { rows } = await database.query('select address, is_settled from data_set_address order by address')
    expect(rows.map(each => each.address)).toEqual(expect.arrayContaining([older, service.url]))
    expect(rows.every(each => each.is_settled)).toBe(true)
    for (const healthId of [first, second])
      expect((await verify(healthId)).body).toMatchObject({ status: 'verified', health_id: healthId })
  })

  test('has each person found with the Health ID that was given out', async () => {
    const early = { first_name: 'Odile', last_name: 'early', date_of_birth: '1971-02-03' }
    expect((await resolve({ ...early, health_id: first })).body).toMatchObject({
      patient_id: 'early',
      health_id: first,
    })
    const { body } = await call('GET', `Patient?identifier=${systemAt(service.url)}|${first}`)
    expect(matchIds(body)).toEqual(['early'])
  })
})

test('what was stored before an address was added is known by it afterwards, and the start says so', async () => {
  const lines: object[] = []
  let service = await startService()
  const call = fhirCaller(() => service)
  const healthId = mint('CM')
  const moved = { resourceType: 'Patient', id: 'moved', identifier: [{ system: systemAt(far), value: healthId }] }
  expect((await call('PUT', 'Patient/moved', { body: moved })).status).toBe(201)
  // What follows is far along in a large data set, which the start reads piece by piece.
  await (await databaseOf(service)).query(`select setval('resource_number', 23456)`)
  const weight = {
    ...{ resourceType: 'Observation', id: 'weight', status: 'final', code: { text: 'weight' } },
    subject: { reference: `${far}/api/fhir/R4/Patient/moved` },
  }
  expect((await call('PUT', 'Observation/weight', { body: weight })).status).toBe(201)
  const type = 'https://health-interop.org/fhir/StructureDefinition/consent-type'
  const reference = { reference: `${far}/api/fhir/R4/Organization/clinic-b` }
  const actor = consentOf('', '', '').provision.actor.map(each => ({ ...each, reference }))
  const more = { extension: [{ url: type, valueCode: 'full_record' }] }
  const kept = consentOf('kept', 'moved', '', { ...ofType('Observation'), actor }, more)
  expect((await call('PUT', 'Consent/kept', { body: kept })).status).toBe(201)
  expect((await call('PUT', 'Consent/a-former', { body: { ...kept, id: 'a-former' } })).status).toBe(201)
  expect((await call('DELETE', 'Consent/a-former')).status).toBe(204)
  // Another client's before, under the id of one that comes below.
  expect((await call('PUT', 'Consent/others', { body: { ...kept, id: 'others' } })).status).toBe(201)
  expect((await call('DELETE', 'Consent/others')).status).toBe(204)
  const tokenOf = (organizationId: string) =>
    service.application.identity.tokens.mint(
      { clientId: `client-of-${organizationId}`, organizationId, consentExempt: false },
      ['consents:write', 'system/*.cruds'],
    )
  const [token, others] = [await tokenOf('clinic-b'), await tokenOf('clinic-c')]
  for (const [id, by] of [
    ['diagnoses', token],
    ['others', others],
  ] as const) {
    const typed = { extension: [{ url: type, valueCode: id }] }
    const purpose = [{ system: `${terminology}/v3-ActReason`, code: 'TREAT' }]
    const body = consentOf(id, 'moved', '', { ...ofType('Condition'), actor, ...(by === token && { purpose }) }, typed)
    expect((await call('PUT', `Consent/${id}`, { token: by, body })).status).toBe(201)
  }
  const refusal = consentOf('refusal', 'moved', 'clinic-b', { type: 'deny', ...ofType('Condition') })
  expect((await call('PUT', 'Consent/refusal', { token, body: refusal })).status).toBe(201)
  const cough = {
    resourceType: 'Condition',
    id: 'cough',
    code: { text: 'cough' },
    subject: { reference: 'Patient/moved' },
  }
  expect((await call('PUT', 'Condition/cough', { body: cough })).status).toBe(201)
  expect(matchIds((await call('GET', 'Observation?subject=Patient/moved')).body)).toEqual([])
  expect((await call('GET', `/api/v1/connect/patients/verify/${healthId}`)).body.status).toBe('not_registered')
  await service.stop()
  const note = (line: object) => void lines.push(line)
  const log = Object.assign(createLog('silent'), { info: note, warn: note })
  service = await startBeside(service, { BASE_URL: far }, log)
  expect(lines).toEqual(
    expect.arrayContaining([expect.objectContaining({ address: far }), { addresses: [far] }, { resources: 5 }]),
  )
  for (const search of [
    'subject=Patient/moved',
    `subject=${far}/api/fhir/R4/Patient/moved`,
    'subject:Patient._id=moved',
  ])
    expect(matchIds((await call('GET', `Observation?${search}`)).body), search).toEqual(['weight'])
  expect((await call('GET', `/api/v1/connect/patients/verify/${healthId}`)).body.status).toBe('verified')

  // The permission holds from now on, and is not the clinic's own because nobody recorded it for this address.
  const clinic = await clientOf(service, 'clinic-b', 'consents:write', 'system/*.rs')
  expect((await clinic('GET', '/api/fhir/R4/Observation/weight')).status).toBe(200)
  const path = `/api/v1/connect/patient/${healthId}/consent/grant`
  const granted = await clinic('POST', path, JSON.stringify({ consent_type: 'full_record' }))
  expect([granted.status, granted.body.consent_id === 'kept']).toEqual([201, false])
  expect((await call('GET', 'Consent/kept')).body.meta.versionId).toBe('1')

  // What a client wrote is its own: its permission is more particular than its refusal, it renews that, and takes back what names somebody else.
  expect((await call('GET', 'Condition/cough', { token })).status).toBe(200)
  const renewed = await call('POST', path, {
    ...{ token, body: JSON.stringify({ consent_type: 'diagnoses' }) },
    headers: { 'content-type': 'application/json' },
  })
  expect([renewed.status, renewed.body.consent_id]).toEqual([201, 'diagnoses'])
  expect((await call('DELETE', 'Consent/others', { token: others })).status).toBe(204)
})

describe('without BASE_URL every address that the service answers at is its own', () => {
  let service: Service
  const call = fhirCaller(() => service)
  const observation = (id: string, reference: string) => ({
    ...{ resourceType: 'Observation', id, status: 'final', code: { text: 'weight' }, subject: { reference } },
  })

  /** A call by another name of the machine. */
  const callAt = async (host: string, method: string, path: string, body?: object) => {
    const { port } = new URL(service.url)
    const options: RequestOptions = {
      ...{ method, port, host: '127.0.0.1', path: `/api/fhir/R4/${path}` },
      headers: { host, authorization: `Bearer ${service.token}`, 'content-type': 'application/fhir+json' },
    }
    return new Promise<{ status: number; body: { entry?: unknown[]; [more: string]: unknown } }>((done, fail) => {
      request(options, async reply => done({ status: reply.statusCode!, body: JSON.parse(await text(reply)) }))
        .once('error', fail)
        .end(body && JSON.stringify(body))
    })
  }

  beforeAll(async () => {
    service = await startService()
    await call('PUT', 'Patient/ada', { body: { resourceType: 'Patient', id: 'ada', name: [{ family: 'Ada' }] } })
  })

  test.each(['localhost', '127.0.0.1', '[::1]'])('%s', async name => {
    const { port } = new URL(service.url)
    const absolute = `http://${name}:${port}/api/fhir/R4/Patient/ada`
    const id = `by-${name.replaceAll(/[^a-z0-9]/g, '')}`
    expect((await call('PUT', `Observation/${id}`, { body: observation(id, absolute) })).status).toBe(201)
    expect((await call('GET', `Observation/${id}`)).body.subject.reference).toBe(absolute)
    const ways = [
      'Observation?subject=Patient/ada',
      `Observation?subject=${absolute}`,
      'Observation?subject.family=Ada',
    ]
    for (const way of [...ways, 'Patient/ada/Observation', `Observation?patient=${absolute}`])
      expect(matchIds((await call('GET', `${way}${way.includes('?') ? '&' : '?'}_id=${id}`)).body), way).toEqual([id])
    const included = (await call('GET', `Observation?_id=${id}&_include=Observation:subject`)).body
    expect(included.entry.map((each: { resource: { id: string } }) => each.resource.id)).toEqual([id, 'ada'])
    const { body } = await call('GET', 'Patient/ada/$everything?_count=1000')
    expect(body.entry.map((each: { resource: { id: string } }) => each.resource.id)).toContain(id)
  })

  test('the Host of the request, which is not remembered', async () => {
    const host = 'clinic-laptop.example:9999'
    const absolute = `http://${host}/api/fhir/R4/Patient/ada`
    const written = await callAt(host, 'PUT', 'Observation/by-host', observation('by-host', absolute))
    expect(written.status).toBe(201)
    expect(written.body['subject']).toEqual({ reference: 'Patient/ada' })
    const search = `Observation?_id=by-host&subject=${absolute}`
    expect(matchIds((await callAt(host, 'GET', search)).body)).toEqual(['by-host'])
    expect(matchIds((await call('GET', 'Observation?_id=by-host&subject=Patient/ada')).body)).toEqual(['by-host'])
    expect(matchIds((await call('GET', search)).body)).toEqual([])
    const { rows } = await (await databaseOf(service)).query('select address from data_set_address')
    expect(rows).toEqual([{ address: service.url }])
  })

  test('a transaction whose entries are addressed absolutely', async () => {
    const { port } = new URL(service.url)
    const url = `http://localhost:${port}/api/fhir/R4/Observation/in-bundle`
    const entry = [{ resource: observation('in-bundle', 'Patient/ada'), request: { method: 'PUT', url } }]
    const answer = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    expect(answer.status, answer.text).toBe(200)
    expect((await call('GET', 'Observation/in-bundle')).status).toBe(200)
  })
})

test('npm run load uses the systems of the data set, never those of its shell', async () => {
  const service = await startService()
  const { resolve, verify } = connectCaller(() => service)
  const { health_id: healthId, patient_id: id } = (await resolve(somebody)).body
  const patient = (await fhirCaller(() => service)('GET', `Patient/${id}`)).body
  const folder = await temporaryFolder('identity')
  const file = join(folder, 'patient.ndjson')
  await writeFile(file, JSON.stringify({ ...patient, maritalStatus: { text: 'married' } }))
  const { host, port, user } = inject('server')
  const loader = run('src/commands/load.ts', [file], {
    DATABASE_LAYOUT: layoutOfRun(),
    ...{ DATABASE_URL: `postgresql://${user}@localhost:${port}/${service.database}?host=${encodeURIComponent(host)}` },
    ...{ PORT: '9099', ENCRYPTION_KEY: testKey, DATA_DIR: folder },
  })
  expect(await loader.ended, loader.output()).toBe(0)
  expect((await verify(healthId)).body.status).toBe('verified')
  expect((await resolve(somebody)).body).toMatchObject({ status: 'found', health_id: healthId })
  const { rows } = await (await databaseOf(service)).query('select address from data_set_address')
  expect(rows).toEqual([{ address: service.url }])
})

describe('npm run admin -- data-set', () => {
  let service: Service
  const { admin, told } = adminOn(() => service.database)
  beforeAll(async () => {
    service = await startService()
  })

  test('shows the identity, whatever its shell says of addresses', async () => {
    const { url } = service
    expect(await told(['data-set', 'show'], { PORT: '9099', BASE_URL: far })).toEqual({
      ...{ origin: url, issuer: url, addresses: [url] },
    })
  })

  test('gives it another issuer: after a restart tokens of the former one are refused', async () => {
    const { token, url } = service
    expect((await admin(['data-set', 'issuer', 'elsewhere'])).code).toBe(2)
    expect(await told(['data-set', 'issuer', far])).toMatchObject({ origin: url, issuer: far })
    await service.stop()
    service = await startBeside(service)
    const call = fhirCaller(() => service)
    expect((await call('GET', 'Patient?_count=1', { token })).status).toBe(401)
    expect((await call('GET', 'Patient?_count=1')).status).toBe(200)
    expect((await call('GET', '/.well-known/oauth-authorization-server')).body.issuer).toBe(far)
  })
})
