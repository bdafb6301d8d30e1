// What the audit trail gets of an operation: itself, and every change, but not what it reads.
import { beforeAll, expect, test } from 'vitest'
import type { Caller } from '../../src/access/caller.ts'
import type { Access } from '../../src/store/access.ts'
import { asOperation } from '../../src/store/operation.ts'
import { clientOf, openRecords, type Records } from '../access/records.ts'

let records: Records
beforeAll(async () => {
  records = await openRecords()
})

const operation = { type: 'Patient', query: 'Patient/$test' }
const nothing = { result: undefined, patients: [], resources: 0 }

function watched(): { readonly caller: Caller; readonly told: Access[] } {
  const told: Access[] = []
  return { caller: { ...clientOf('clinic'), witness: access => void told.push(access) }, told }
}

test('an operation is told once, with what it shows, and not what it reads for that', async () => {
  const { caller, told } = watched()
  await records.storeFor(caller).create('Patient', { resourceType: 'Patient', id: 'given' })
  told.length = 0
  const found = await asOperation(caller, { ...operation, id: 'ada' }, async own => {
    const store = records.storeFor(own)
    const { matches } = await store.search(store.parse(['Patient'], [], true))
    await store.read('Patient', matches[0]!.id)
    await store.history({ type: 'Patient', id: matches[0]!.id, count: 10 })
    return { result: matches.length, patients: ['ada'], resources: 1 }
  })
  expect(found).toBe(1)
  expect(told).toEqual([{ deed: 'operation', ...operation, id: 'ada', patients: ['ada'], resources: 1 }])
})

test('what an operation changes is told one by one, and so is a change that is refused', async () => {
  const { caller, told } = watched()
  await asOperation(caller, operation, async own => {
    const store = records.storeFor(own)
    const { id } = await store.create('Basic', { resourceType: 'Basic', code: { text: 'a' } })
    await store.update('Basic', id, { resourceType: 'Basic', id, code: { text: 'b' } }, {})
    await store.remove('Basic', id, {})
    await expect(store.create('Basic', { resourceType: 'Basic', code: 1 })).rejects.toThrow()
    return nothing
  })
  expect(told.map(({ deed, failure }) => [deed, failure !== undefined])).toEqual([
    ...[
      ['create', false],
      ['update', false],
      ['delete', false],
      ['create', true],
    ],
    ['operation', false],
  ])
})

test('an operation that fails is not told as one that was done', async () => {
  const { caller, told } = watched()
  const failing = asOperation(caller, operation, async () => {
    throw new Error('broken')
  })
  await expect(failing).rejects.toThrow('broken')
  expect(told).toEqual([])
})

test('the id of the resource may be known only afterwards', async () => {
  const { caller, told } = watched()
  await asOperation(caller, operation, async () => ({ ...nothing, id: 'ben', patients: ['ben'] }))
  expect(told).toEqual([{ deed: 'operation', ...operation, id: 'ben', patients: ['ben'], resources: 0 }])
})
