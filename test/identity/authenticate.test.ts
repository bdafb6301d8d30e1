// What a request carries, and whose it is; when a secret was last used is noted on the way.
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import type { Statement } from '../../src/db/statement.ts'
import { bearerToken, clientAuthenticator } from '../../src/identity/authenticate.ts'
import { createClient } from '../../src/identity/clients.ts'
import { createThrottle } from '../../src/identity/throttle.ts'
import type { Log } from '../../src/lib/log.ts'
import { openTestDatabase } from '../support/database.ts'

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})

test('an access token is what follows Bearer, in capitals or not, without the spaces around it', () => {
  for (const authorization of ['Bearer x.y.z', 'bearer   x.y.z', 'BEARER x.y.z '])
    expect(bearerToken({ authorization })).toBe('x.y.z')
  for (const authorization of [undefined, 'Basic x', 'Bearer', 'xBearer x.y.z'])
    expect(() => bearerToken({ authorization })).toThrow(expect.objectContaining({ code: 'UNAUTHENTICATED' }))
})

/** Proves a client by its secret, which is right; `notes` are the uses that were noted. */
async function proving(note: (statement: Statement) => Promise<never[]>) {
  const { client } = await createClient(database, 'local', {
    ...{ name: 'Ward', organizationId: 'clinic', scopes: ['labs:read'] },
  })
  const state = { time: 1_800_000_000_000, notes: [] as unknown[], warned: [] as unknown[] }
  const query = (statement: Statement) => {
    if (!statement.text?.startsWith('update client_secret')) return database.query(statement)
    state.notes.push(statement.values)
    return note(statement)
  }
  const prove = clientAuthenticator({
    database: { ...database, query } as Database,
    secrets: { find: async ({ stored }) => stored[0]?.id },
    throttle: createThrottle(() => state.time),
    keySets: { at: () => Promise.reject(new Error('not asked')) },
    audiences: [],
    now: () => state.time,
    log: { warn: (...told: unknown[]) => void state.warned.push(told) } as unknown as Log,
  })
  const body = { client_id: client.id, client_secret: 'right' }
  const again = () => prove({ method: 'POST', headers: {}, body, remoteAddress: '10.0.0.1', baseUrl: '' })
  return { client, state, again }
}

test('the use of a secret is noted once a minute, with its time', async () => {
  const { client, state, again } = await proving(statement => database.query(statement))
  expect(await again()).toMatchObject({ clientId: client.id, organizationId: 'clinic', scopes: ['labs:read'] })
  state.time += 59_999
  await again()
  state.time += 1
  await again()
  const [{ id }] = (await database.query<{ id: number }>({
    text: 'select id from client_secret where client_id = $1',
    values: [client.id],
  })) as [{ id: number }]
  expect(state.notes).toEqual([
    [id, new Date(1_800_000_000_000)],
    [id, new Date(1_800_000_060_000)],
  ])
})

test('a use that cannot be noted is told to the log, and keeps nobody out', async () => {
  const err = new Error('no connection')
  const { client, state, again } = await proving(() => Promise.reject(err))
  expect(await again()).toMatchObject({ clientId: client.id })
  expect(state.warned).toEqual([[{ err }, 'identity: could not record the use of a secret']])
})
