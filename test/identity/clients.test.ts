// Integration clients and their secrets, as an administrator makes, changes and ends them.
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import {
  addSecret,
  createClient,
  findClient,
  knownScopes,
  listClients,
  newSecret,
  registeredOrganizations,
  revokeClient,
  rotateSecret,
  setKeys,
} from '../../src/identity/clients.ts'
import { openTestDatabase } from '../support/database.ts'

let database: Database
beforeAll(async () => {
  database = await openTestDatabase(3)
})

const created = async (more: object = {}) =>
  (await createClient(database, 'local', { name: 'Ward', organizationId: 'clinic', scopes: ['labs:read'], ...more }))
    .client
const listed = async (id: string) => (await listClients(database)).find(each => each.id === id)!
const labels = async (id: string) => (await listed(id)).secrets.map(({ label }) => label)
const notThere = (id: string) => ({ code: 'NOT_FOUND', message: `There is no active client ${id}.` })

test('a secret says whether it is of production', () => {
  expect(newSecret('production')).toMatch(/^sk_live_[A-Za-z0-9]{43}$/)
  expect(newSecret('sandbox')).toMatch(/^sk_test_[A-Za-z0-9]{43}$/)
})

test('scopes are known by their first spelling, each once; those that are none are named', () => {
  expect(knownScopes(['labs:read', 'patients:profile:read', 'patient:profile:read', 'labs:read'])).toEqual([
    'labs:read',
    'patient:profile:read',
  ])
  expect(() => knownScopes(['labs:reed'])).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_FAILED',
      message: 'There is no scope labs:reed; did you mean `labs:read`?',
    }),
  )
})

test('a client has the id it is given, which has no slash and is given once', async () => {
  expect((await created()).id).toMatch(/^client_[A-Za-z0-9]{20}$/)
  expect((await created({ id: 'ward-7' })).id).toBe('ward-7')
  await expect(created({ id: 'ward-7' })).rejects.toMatchObject({
    ...{ code: 'CONFLICT', message: 'A client with the id ward-7 already exists.' },
  })
  await expect(created({ id: 'patient/ada' })).rejects.toMatchObject({
    ...{ code: 'VALIDATION_FAILED', message: 'A client id must not contain a slash.' },
  })
})

test('keys that are private are refused, and leave nothing behind', async () => {
  const jwks = { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] }
  const message = 'Key 1 is a private key: send only the public key.'
  await expect(created({ id: 'private', jwks })).rejects.toMatchObject({ code: 'VALIDATION_FAILED', message })
  expect(await findClient(database, 'private')).toBeUndefined()
  const { id } = await created()
  await expect(setKeys(database, id, { jwks })).rejects.toMatchObject({ code: 'VALIDATION_FAILED', message })
  expect((await listed(id)).jwks).toBeUndefined()
})

test('each client is listed with the labels of its own secrets', async () => {
  const [one, none] = [await created(), await created({ secret: null })]
  await addSecret(database, 'local', one.id, 'spare')
  expect([await labels(one.id), await labels(none.id)]).toEqual([['first', 'spare'], []])
})

test('a client has two secrets at most', async () => {
  const { id } = await created()
  await addSecret(database, 'local', id)
  await expect(addSecret(database, 'local', id)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: 'The client already has two active secrets: rotate the secret, which ends the older one.',
  })
  expect(await labels(id)).toEqual(['first', undefined])
})

test('a new secret ends the older ones, the newest of them after the overlap', async () => {
  const { id } = await created()
  await addSecret(database, 'local', id, 'second')
  await rotateSecret(database, 'local', id, { label: 'third' })
  const { secrets } = await listed(id)
  expect(secrets.map(({ label }) => label)).toEqual(['second', 'third'])
  const left = secrets[0]!.expiresAt!.getTime() - Date.now()
  expect(left).toBeGreaterThan(86_000_000)
  expect(left).toBeLessThanOrEqual(86_400_000)
  await rotateSecret(database, 'local', id, { overlap: 0, label: 'fourth' })
  expect(await labels(id)).toEqual(['fourth'])
  expect((await findClient(database, id))!.secrets).toHaveLength(1)
})

test('a client whose secrets have run out is given a new one', async () => {
  const { id } = await created({ secret: null })
  await addSecret(database, 'local', id, 'only')
  expect(await labels(id)).toEqual(['only'])
})

test('a client that is revoked is so for good: its keys and secrets stay as they are', async () => {
  const { id } = await created()
  await revokeClient(database, id)
  const { revokedAt } = await listed(id)
  await revokeClient(database, id)
  expect((await listed(id)).revokedAt).toEqual(revokedAt)
  await expect(addSecret(database, 'local', id)).rejects.toMatchObject(notThere(id))
  await expect(rotateSecret(database, 'local', id)).rejects.toMatchObject(notThere(id))
  const keys = { jwksUrl: 'https://example.org/keys' }
  await expect(setKeys(database, id, keys)).rejects.toMatchObject(notThere(id))
  await expect(revokeClient(database, 'nobody')).rejects.toMatchObject({
    ...{ code: 'NOT_FOUND', message: 'There is no client nobody.' },
  })
})

test('what every process is told of a client that is revoked names it', async () => {
  const { id } = await created()
  const heard: unknown[] = []
  const subscription = await database.listen('identity', payload => void (payload && heard.push(JSON.parse(payload))))
  await revokeClient(database, id)
  await expect.poll(() => heard).toEqual([{ kind: 'client', id }])
  await subscription.close()
})

test('organisations are known by their clients, revoked ones included', async () => {
  const { id } = await created({ organizationId: 'closed' })
  await revokeClient(database, id)
  await created({ organizationId: 'open' })
  expect(await registeredOrganizations(database, ['closed', 'open', 'never'])).toEqual(new Set(['closed', 'open']))
})
