// Two patients who turn out to be one: what is known of each is about both, and so is every consent; and back.
import { beforeAll, expect, inject, test } from 'vitest'
import { mint } from '../../src/lib/health-id.ts'
import { type Call, clientOf, healthIdSystem } from '../api/connect/support.ts'
import { areWaiting, barrier } from '../support/concurrency.ts'
import { consentOf } from '../support/consents.ts'
import { creatorBy, fhirCaller, matchIds } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'
import { databaseOf } from '../support/trail.ts'

let service: Service
let clinic: Call
const call = fhirCaller(() => service)
const store = creatorBy(call)

beforeAll(async () => {
  service = await startService()
  clinic = await clientOf(
    service,
    'clinic',
    'patient:diagnostics:read',
    'consents:read',
    'consents:write',
    'system/*.cruds',
    'emergency:access',
  )
})

let pairs = 0
/** Two patients with a condition each, of whom the second consents. */
async function pair() {
  const number = ++pairs
  const [old, kept] = [`old-${number}`, `kept-${number}`]
  const [oldId, keptId] = [mint('CM'), mint('CM')]
  for (const [id, healthId] of [
    [old, oldId],
    [kept, keptId],
  ] as const)
    await store(
      {
        resourceType: 'Patient',
        id,
        identifier: [{ use: 'official', system: healthIdSystem(service), value: healthId }],
      },
      {
        resourceType: 'Condition',
        id: `${id}-condition`,
        subject: { reference: `Patient/${id}` },
        code: { text: `of ${id}` },
        recordedDate: '2026-01-01',
      },
    )
  return { old, kept, oldId, keptId }
}

const merge = (source: string, target: string) =>
  call('POST', 'Patient/$merge', {
    body: {
      resourceType: 'Parameters',
      parameter: [
        { name: 'source-patient', valueReference: { reference: `Patient/${source}` } },
        { name: 'target-patient', valueReference: { reference: `Patient/${target}` } },
      ],
    },
  })

const conditions = async (healthId: string): Promise<string[]> => {
  const { body } = await clinic('GET', `/api/v1/connect/patient/${healthId}/records?type=diagnoses`)
  return (body.data?.diagnoses ?? []).map((each: { id: string }) => each.id).sort()
}
const readable = async (id: string): Promise<number> =>
  (await clinic('GET', `/api/fhir/R4/Condition/${id}-condition`)).status

test('a consent for the one who stays opens what is stored about the other, by either Health ID', async () => {
  const { old, kept, oldId, keptId } = await pair()
  await store(consentOf(`${kept}-consent`, kept, 'clinic'))
  expect([await readable(old), await readable(kept)]).toEqual([403, 200])
  expect((await merge(old, kept)).status).toBe(200)
  expect([await readable(old), await readable(kept)]).toEqual([200, 200])
  expect(await conditions(keptId)).toEqual([`${kept}-condition`, `${old}-condition`])
  expect(await conditions(oldId)).toEqual([`${kept}-condition`, `${old}-condition`])
})

test('a consent that was given before under the other Health ID holds on, and is revoked for both', async () => {
  const { old, kept, keptId } = await pair()
  await store(consentOf(`${old}-consent`, old, 'clinic'))
  await merge(old, kept)
  const at = (operation: string) => `/api/v1/connect/patient/${keptId}/consent/${operation}`
  expect((await clinic('GET', at('status'))).body).toMatchObject({ status: 'active', consent_id: `${old}-consent` })
  expect([await readable(old), await readable(kept)]).toEqual([200, 200])
  expect((await clinic('POST', at('revoke'))).status).toBe(200)
  expect([await readable(old), await readable(kept)]).toEqual([403, 403])
})

test('a refusal by the one counts for the other', async () => {
  const { old, kept } = await pair()
  await store(
    consentOf(`${kept}-consent`, kept, 'clinic'),
    consentOf(`${old}-refusal`, old, 'clinic', { type: 'deny' }),
  )
  expect(await readable(kept)).toBe(200)
  await merge(old, kept)
  expect([await readable(old), await readable(kept)]).toEqual([403, 403])
})

test('a refusal by the one counts for the other also when the record of the one is deleted', async () => {
  const { old, kept } = await pair()
  await store(
    consentOf(`${kept}-consent`, kept, 'clinic'),
    consentOf(`${old}-refusal`, old, 'clinic', { type: 'deny' }),
  )
  await merge(old, kept)
  expect((await call('DELETE', `Patient/${old}`)).status).toBe(204)
  expect([await readable(old), await readable(kept)]).toEqual([403, 403])
  await store(consentOf(`${kept}-again`, kept, 'clinic'))
  expect([await readable(old), await readable(kept)]).toEqual([403, 403])
})

test('undone, each has its own consents again', async () => {
  const { old, kept } = await pair()
  await store(consentOf(`${kept}-consent`, kept, 'clinic'))
  const before = [await call('GET', `Patient/${old}`), await call('GET', `Patient/${kept}`)]
  await merge(old, kept)
  expect(await readable(old)).toBe(200)
  await call('PUT', `Patient/${old}`, { body: before[0]!.body })
  expect([await readable(old), await readable(kept)]).toEqual([403, 200])
  await call('PUT', `Patient/${kept}`, { body: before[1]!.body })
  expect([await readable(old), await readable(kept)]).toEqual([403, 200])
})

test('undone, a refusal of the one counts for the other no more, whichever Patient is written first', async () => {
  for (const order of [
    ['old', 'kept'],
    ['kept', 'old'],
  ] as const) {
    const of = await pair()
    await store(
      consentOf(`${of.kept}-consent`, of.kept, 'clinic'),
      consentOf(`${of.old}-refusal`, of.old, 'clinic', { type: 'deny' }),
    )
    const before = {
      old: (await call('GET', `Patient/${of.old}`)).body,
      kept: (await call('GET', `Patient/${of.kept}`)).body,
    }
    await merge(of.old, of.kept)
    expect([await readable(of.old), await readable(of.kept)]).toEqual([403, 403])
    await call('PUT', `Patient/${of[order[0]]}`, { body: before[order[0]] })
    expect([await readable(of.old), await readable(of.kept)]).toEqual([403, 200])
    await call('PUT', `Patient/${of[order[1]]}`, { body: before[order[1]] })
    expect([await readable(of.old), await readable(of.kept)]).toEqual([403, 200])
  }
})

/** Two patients, of whom the one who stays consents and the other refuses, and the two changes that make one person of them. */
async function linkingPair() {
  const { old, kept } = await pair()
  await store(
    consentOf(`${kept}-consent`, kept, 'clinic'),
    consentOf(`${old}-refusal`, old, 'clinic', { type: 'deny' }),
  )
  const linking = async (id: string, type: string, to: string) => {
    const { body } = await call('GET', `Patient/${id}`)
    const link = [{ other: { reference: `Patient/${to}` }, type }]
    return async () => (await call('PUT', `Patient/${id}`, { body: { ...body, link } })).status
  }
  expect(await readable(kept)).toBe(200)
  return {
    ...{ old, kept },
    replace: await linking(old, 'replaced-by', kept),
    keep: await linking(kept, 'replaces', old),
  }
}

test('who are merged by a link on each Patient are one as soon as both are written, whichever is written first', async () => {
  for (const isOldFirst of [true, false]) {
    const { kept, replace, keep } = await linkingPair()
    expect(await (isOldFirst ? replace() : keep())).toBe(200)
    expect(await readable(kept)).toBe(200)
    expect(await (isOldFirst ? keep() : replace())).toBe(200)
    expect(await readable(kept)).toBe(403)
  }
})

test('who are merged by a link on each Patient are one also when both are written at the same moment', async () => {
  const { old, kept, replace, keep } = await linkingPair()
  const database = await databaseOf(service)
  const { lift } = await barrier({ ...inject('server'), database: service.database }, 'consent_grant')
  const replies = [replace()]
  await areWaiting(database, 1)
  replies.push(keep())
  await areWaiting(database, 2)
  await lift()
  expect(await Promise.all(replies)).toEqual([200, 200])
  expect([await readable(old), await readable(kept)]).toEqual([403, 403])
})

test('a Patient that names more others as the same person than are taken as one is refused, and nothing of it is stored', async () => {
  const linked = (count: number) => ({
    resourceType: 'Patient',
    id: 'everybody',
    link: Array.from({ length: count }, (_, number) => ({
      other: { reference: `Patient/somebody-${number}` },
      type: 'replaces',
    })),
  })
  const refused = await call('PUT', 'Patient/everybody', { body: linked(100) })
  expect(refused.status).toBe(422)
  expect(refused.body.issue[0].diagnostics).toContain('at most 99 others')
  expect((await call('GET', 'Patient/everybody')).status).toBe(404)
  await store(...linked(99).link.map(({ other }) => ({ resourceType: 'Patient', id: other.reference.slice(8) })))
  expect((await call('PUT', 'Patient/everybody', { body: linked(99) })).status).toBe(201)
})

test('who says of somebody alone that another is the same person opens nothing', async () => {
  const { old: victim, kept: own, oldId } = await pair()
  await store(consentOf(`${own}-consent`, own, 'clinic'))
  const { body } = await clinic('GET', `/api/fhir/R4/Patient/${own}`)
  const linked = { ...body, link: [{ other: { reference: `Patient/${victim}` }, type: 'replaced-by' }] }
  expect((await call('PUT', `Patient/${own}`, { body: linked })).status).toBe(200)
  expect(await readable(victim)).toBe(403)
  const replacing = { ...body, link: [{ other: { reference: `Patient/${victim}` }, type: 'replaces' }] }
  expect((await call('PUT', `Patient/${own}`, { body: replacing })).status).toBe(200)
  expect(await readable(victim)).toBe(403)
  expect((await clinic('GET', `/api/v1/connect/patient/${oldId}/records`)).status).toBe(403)
})

test('in an emergency the whole person is opened', async () => {
  const { old, kept, keptId } = await pair()
  await merge(old, kept)
  const token = await service.application.identity.tokens.mint(
    { clientId: 'ambulance', organizationId: 'ambulance', consentExempt: false },
    ['patient:diagnostics:read', 'emergency:access', 'system/*.rs'],
  )
  const headers = { 'x-emergency-access': 'true', 'x-emergency-reason': 'Unconscious after an accident' }
  const { body } = await call('GET', `/api/v1/connect/patient/${keptId}/records?type=diagnoses`, { token, headers })
  expect(body.data.diagnoses).toHaveLength(2)
  const found = await call('GET', `Condition?patient=${old}`, { token, headers })
  expect(matchIds(found.body)).toEqual([`${old}-condition`])
})
