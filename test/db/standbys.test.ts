// Reads on standbys: what a client is shown is never older than what the service has acknowledged.
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { consentOf } from '../support/consents.ts'
import { partyOf } from '../support/parties.ts'
import { found, named, type Replicated, startReplicated } from '../support/replicated.ts'

let replicated: Replicated
const call: Replicated['call'] = (...given) => replicated.call(...given)

beforeAll(async () => {
  replicated = await startReplicated()
}, 60_000)

afterEach(() => replicated.mend())

describe('a standby that keeps up', () => {
  test('answers searches, with all that was written just before', async () => {
    for (let turn = 0; turn < 20; turn++) {
      const created = await call('POST', '/api/fhir/R4/Patient', { body: named(`Turn${turn}`) })
      expect(created.status).toBe(201)
      expect(found(await replicated.answered(`/api/fhir/R4/Patient?family=Turn${turn}`))).toEqual([created.body.id])
    }
  })

  test('answers $everything, a total, includes, a history of a type and a search of the audit trail', async () => {
    const { body } = await call('POST', '/api/fhir/R4/Patient', { body: named('Whole') })
    const observation = {
      ...{ resourceType: 'Observation', status: 'final', code: { text: 'pulse' } },
      subject: { reference: `Patient/${body.id}` },
    }
    const { body: pulse } = await call('POST', '/api/fhir/R4/Observation', { body: observation })
    expect(found(await replicated.answered(`/api/fhir/R4/Patient/${body.id}/$everything`))).toEqual([body.id, pulse.id])
    const included = await replicated.answered(
      `/api/fhir/R4/Observation?patient=${body.id}&_include=Observation:subject&_total=accurate`,
    )
    expect(found(included)).toEqual([pulse.id, body.id])
    expect(included.body.total).toBe(1)
    expect(found(await replicated.answered('/api/fhir/R4/Observation/_history'))).toContain(pulse.id)
    const trail = await replicated.answered(`/api/fhir/R4/AuditEvent?entity=Observation/${pulse.id}`)
    expect(trail.body.entry.length).toBeGreaterThan(0)
  })

  test('answers no read by id, no conditional change and no transaction', async () => {
    const { body } = await call('POST', '/api/fhir/R4/Patient', { body: named('Single') })
    const before = await replicated.reads('answered')
    expect((await call('GET', `/api/fhir/R4/Patient/${body.id}`)).status).toBe(200)
    expect((await call('PUT', '/api/fhir/R4/Patient?family=Single', { body: named('Single') })).status).toBe(200)
    const entry = [{ request: { method: 'GET', url: 'Patient?family=Single' } }]
    const bundle = await call('POST', '/api/fhir/R4', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    expect(bundle.body.entry[0].resource.total ?? bundle.body.entry[0].resource.entry.length).toBe(1)
    expect(await replicated.reads('answered')).toBe(before)
  })
})

describe('while replay is paused', () => {
  test('a client finds what another has just written', async () => {
    await replicated.standby.pauseReplay()
    const { body } = await call('POST', '/api/fhir/R4/Patient', { body: named('Paused') })
    expect(found(await call('GET', '/api/fhir/R4/Patient?family=Paused'))).toEqual([body.id])
  })

  test('a new consent opens at once, and a revoked one closes at once', async () => {
    const clinic = await partyOf(replicated.service, 'clinic')
    const { body } = await call('POST', '/api/fhir/R4/Patient', { body: named('Private') })
    const search = async () => found(await clinic.call('GET', '/api/fhir/R4/Patient?family=Private'))
    expect(await search()).toEqual([])
    await replicated.standby.pauseReplay()
    const consent = consentOf('private', body.id, 'clinic')
    expect((await call('PUT', '/api/fhir/R4/Consent/private', { body: consent })).status).toBe(201)
    expect(await search()).toEqual([body.id])
    await replicated.standby.resumeReplay()
    await replicated.isUsed(true)
    expect(await search()).toEqual([body.id])
    await replicated.standby.pauseReplay()
    expect(
      (await call('PUT', '/api/fhir/R4/Consent/private', { body: { ...consent, status: 'inactive' } })).status,
    ).toBe(200)
    expect(await search()).toEqual([])
    expect(found(await clinic.call('GET', `/api/fhir/R4/Patient/${body.id}/$everything`))).toEqual([])
  })

  test('the standby is left out, and used again when it has caught up', async () => {
    await replicated.standby.pauseReplay()
    await call('POST', '/api/fhir/R4/Patient', { body: named('Late') })
    await replicated.isUsed(false)
    await replicated.standby.resumeReplay()
    await replicated.isUsed(true)
  })
})
