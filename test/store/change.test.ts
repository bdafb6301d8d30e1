// Changes as the store takes them, without HTTP: what is refused and why, what a condition decides, and what is answered.
import { beforeAll, describe, expect, test } from 'vitest'
import { createCaller, system } from '../../src/access/caller.ts'
import type { Storage } from '../../src/app/storage.ts'
import type { Failure } from '../../src/lib/failure.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { openTestStorage } from '../support/storage.ts'

let storage: Storage
beforeAll(async () => {
  storage = await openTestStorage()
})

const store = () => storage.storeFor(system)
const refusal = (work: Promise<unknown>): Promise<Failure> =>
  work.then(
    () => expect.fail(),
    error => error,
  )
const person = (more: object = {}): JsonObject => ({ resourceType: 'Person', ...more })
const known = (value: string, more: object = {}) => person({ identifier: [{ system: 'urn:test', value }], ...more })
const by = (value: string) => `identifier=urn:test|${value}`
const methods = async (id: string) =>
  (await store().history({ type: 'Person', id, count: 9 })).versions.map(({ method }) => method)

describe('what is no such resource is refused, in words that say why', () => {
  test.each<[unknown, string, object?]>([
    ['text', 'The body is not a JSON object.'],
    [{ resourceType: 'Flag' }, 'The body is a Flag, but the address is for Person.', { issue: 'invalid' }],
    [{}, 'The body is a resource without resourceType, but the address is for Person.', { issue: 'invalid' }],
  ])('%o', async (resource, message, options = {}) => {
    for (const work of [
      store().create('Person', resource),
      store().update('Person', 'a', resource, {}),
      store().updateWhere('Person', by('a'), resource, {}),
    ])
      expect(await refusal(work)).toMatchObject({ code: 'MALFORMED_REQUEST', message, options })
  })

  test('every element that is wrong is named', async () => {
    const failure = await refusal(store().create('Person', person({ birthDate: 'soon', active: 7 })))
    const details = ['birthDate', 'active'].map(name => ({
      ...{ field: `Person.${name}`, code: expect.any(String), message: expect.stringMatching(/./) },
    }))
    expect(failure).toMatchObject({ code: 'MALFORMED_REQUEST', options: { details: expect.arrayContaining(details) } })
    expect(failure.message).toBe(`The Person is not valid: ${failure.options.details![0]!.message}`)
  })

  test('one that is too large is no malformed one', async () => {
    const failure = await refusal(store().create('Person', person({ identifier: new Array(200_000).fill({}) })))
    expect(failure).toMatchObject({ code: 'VALIDATION_FAILED', options: { details: [{ code: 'too-costly' }] } })
  })

  test('an update names the id of its address', async () => {
    const [none, other] = await Promise.all(
      [person(), person({ id: 'b' })].map(each => refusal(store().update('Person', 'a', each, {}))),
    )
    const common = { code: 'MALFORMED_REQUEST', options: { issue: 'invalid' } }
    expect(none).toMatchObject({
      ...common,
      message: 'The resource must have the id of the address, "a".',
    })
    expect(other).toMatchObject({ ...common, message: `The id of the resource must be the id of the address, "a".` })
  })
})

test('whoever may not is told which scope it takes, of a condition that of searching too', async () => {
  const refused = async (scopes: string[], work: (of: ReturnType<typeof store>) => Promise<unknown>) => {
    const caller = createCaller({ clientId: 'app', organizationId: 'clinic', scopes, consentExempt: true })
    const { code, message } = await refusal(work(storage.storeFor(caller)))
    return [code, message.split(' ').at(-2)]
  }
  const lacks = (letter: string) => ['INSUFFICIENT_SCOPE', `system/Person.${letter}`].join()
  const patch = { kind: 'json', operations: [] } as never
  const works: [string, boolean, (of: ReturnType<typeof store>) => Promise<unknown>][] = [
    ['c', false, of => of.create('Person', person())],
    ['c', true, of => of.create('Person', person(), by('a'))],
    ['u', false, of => of.update('Person', 'a', person({ id: 'a' }), {})],
    ['u', true, of => of.updateWhere('Person', by('a'), person(), {})],
    ['u', false, of => of.patch('Person', 'a', patch, {})],
    ['u', true, of => of.patchWhere('Person', by('a'), patch, {})],
    ['d', false, of => of.remove('Person', 'a', {})],
    ['d', true, of => of.removeWhere('Person', by('a'), {})],
  ]
  for (const [letter, searches, work] of works) {
    const others = [...'crud'].filter(each => each !== letter).join('')
    expect((await refused([`system/Person.${others}s`], work)).join()).toContain(lacks(letter))
    if (searches) expect((await refused([`system/Person.${letter}`], work)).join()).toContain(lacks('s'))
  }
})

test('the history says how each version came about', async () => {
  const { id } = await store().create('Person', person())
  await store().update('Person', id, person({ id, birthDate: '1971-06-18' }), {})
  await store().remove('Person', id, {})
  expect(await methods(id)).toEqual(['DELETE', 'PUT', 'POST'])
  const { id: other } = await store().updateWhere('Person', by('h'), known('h'), {})
  await store().removeWhere('Person', by('h'), {})
  expect(await methods(other)).toEqual(['DELETE', 'PUT'])
})

test('a creation of which only its own row is written is one statement, and no transaction', async () => {
  let transactions = 0
  const { database } = storage
  const counting = {
    ...database,
    transaction: (async work => {
      transactions++
      return database.transaction(work)
    }) as typeof database.transaction,
  }
  const of = storage.storeFor({ ...system, database: counting })
  await of.create('Person', person())
  expect(transactions).toBe(0)
  await of.create('Patient', { resourceType: 'Patient' })
  expect(transactions).toBe(1)
})

describe('a creation with a condition', () => {
  test('that matches nothing creates; that matches one answers what is there', async () => {
    const made = await store().create('Person', known('c'), by('c'))
    expect(made.outcome).toBe('created')
    expect(await store().create('Person', known('c', { birthDate: '1971-06-18' }), by('c'))).toEqual({
      ...made,
      outcome: 'unchanged',
    })
  })
})
