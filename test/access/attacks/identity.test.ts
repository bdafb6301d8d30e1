// Links and identifiers by which somebody may try to pass for another patient, or to reach another's record.
import { describe, expect, test } from 'vitest'
import { mint as mintHealthId } from '../../../src/lib/health-id.ts'
import { ended, ordered } from '../../support/bulk.ts'
import { consentOf, ofType } from '../../support/consents.ts'
import { about, bundle, json, named, observation, startScene } from './scene.ts'

const scene = startScene()
const { asClinic, call, holder, store } = scene

describe('saying that two patients are one', () => {
  test.each(['replaced-by', 'replaces'])(
    "a link %s leads from nobody of one's own to whom one does not see",
    async type => {
      const own = mintHealthId('CM')
      const body = { ...holder(`bait-${type}`, own), link: [{ type, other: about('hidden') }] }
      const { status, body: told } = await asClinic('PUT', `Patient/bait-${type}`, { body, headers: json })
      expect([status, told.error_code]).toEqual([403, 'FORBIDDEN'])
      const verified = await asClinic('GET', `/api/v1/connect/patients/verify/${own}`)
      expect(verified.text).not.toContain(scene.healthId)
    },
  )

  test('borrows no consent of another, whose Patient is seen as well', async () => {
    await store({ resourceType: 'Patient', id: 'narrow' }, observation('narrow-o', 'narrow', 'secret'))
    await store(consentOf('narrow-consent', 'narrow', 'clinic', ofType('Patient')))
    const link = (id: string, type: string, other: string) => ({
      resource: { resourceType: 'Patient', id, link: [{ type, other: about(other) }] },
      request: { method: 'PUT', url: `Patient/${id}` },
    })
    const both = bundle('transaction', link('narrow', 'replaced-by', 'open'), link('open', 'replaces', 'narrow'))
    expect((await asClinic('POST', '', { body: both })).status).toBe(403)
    const parameter = [
      { name: 'source-patient', valueReference: about('narrow') },
      { name: 'target-patient', valueReference: about('open') },
    ]
    const merge = { resourceType: 'Parameters', parameter }
    expect((await asClinic('POST', 'Patient/$merge', { body: merge })).status).toBe(403)
    expect((await asClinic('GET', 'Observation/narrow-o')).status).toBe(403)
  })

  test('is not undone either, so that a refusal of one goes on counting for the other', async () => {
    const link = (type: string, other: string) => [{ type, other: about(other) }]
    await store(
      { resourceType: 'Patient', id: 'twice', link: link('replaces', 'once') },
      { resourceType: 'Patient', id: 'once', active: false, link: link('replaced-by', 'twice') },
      observation('twice-o', 'twice', 'secret'),
      consentOf('twice-consent', 'twice', 'clinic'),
      consentOf('once-refusal', 'once', 'clinic', { type: 'deny', ...ofType('Observation') }),
    )
    expect((await asClinic('GET', 'Patient/twice')).status).toBe(200)
    for (const id of ['once', 'twice']) {
      expect((await asClinic('PUT', `Patient/${id}`, { body: { resourceType: 'Patient', id } })).status).toBe(403)
      expect((await asClinic('DELETE', `Patient/${id}`)).status).toBe(403)
    }
    const same = { resourceType: 'Patient', id: 'twice', active: true, link: link('replaces', 'once') }
    expect((await asClinic('PUT', 'Patient/twice', { body: same })).status).toBe(200)
    expect((await asClinic('GET', 'Observation/twice-o')).status).toBe(403)
  })
})

describe('what identifies somebody', () => {
  const numbers = (organization: string) => `${scene.service.url}/fhir/NamingSystem/external-reference/${organization}`

  test('for other organisations is not for this one to write, so that they find whom they mean', async () => {
    const system = numbers('other')
    const body = {
      resourceType: 'Patient',
      id: 'posing',
      active: true,
      ...named,
      identifier: [{ system, value: 'F-7' }],
    }
    expect((await asClinic('PUT', 'Patient/posing', { body })).status).toBe(403)
    const own = { ...body, identifier: [{ system: numbers('clinic'), value: 'F-7' }] }
    expect((await asClinic('PUT', 'Patient/posing', { body: own })).status).toBe(201)
    expect((await asClinic('DELETE', 'Patient/posing')).status).toBe(204)
  })

  test('for several organisations stays when one of them changes something else', async () => {
    const identifier = [{ system: numbers('other'), value: 'F-8' }]
    const shared = { resourceType: 'Patient', id: 'shared', identifier }
    await store(shared, consentOf('shared-consent', 'shared', 'clinic'))
    expect((await asClinic('PUT', 'Patient/shared', { body: { ...shared, gender: 'female' } })).status).toBe(200)
    expect((await asClinic('PUT', 'Patient/shared', { body: { ...shared, identifier: [] } })).status).not.toBe(200)
    const without = { resourceType: 'Patient', id: 'shared' }
    expect((await asClinic('PUT', 'Patient/shared', { body: without })).status).toBe(403)
  })

  test('is not taken from one and given to another', async () => {
    const own = mintHealthId('CM')
    await store(holder('robbed', own), consentOf('robbed-consent', 'robbed', 'clinic'))
    const { identifier: _identifier, ...bare } = holder('robbed', own)
    expect((await asClinic('PUT', 'Patient/robbed', { body: bare })).status).toBe(403)
    expect((await asClinic('PUT', 'Patient/robbed', { body: holder('robbed', mintHealthId('CM')) })).status).toBe(403)
    expect((await asClinic('DELETE', 'Patient/robbed')).status).toBe(403)
    expect((await asClinic('PUT', 'Patient/thief', { body: holder('thief', own) })).status).toBe(409)
    expect(
      (await asClinic('PUT', 'Patient/robbed', { body: { ...holder('robbed', own), gender: 'female' } })).status,
    ).toBe(200)
  })

  test('is imported as little', async () => {
    const lines = [observation('hidden-o', 'open', 'taken'), consentOf('imported', 'hidden', 'other')]
    const body = lines.map(line => JSON.stringify(line)).join('\n')
    const headers = { 'content-type': 'application/fhir+ndjson' }
    const address = await ordered(call, '$import', { token: scene.clinic, body, headers })
    expect((await ended(call, address, { token: scene.clinic })).body.output[0]).toMatchObject({ count: 0 })
    expect((await call('GET', 'Observation/hidden-o')).text).toContain('secret')
  })
})
