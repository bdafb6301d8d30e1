// What of a revocation a process knows: its own at once, that of others as it hears it, and all that still matters when it starts.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { createClient, revokeClient } from '../../src/identity/clients.ts'
import { createRevocations } from '../../src/identity/revocations.ts'
import { openTestDatabase } from '../support/database.ts'

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})

let time: number
beforeEach(() => void (time = Date.now()))
const process = () => createRevocations(database, 3600, () => time)
const hour = 3_600_000

/** A client that was revoked so many seconds ago. */
async function closed(seconds: number): Promise<string> {
  const { client } = await createClient(database, 'local', {
    ...{ name: 'Ward', organizationId: 'clinic', scopes: ['labs:read'], secret: null },
  })
  await revokeClient(database, client.id)
  await ago('client', 'id', client.id, seconds)
  return client.id
}

/** A token that was revoked so many seconds ago. */
async function ended(jti: string, seconds: number, expires = time + hour): Promise<string> {
  await process().revoke({ jti, clientId: 'ada', expires })
  await ago('revoked_token', 'jti', jti, seconds)
  return jti
}

const ago = (table: string, column: string, key: string, seconds: number) =>
  database.query({
    text: `update ${table} set revoked_at = now() - make_interval(secs => $2) where ${column} = $1`,
    values: [key, seconds],
  })

test('a revoked token is known here at once, and in another process when it hears of it', async () => {
  const [here, there] = [process(), process()]
  const heard: Parameters<typeof there.hear>[0][] = []
  const channel = await database.listen('identity', payload => void (payload && heard.push(JSON.parse(payload))))
  const expires = time + hour
  await here.revoke({ jti: 'one', clientId: 'ada', expires })
  expect([here.has('one', 'ada'), here.has('other', 'ada'), there.has('one', 'ada')]).toEqual([true, false, false])
  await expect.poll(() => heard, { interval: 1 }).toEqual([{ kind: 'token', jti: 'one', expires }])
  heard.forEach(there.hear)
  expect([there.has('one', 'ada'), there.has('other', 'ada')]).toEqual([true, false])
  await here.revoke({ jti: 'one', clientId: 'ada', expires })
  await channel.close()
})

test('of a revoked client every token ends, of others none', () => {
  const { hear, has } = process()
  hear({ kind: 'client', id: 'ada' })
  hear({ kind: 'keys' })
  expect([has('any', 'ada'), has('any', 'bob')]).toEqual([true, false])
})

test('a process that starts knows what was revoked while tokens could still live, and a minute more for clocks that differ', async () => {
  const [soon, late] = [await ended('soon', 3650), await ended('late', 3670)]
  const [closedSoon, closedLate] = [await closed(3650), await closed(3670)]
  const { catchUp, has } = process()
  await catchUp(true)
  expect([has(soon, ''), has(late, '')]).toEqual([true, false])
  expect([has('', closedSoon), has('', closedLate)]).toEqual([true, false])
})

test('a look in between finds what the last five minutes brought', async () => {
  const [soon, late] = [await ended('recent', 290), await ended('earlier', 310)]
  const [closedSoon, closedLate] = [await closed(290), await closed(310)]
  const { catchUp, has } = process()
  await catchUp(false)
  expect([has(soon, ''), has(late, '')]).toEqual([true, false])
  expect([has('', closedSoon), has('', closedLate)]).toEqual([true, false])
})

test('a revoked token is forgotten when it has expired, and found until then', async () => {
  const jti = await ended('passing', 0, time + 1000)
  const { catchUp, has } = process()
  await catchUp(false)
  time += 999
  await catchUp(false)
  expect(has(jti, '')).toBe(true)
  time += 1
  await catchUp(false)
  expect(has(jti, '')).toBe(false)
})
