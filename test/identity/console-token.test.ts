// The token of the API console: whose client, which scopes, for how long, and what is on record of it before it is given.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { type Role, userCaller } from '../../src/access/caller.ts'
import type { Database } from '../../src/db/database.ts'
import { createClient, type NewClient, revokeClient } from '../../src/identity/clients.ts'
import { consoleToken } from '../../src/identity/console-token.ts'
import { Failure } from '../../src/lib/failure.ts'
import type { Access } from '../../src/store/access.ts'
import { openTestDatabase } from '../support/database.ts'

let database: Database
let witnessed: Access[]
let minted: unknown[]
beforeAll(async () => {
  database = await openTestDatabase()
})
beforeEach(() => {
  witnessed = []
  minted = []
})

const held = ['labs:read', 'system/Patient.rs', 'emergency:access']
const client = async (more: Partial<NewClient> = {}): Promise<string> =>
  (
    await createClient(database, 'local', {
      name: 'Ward',
      organizationId: 'hospital-a',
      scopes: held,
      secret: null,
      ...more,
    })
  ).client.id

const tokens = {
  mint: async (...given: unknown[]) => {
    minted.push(given)
    return 'token'
  },
}

function get(
  clientId: string,
  scopes: readonly string[] = [],
  role: Role = 'developer',
  organizationId = 'hospital-a',
) {
  const caller = userCaller({ id: 'usr_1', email: 'a@b.example', organizationId, roles: [role] }, 'session')
  const user = { ...caller, witness: (access: Access) => void witnessed.push(access) }
  return consoleToken({ database, tokens }, { user, path: '/portal/x' }, clientId, scopes)
}

const refusal = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (failure: Failure) => failure,
  )
  expect([minted, witnessed]).toEqual([[], []])
  return error && `${error.code}: ${error.message}`
}

test('is minted for 15 minutes with the scopes that are named, each once, and is on record with its id', async () => {
  const clientId = await client()
  const { token, scopes } = await get(clientId, ['system/Patient.r', 'labs:read', 'labs:read'])
  expect([token, scopes]).toEqual(['token', ['system/Patient.r', 'labs:read']])
  const id = expect.stringMatching(/^\w{22}$/)
  expect(minted).toEqual([
    [{ clientId, organizationId: 'hospital-a', consentExempt: false }, scopes, { id, lifetime: 900 }],
  ])
  const [[, , terms]] = minted as [[unknown, unknown, { id: string }]]
  const query = `/portal/x?${new URLSearchParams({ client: clientId, scopes: scopes.join(' '), token: terms.id })}`
  expect(witnessed).toEqual([{ deed: 'operation', query, patients: [], resources: 0 }])
})

test('has all scopes of the client but those of critical risk if none is named', async () => {
  expect((await get(await client())).scopes).toEqual(['labs:read', 'system/Patient.rs'])
  expect((await get(await client({ scopes: ['patient:profile:read'] }), ['patients:profile:read'])).scopes).toEqual([
    'patient:profile:read',
  ])
})

test.each([
  [['labs:reed'], 'VALIDATION_FAILED: There is no scope labs:reed'],
  [
    ['labs:write', 'system/Patient.c'],
    'VALIDATION_FAILED: The client does not have the scope labs:write system/Patient.c.',
  ],
  [['emergency:access'], 'FORBIDDEN: Only administrators try calls with scopes of critical risk: emergency:access.'],
])('with %j a developer gets none', async (scopes, words) => {
  expect(await refusal(get(await client(), scopes))).toContain(words)
})

test('of a client that needs no consent, or with scopes of critical risk, is for administrators', async () => {
  const exempt = await client({ consentExempt: true })
  expect(await refusal(get(exempt))).toBe('FORBIDDEN: Only administrators try calls as a client that needs no consent.')
  await get(exempt, [], 'administrator', 'elsewhere')
  expect(minted).toEqual([
    [{ clientId: exempt, organizationId: 'hospital-a', consentExempt: true }, expect.anything(), expect.anything()],
  ])
  expect((await get(await client(), held, 'administrator')).scopes).toEqual(held)
})

test('is not given for a client of others, a revoked one, or one of which nothing is left without critical scopes', async () => {
  const clientId = await client()
  expect(await refusal(get(clientId, [], 'developer', 'hospital-b'))).toMatch(/^NOT_FOUND: /)
  await revokeClient(database, clientId)
  expect(await refusal(get(clientId))).toBe('CONFLICT: This client is revoked.')
  const critical = await client({ scopes: ['emergency:access'] })
  expect(await refusal(get(critical, [], 'administrator'))).toBe(
    'VALIDATION_FAILED: Name a scope: the client has scopes of critical risk only.',
  )
})

test('is not given if it cannot be on record', async () => {
  const clientId = await client()
  const broken = { ...database, transaction: () => Promise.reject(new Failure('UNAVAILABLE', 'down')) }
  const caller = userCaller(
    { id: 'usr_1', email: 'a@b.example', organizationId: 'hospital-a', roles: ['developer'] },
    's',
  )
  const given = consoleToken({ database: broken, tokens }, { user: caller, path: '/x' }, clientId, [])
  await expect(given).rejects.toMatchObject({ code: 'UNAVAILABLE' })
})
