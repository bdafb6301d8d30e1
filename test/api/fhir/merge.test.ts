// Patient/$merge, and what becomes of Health IDs. https://hl7.org/fhir/R5/patient-operation-merge.html
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, issueOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'
import { connectCaller, type Somebody, tasksOf } from '../connect/support.ts'

let service: Service
const { call, resolve, verify } = connectCaller(() => service)

/** Somebody else in each test. */
let tests = 0
let amadou: Somebody
/** Registered three times, since the family name is another one each time. */
let patients: { id: string; healthId: string }[]

beforeAll(async () => {
  service = await startService()
})

beforeEach(async () => {
  tests++
  const month = String(1 + (tests % 12)).padStart(2, '0')
  amadou = {
    first_name: 'Amadou',
    last_name: 'Njoya',
    date_of_birth: `${1930 + 5 * tests}-${month}-${10 + tests}`,
    sex: 'male',
    phone_number: `+2376554433${10 + tests * 3}`,
  }
  patients = []
  for (const last_name of ['Njoya', 'Tagne', 'Bekolo']) {
    const { body } = await resolve({ ...amadou, last_name })
    expect(body.status).toBe('created')
    patients.push({ id: body.patient_id, healthId: body.health_id })
  }
})

const reference = (name: string, id: string) => ({ name, valueReference: { reference: `Patient/${id}` } })
const merge = (source: string, target: string, more: object[] = [], options: object = {}): Promise<Answer> =>
  call('POST', 'Patient/$merge', {
    body: {
      resourceType: 'Parameters',
      parameter: [reference('source-patient', source), reference('target-patient', target), ...more],
    },
    ...options,
  })
const read = async (id: string) => (await call('GET', `Patient/${id}`)).body
const partOf = (answer: Answer, name: string) =>
  answer.body.parameter.find((each: { name: string }) => each.name === name).resource

test('the source is inactive and points at the target, which keeps its numbers', async () => {
  const [a, b] = patients as [(typeof patients)[0], (typeof patients)[0]]
  const answer = await merge(a.id, b.id)
  expect(answer.status, answer.text).toBe(200)
  const [source, target] = [await read(a.id), await read(b.id)]
  expect(partOf(answer, 'result')).toEqual(target)
  expect(source).toMatchObject({
    active: false,
    link: [{ other: { reference: `Patient/${b.id}` }, type: 'replaced-by' }],
    identifier: [{ use: 'official', value: a.healthId }],
  })
  expect(target).toMatchObject({
    active: true,
    link: [{ other: { reference: `Patient/${a.id}` }, type: 'replaces' }],
    identifier: [
      { use: 'official', value: b.healthId },
      { use: 'old', value: a.healthId },
    ],
  })
})

test('its Health ID leads to the target from then on, through further merges too', async () => {
  const [a, b, c] = patients as [(typeof patients)[0], (typeof patients)[0], (typeof patients)[0]]
  await merge(a.id, b.id)
  await merge(b.id, c.id)
  expect((await verify(a.healthId)).body).toEqual({
    health_id: a.healthId,
    valid: false,
    checksum_valid: true,
    registered: true,
    status: 'merged',
    current_health_id: c.healthId,
  })
  const { status, body } = await resolve({ health_id: a.healthId })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    status: 'found',
    health_id: c.healthId,
    current_health_id: c.healthId,
    patient_id: c.id,
    matched_by: 'health_id',
  })
  const found = (await call('GET', `/api/v1/connect/patient/search?health_id=${a.healthId}`)).body
  expect(found.data[0].health_id).toBe(c.healthId)
  expect((await verify(c.healthId)).body.status).toBe('verified')
  const again = (await resolve(amadou)).body
  expect([again.status, again.possible_duplicates]).toEqual(['created', 1])
})

test('removing the links undoes it', async () => {
  const [a, b] = patients as [(typeof patients)[0], (typeof patients)[0]]
  await merge(a.id, b.id)
  const { link: _link, ...source } = await read(a.id)
  expect((await call('PUT', `Patient/${a.id}`, { body: { ...source, active: true } })).status).toBe(200)
  expect((await verify(a.healthId)).body).toMatchObject({ status: 'verified', valid: true })
  expect((await resolve(amadou)).body).toMatchObject({ status: 'found', patient_id: a.id })
})

describe('undone by $unmerge', () => {
  const unmerge = (source: string, target: string, more: object[] = [], options: object = {}): Promise<Answer> =>
    call('POST', 'Patient/$unmerge', {
      body: {
        resourceType: 'Parameters',
        parameter: [reference('source-patient', source), reference('target-patient', target), ...more],
      },
      ...options,
    })
  const described = ({ meta: _meta, ...patient }: { meta: unknown }) => patient

  test('both are as they were, with their numbers and Health IDs, and what was changed since stays', async () => {
    const [a, b] = patients as [(typeof patients)[0], (typeof patients)[0]]
    const numbered = {
      ...(await read(a.id)),
      identifier: [...(await read(a.id)).identifier, { system: 'urn:ward', value: tests.toString() }],
    }
    expect((await call('PUT', `Patient/${a.id}`, { body: numbered })).status).toBe(200)
    const [before, other] = [await read(a.id), await read(b.id)]
    await merge(a.id, b.id)
    const changed = { ...(await read(b.id)), maritalStatus: { text: 'married' } }
    expect((await call('PUT', `Patient/${b.id}`, { body: changed })).status).toBe(200)
    const answer = await unmerge(a.id, b.id)
    expect(answer.status, answer.text).toBe(200)
    expect(described(await read(a.id))).toEqual(described(before))
    expect(described(await read(b.id))).toEqual({ ...described(other), maritalStatus: { text: 'married' } })
    expect(partOf(answer, 'result')).toEqual(await read(b.id))
    expect((await verify(a.healthId)).body).toMatchObject({ status: 'verified', valid: true })
    expect((await call('GET', `Patient?identifier=urn:ward|${tests}`)).body.entry).toMatchObject([
      { resource: { id: a.id } },
    ])
    expect((await resolve(amadou)).body).toMatchObject({ status: 'found', patient_id: a.id })
  })

  test('a Health ID that the target took goes back', async () => {
    const [a] = patients as [(typeof patients)[0]]
    const id = `bare-${tests}`
    await call('PUT', `Patient/${id}`, { body: { resourceType: 'Patient', id } })
    const before = await read(a.id)
    await merge(a.id, id)
    expect((await unmerge(a.id, id)).status).toBe(200)
    expect(described(await read(a.id))).toEqual(described(before))
    expect((await read(id)).identifier).toBeUndefined()
    expect((await resolve({ health_id: a.healthId })).body.patient_id).toBe(a.id)
  })

  test('stores nothing as a preview, for who may not change Patients, or where there is no such merge', async () => {
    const [a, b, c] = patients as [(typeof patients)[0], (typeof patients)[0], (typeof patients)[0]]
    expect([(await unmerge(a.id, b.id)).status, (await unmerge(a.id, 'nobody')).status]).toEqual([422, 404])
    await merge(a.id, b.id)
    await merge(b.id, c.id)
    const chained = await unmerge(a.id, b.id)
    expect([chained.status, issueOf(chained.body).diagnostics]).toEqual([
      422,
      expect.stringContaining('undo that merge first'),
    ])
    const shown = await unmerge(b.id, c.id, [{ name: 'preview', valueBoolean: true }])
    expect(partOf(shown, 'result').link).toBeUndefined()
    const token = await service.application.identity.tokens.mint(
      { clientId: 'demo-client', organizationId: 'x', consentExempt: true },
      ['system/Patient.rs'],
    )
    expect((await unmerge(b.id, c.id, [], { token })).status).toBe(403)
    expect((await verify(b.healthId)).body.status).toBe('merged')
    expect((await unmerge(b.id, c.id)).status).toBe(200)
    expect((await unmerge(a.id, b.id)).status).toBe(200)
    for (const { healthId } of [a, b, c]) expect((await verify(healthId)).body.status).toBe('verified')
  })
})

test('a merged patient that is deleted still leads to the other', async () => {
  const [a, b] = patients as [(typeof patients)[0], (typeof patients)[0]]
  await merge(a.id, b.id)
  await call('DELETE', `Patient/${a.id}`)
  expect((await verify(a.healthId)).body).toMatchObject({ status: 'merged', current_health_id: b.healthId })
})

test('a target without a Health ID takes that of the source', async () => {
  const [a] = patients as [(typeof patients)[0]]
  await call('PUT', 'Patient/ward-7', { body: { resourceType: 'Patient', id: 'ward-7' } })
  expect((await merge(a.id, 'ward-7')).status).toBe(200)
  expect((await verify(a.healthId)).body.status).toBe('verified')
  expect((await resolve({ health_id: a.healthId })).body.patient_id).toBe('ward-7')
})

test('the Tasks that asked whether they are one are done; those that ask about others stay', async () => {
  const [a, b] = patients as [(typeof patients)[0], (typeof patients)[0]]
  const own = async () =>
    (await tasksOf(service)).filter(({ focus }) => patients.some(({ id }) => focus.reference === `Patient/${id}`))
  const before = await own()
  expect(before.map(task => task.input.length).sort()).toEqual([1, 2])
  await merge(b.id, a.id)
  const state = new Map((await own()).map(task => [task.input.length, task]))
  expect([state.get(1).status, state.get(2).status]).toEqual(['completed', 'requested'])
  expect(state.get(1).output[0].valueReference).toEqual({ reference: `Patient/${a.id}` })
})

test('a preview stores nothing', async () => {
  const [a, b] = patients as [(typeof patients)[0], (typeof patients)[0]]
  const answer = await merge(a.id, b.id, [{ name: 'preview', valueBoolean: true }])
  expect(partOf(answer, 'result').link).toHaveLength(1)
  expect([(await read(a.id)).meta.versionId, (await read(b.id)).meta.versionId]).toEqual(['1', '1'])
})

test('the target becomes what the caller says, with its Health ID', async () => {
  const [a, b] = patients as [(typeof patients)[0], (typeof patients)[0]]
  const target = await read(b.id)
  const result = (resource: object) => [{ name: 'result-patient', resource }]
  const { identifier: _identifier, ...nameless } = target
  expect((await merge(a.id, b.id, result(nameless))).status).toBe(422)
  expect((await merge(a.id, b.id, result({ ...target, id: a.id }))).status).toBe(422)
  const named = { ...target, name: [{ family: 'Njoya', given: ['Amadou'] }] }
  expect((await merge(a.id, b.id, result(named))).status).toBe(200)
  expect((await read(b.id)).name).toEqual(named.name)
  expect((await resolve(amadou)).body.patient_id).toBe(b.id)
})

describe('refused is', () => {
  test('whoever is merged already, or inactive, or the same, or not there', async () => {
    const [a, b, c] = patients as [(typeof patients)[0], (typeof patients)[0], (typeof patients)[0]]
    await merge(a.id, b.id)
    for (const [source, target] of [
      [b.id, a.id],
      [a.id, c.id],
      [c.id, a.id],
      [c.id, c.id],
    ] as const) {
      const answer = await merge(source, target)
      expect([answer.status, issueOf(answer.body).code]).toEqual([422, 'business-rule'])
    }
    expect((await merge(c.id, 'nobody')).status).toBe(404)
    expect((await call('POST', 'Patient/$merge', { body: { resourceType: 'Parameters' } })).status).toBe(400)
  })

  test('who may not change Patient', async () => {
    const [a, b] = patients as [(typeof patients)[0], (typeof patients)[0]]
    const token = await service.application.identity.tokens.mint(
      { clientId: 'demo-client', organizationId: 'x', consentExempt: true },
      ['system/Patient.rs'],
    )
    expect((await merge(a.id, b.id, [], { token })).status).toBe(403)
    expect((await verify(a.healthId)).body.status).toBe('verified')
  })

  test('all but one of two who merge the same pair both ways at once', async () => {
    const [a, b] = patients as [(typeof patients)[0], (typeof patients)[0]]
    const answers = await Promise.all([merge(a.id, b.id), merge(b.id, a.id), merge(a.id, b.id)])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.every(({ status }) => status === 200 || (status >= 400 && status < 500))).toBe(true)
    const states = [(await verify(a.healthId)).body.status, (await verify(b.healthId)).body.status]
    expect(states.sort()).toEqual(['merged', 'verified'])
  })
})

test('a circle of links that was written past the operation leads nowhere, and ends', async () => {
  const [a, b] = patients as [(typeof patients)[0], (typeof patients)[0]]
  for (const [one, other] of [
    [a, b],
    [b, a],
  ] as const) {
    const link = [{ other: { reference: `Patient/${other.id}` }, type: 'replaced-by' }]
    expect((await call('PUT', `Patient/${one.id}`, { body: { ...(await read(one.id)), link } })).status).toBe(200)
  }
  expect((await verify(a.healthId)).body.status).toBe('verified')
  expect((await verify(b.healthId)).body.status).toBe('verified')
})

test('the trail holds both changes, and whose they are', async () => {
  const [a, b] = patients as [(typeof patients)[0], (typeof patients)[0]]
  await merge(a.id, b.id, [], { headers: { 'x-request-id': 'merge-them-now' } })
  const rows = await rowsOf(await databaseOf(service), 'merge-them-now')
  const changed = rows
    .filter(({ interaction }) => interaction === 'update')
    .map(row => `${row.resource_type}/${row.resource_id}`)
  expect(changed.slice(0, 2).sort()).toEqual([`Patient/${a.id}`, `Patient/${b.id}`].sort())
})
