// What Patient/$unmerge gives back, and to whom: neither of the two loses or gains a number.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Answer } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { connectCaller, healthIdSystem, tasksOf } from '../connect/support.ts'

let service: Service
const { call, resolve, verify } = connectCaller(() => service)

beforeAll(async () => {
  service = await startService()
})

let tests = 0
let a: string
let b: string

beforeEach(() => {
  tests++
  a = `ada-${tests}`
  b = `bea-${tests}`
})

const reference = (name: string, id: string) => ({ name, valueReference: { reference: `Patient/${id}` } })
const operate = async (name: string, source: string, target: string, ...more: object[]): Promise<void> => {
  const parameter = [reference('source-patient', source), reference('target-patient', target), ...more]
  const answer = await call('POST', `Patient/$${name}`, { body: { resourceType: 'Parameters', parameter } })
  expect(answer.status, answer.text).toBe(200)
}
const merge = (source: string, target: string, ...more: object[]) => operate('merge', source, target, ...more)
const unmerge = (source: string, target: string) => operate('unmerge', source, target)
const patient = (id: string, ...identifier: object[]) => ({ resourceType: 'Patient', id, identifier })
const put = async (resource: { id: string }): Promise<Answer> => {
  const answer = await call('PUT', `Patient/${resource.id}`, { body: resource })
  expect([200, 201], answer.text).toContain(answer.status)
  return answer
}
const read = async (id: string) => (await call('GET', `Patient/${id}`)).body
const number = (value: string, more: object = {}) => ({ ...more, system: 'urn:ward', value: `${tests}-${value}` })

test('a number that both had before stays with both, also where it is an old one', async () => {
  const [shared, own] = [number('shared', { use: 'old' }), number('own')]
  await put(patient(a, number('shared')))
  await put(patient(b, shared, own))
  await merge(a, b)
  await unmerge(a, b)
  expect((await read(a)).identifier).toEqual([number('shared')])
  expect((await read(b)).identifier).toEqual([shared, own])
})

test('a number that a result-patient took as one of its own goes back, however much was changed since', async () => {
  await put(patient(a, number('1')))
  await put(patient(b, number('2')))
  await merge(a, b, { name: 'result-patient', resource: patient(b, number('2'), number('1', { use: 'usual' })) })
  for (let change = 0; change < 25; change++) await put({ ...(await read(b)), multipleBirthInteger: change })
  await unmerge(a, b)
  expect((await read(b)).identifier).toEqual([number('2')])
  expect((await call('GET', `Patient?identifier=urn:ward|${tests}-1`)).body.entry).toMatchObject([
    { resource: { id: a } },
  ])
})

test.each([[{ active: false }], [{ active: true }], [{}]])(
  'the source is in use as it was before: %o',
  async active => {
    await put({ ...patient(a, number('1')), ...active })
    await put(patient(b, number('2')))
    const { meta: _meta, ...before } = await read(a)
    await merge(a, b)
    await unmerge(a, b)
    const { meta: _changed, ...after } = await read(a)
    expect(after).toEqual(before)
  },
)

test('everybody keeps their Health ID, also if they were merged the other way round before', async () => {
  const people: { id: string; healthId: string }[] = []
  for (const first_name of ['Ada', 'Bea']) {
    const { body } = await resolve({ first_name, last_name: 'Mbarga', date_of_birth: '1980-02-03', sex: 'female' })
    people.push({ id: body.patient_id, healthId: body.health_id })
  }
  const [ada, bea] = people as [(typeof people)[0], (typeof people)[0]]
  await merge(bea.id, ada.id)
  for (const { id } of people) {
    const { link: _link, ...rest } = await read(id)
    await put({ ...rest, active: true })
  }
  await merge(ada.id, bea.id)
  await unmerge(ada.id, bea.id)
  for (const { id, healthId } of people) {
    expect((await verify(healthId)).body).toMatchObject({ status: 'verified' })
    expect((await resolve({ health_id: healthId })).body.patient_id).toBe(id)
    const system = healthIdSystem(service)
    expect((await read(id)).identifier).toContainEqual({ use: 'official', system, value: healthId })
  }
})

test('questions that the merge answered are open again, and the two are not asked about again', async () => {
  const ids: string[] = []
  const somebody = { first_name: 'Amadou', date_of_birth: '1955-05-05', sex: 'male', phone_number: '+237655443300' }
  for (const last_name of ['Njoya', 'Tagne', 'Bekolo'])
    ids.push((await resolve({ ...somebody, last_name })).body.patient_id)
  const [first, second, third] = ids as [string, string, string]
  const about = async (focus: string) =>
    (await tasksOf(service)).find(task => task.focus.reference === `Patient/${focus}`)
  expect((await about(third)).input).toHaveLength(2)
  await merge(third, first)
  expect((await about(third)).status).toBe('completed')
  await unmerge(third, first)
  const task = await about(third)
  expect(task.status).toBe('requested')
  expect(task.output).toMatchObject([
    { type: { coding: [{ code: 'kept-apart' }] }, valueReference: { reference: `Patient/${first}` } },
  ])
  expect(task.input.map((each: Answer['body']) => each.valueReference.reference)).toContain(`Patient/${second}`)
})
