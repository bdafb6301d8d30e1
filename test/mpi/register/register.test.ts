// The register of people follows every Patient, whoever writes it; a Health ID belongs to one of them.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { mint } from '../../../src/lib/health-id.ts'
import { currentHealthIds } from '../../../src/mpi/register/health-ids.ts'
import { connectCaller, healthIdSystem, type Somebody } from '../../api/connect/support.ts'
import { type Answer, issueOf, matchIds } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf } from '../../support/trail.ts'

let service: Service
const { call, resolve, verify } = connectCaller(() => service)

beforeAll(async () => {
  service = await startService()
})

const identifier = (value: string, use = 'official') => ({ use, system: healthIdSystem(service), value })
const put = (id: string, more: object = {}): Promise<Answer> =>
  call('PUT', `Patient/${id}`, { body: { resourceType: 'Patient', id, ...more } })
const bundle = (...patients: object[]): Promise<Answer> =>
  call('POST', '', {
    body: {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: patients.map(resource => ({ resource, request: { method: 'POST', url: 'Patient' } })),
    },
  })

describe('a Health ID', () => {
  test('belongs to one patient: a second one is refused, without a word of the first', async () => {
    const healthId = mint('CM')
    expect((await put('first', { identifier: [identifier(healthId)] })).status).toBe(201)
    const second = await put('second', { identifier: [identifier(healthId)] })
    expect([second.status, issueOf(second.body).code]).toEqual([409, 'duplicate'])
    expect(second.text).not.toMatch(/first|CM-/)
    expect((await call('GET', 'Patient/second')).status).toBe(404)
    const created = await call('POST', 'Patient', {
      body: { resourceType: 'Patient', identifier: [identifier(healthId)] },
    })
    expect(created.status).toBe(409)
    const system = encodeURIComponent(healthIdSystem(service))
    expect(matchIds((await call('GET', `Patient?identifier=${system}|${healthId}`)).body)).toEqual(['first'])
    const both = { resourceType: 'Patient', identifier: [identifier(mint('CM'))] }
    expect((await bundle(both, both)).status).toBe(409)
    expect((await put('third', { identifier: [identifier(healthId, 'old')] })).status).toBe(201)
    expect((await resolve({ health_id: healthId })).body.patient_id).toBe('first')
  })

  test('that was never given out, or is not in canonical form, is refused', async () => {
    const healthId = mint('CM')
    const slip = healthId.slice(0, -1) + (healthId.endsWith('7') ? '8' : '7')
    for (const value of [slip, healthId.toLowerCase(), 'hello']) {
      const answer = await put('wrong', { identifier: [identifier(value)] })
      expect([answer.status, issueOf(answer.body).code]).toEqual([422, 'value'])
      expect(issueOf(answer.body).expression).toEqual(['Patient.identifier'])
    }
    expect((await put('wrong', { identifier: [{ system: 'http://elsewhere.example', value: 'hello' }] })).status).toBe(
      201,
    )
  })

  test('that is given up answers for the patient still, and is free for another', async () => {
    const [before, after] = [mint('CM'), mint('CM')]
    await put('changed', { identifier: [identifier(before)] })
    await put('changed', { identifier: [identifier(after)] })
    expect((await verify(before)).body).toMatchObject({ status: 'merged', current_health_id: after })
    await put('other', { identifier: [identifier(before)] })
    expect((await verify(before)).body.status).toBe('verified')
  })

  test('passes from one patient to another in a transaction, and comes back to whoever had it before', async () => {
    const [value, other] = [mint('CM'), mint('CM')]
    await put('from', { identifier: [identifier(value)] })
    const entry = [
      { resourceType: 'Patient', id: 'from', identifier: [identifier(other)] },
      { resourceType: 'Patient', id: 'to', identifier: [identifier(value)] },
    ].map(resource => ({ resource, request: { method: 'PUT', url: `Patient/${resource.id}` } }))
    const passed = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    expect(passed.status, passed.text).toBe(200)
    expect((await resolve({ health_id: value })).body).toMatchObject({ patient_id: 'to', health_id: value })
    await put('to', {})
    await put('from', { identifier: [identifier(value)] })
    expect((await verify(value)).body.status).toBe('verified')
    expect((await resolve({ health_id: value })).body).toMatchObject({ patient_id: 'from', health_id: value })
    expect((await put('to', { identifier: [identifier(value)] })).status).toBe(409)
  })

  test('is unregistered when its patient is deleted, and registered again when that comes back', async () => {
    const healthId = mint('CM')
    await put('away', { identifier: [identifier(healthId)] })
    await call('DELETE', 'Patient/away')
    expect((await verify(healthId)).body.status).toBe('not_registered')
    await put('away', { identifier: [identifier(healthId)] })
    expect((await verify(healthId)).body.status).toBe('verified')
  })

  test('leads through 32 merges to whoever is left, and no further', async () => {
    /** A Health ID whose patient was merged so many times in a row, and that of the last. */
    const merged = async (name: string, times: number): Promise<[string, string]> => {
      const [first, last] = [mint('CM'), mint('CM')]
      const entry = Array.from({ length: times + 1 }, (_, at) => ({
        resource: {
          resourceType: 'Patient',
          id: `${name}-${at}`,
          identifier: at === 0 ? [identifier(first)] : at === times ? [identifier(last)] : undefined,
          link: at < times ? [{ type: 'replaced-by', other: { reference: `Patient/${name}-${at + 1}` } }] : undefined,
        },
        request: { method: 'PUT', url: `Patient/${name}-${at}` },
      }))
      const answer = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
      expect(answer.status, answer.text).toBe(200)
      return [first, last]
    }
    const [near, far] = [await merged('near', 32), await merged('far', 33)]
    expect((await verify(near[0])).body).toMatchObject({ status: 'merged', current_health_id: near[1] })
    expect((await verify(far[0])).body).toMatchObject({ status: 'verified' })
    expect(await currentHealthIds(service.application.database, ['near-0', 'near-32', 'far-0', 'nobody'])).toEqual(
      new Map([
        ['near-0', near[1]],
        ['near-32', near[1]],
        ['far-0', far[0]],
      ]),
    )
  })

  test('is one of two that a patient has: each is its own, and the first in order is shown', async () => {
    const both = [mint('CM'), mint('CM')].sort() as [string, string]
    await put('double', { identifier: both.toReversed().map(value => identifier(value)) })
    for (const each of both) expect((await verify(each)).body).toMatchObject({ status: 'verified', health_id: each })
    const former = mint('CM')
    await put('double', { identifier: [identifier(former, 'old'), ...both.map(value => identifier(value))] })
    expect((await verify(former)).body).toMatchObject({ status: 'merged', current_health_id: both[0] })
    expect(await currentHealthIds(service.application.database, ['double'])).toEqual(new Map([['double', both[0]]]))
  })

  test('that two had and nobody has leads to the one who is still stored', async () => {
    const value = mint('CM')
    for (const id of ['a-gone', 'b-stays', 'c-gone']) {
      await put(id, { identifier: [identifier(value)] })
      await put(id, {})
    }
    for (const id of ['a-gone', 'c-gone']) await call('DELETE', `Patient/${id}`)
    expect((await resolve({ health_id: value })).body).toMatchObject({ status: 'found', patient_id: 'b-stays' })
  })

  test('is held by one of many who write it at once', async () => {
    const healthId = mint('CM')
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => put(`racer-${index}`, { identifier: [identifier(healthId)] })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409])
  })
})

describe('whoever is stored', () => {
  const person: Somebody = { first_name: 'Rosine', last_name: 'Abena', date_of_birth: '1984-09-09', sex: 'female' }
  const patient = {
    resourceType: 'Patient',
    name: [{ family: 'Abena', given: ['Rosine'] }],
    birthDate: '1984-09-09',
    gender: 'female',
  }

  beforeEach(async () => {
    service = await startService()
  })

  test('in a transaction of many is found, each', async () => {
    const many = Array.from({ length: 50 }, (_, index) => ({
      ...patient,
      birthDate: `19${20 + index}-09-${10 + (index % 15)}`,
    }))
    expect((await bundle(...many)).status).toBe(200)
    for (const { birthDate } of [many[0]!, many[29]!, many[49]!])
      expect((await resolve({ ...person, date_of_birth: birthDate })).body.status).toBe('found')
  })

  test('is found by what is stored now, not by what was', async () => {
    await put('rosine', { ...patient, id: 'rosine' })
    await put('rosine', { ...patient, id: 'rosine', birthDate: '1948-01-30', name: [{ text: 'Rosine Abena' }] })
    expect((await resolve(person)).body.status).toBe('created')
    const [{ count }] = (await (await databaseOf(service)).query('select count(*)::integer from person')).rows
    expect(count).toBe(2)
  })

  test('and leaves again, leaves nothing behind by which people are found', async () => {
    await put('rosine', { ...patient, id: 'rosine' })
    await call('DELETE', 'Patient/rosine')
    const database = await databaseOf(service)
    for (const table of ['person', 'person_posting'])
      expect((await database.query(`select * from ${table}`)).rows).toEqual([])
  })

  test('is found still when somebody leaves who is just like it', async () => {
    await put('rosine', { ...patient, id: 'rosine' })
    await put('again', { ...patient, id: 'again' })
    await call('DELETE', 'Patient/rosine')
    expect((await resolve(person)).body).toMatchObject({ status: 'found', patient_id: 'again' })
  })

  test('by the demo is found, before and after it is restored', async () => {
    await service.application.prepare()
    const amina = { first_name: 'Amina', last_name: 'Bello', date_of_birth: '1974-05-12', sex: 'female' }
    const asked = async () => (await resolve(amina)).body
    expect(await asked()).toMatchObject({ status: 'found', health_id: 'CM-TQYE-6SRK-YQ6S' })
    expect((await fetch(`${service.url}/api/demo/reset`, { method: 'POST' })).status).toBe(201)
    expect(await asked()).toMatchObject({ status: 'found', health_id: 'CM-TQYE-6SRK-YQ6S' })
    expect((await verify('CM-TQYE-6SRK-YQ6S')).body.status).toBe('verified')
  })

  test('is told from twins whose names are alike where both names are common', async () => {
    const named = (given: string, index: number) => ({
      ...patient,
      name: [{ family: `Family${'abcdefgh'[index]}`, given: [given] }],
      birthDate: `19${30 + index}-01-${10 + index}`,
    })
    const maria = (given: string): Somebody => ({ ...person, first_name: given, date_of_birth: '1999-12-12' })
    const [first, ...others] = [0, 1, 2, 3].flatMap(index => [named('Maria', index), named('Marie', index + 4)])
    await bundle(first!, ...others)
    const one = (await resolve(maria('Maria'))).body
    const twin = (await resolve(maria('Marie'))).body
    expect([one.status, twin.status, twin.possible_duplicates]).toEqual(['created', 'created', 1])
  })
})
