// Users of the portal, as an administrator makes, helps and ends them, and as a sign-in finds them.
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { sessionCookie } from '../../src/identity/cookies.ts'
import { createChecker, type StoredSecret } from '../../src/identity/secrets.ts'
import { createSessions } from '../../src/identity/sessions.ts'
import { createThrottle } from '../../src/identity/throttle.ts'
import { createUser, disableUser, findUser, foldEmail, listUsers, resetPassword } from '../../src/identity/users.ts'
import { openTestDatabase } from '../support/database.ts'

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})

const created = (email: string) => createUser(database, { email, organizationId: 'clinic', roles: ['administrator'] })
const checker = createChecker()
const proves = async (password: string, { hash }: { hash: string }) =>
  (await checker.find(password, [{ id: 1, hash }] satisfies StoredSecret[])) === 1

/** Begins a session of that user, whatever the password, and says later whether it goes on. */
async function session(email: string) {
  const { begin, authenticate } = createSessions({
    ...{ database, checker: { find: async () => 1 }, throttle: createThrottle(Date.now), now: Date.now },
    record: async () => {},
  })
  const { cookie } = await begin({ email, password: '', address: '10.0.0.1', requestId: 'request' })
  const credentials = {
    method: 'GET',
    baseUrl: 'https://interop.example.org',
    headers: { cookie: `${sessionCookie}=${cookie}` },
  }
  return () =>
    authenticate(credentials).then(
      () => true,
      () => false,
    )
}

test('an address counts without the space around it, in small letters, in one form of each', () => {
  expect(foldEmail(' Ada@Clinic.Example\n')).toBe('ada@clinic.example')
  expect(foldEmail('ａｄａ@clinic.example')).toBe('ada@clinic.example')
})

test('a user is whom his address and the password that he was told once prove', async () => {
  const { user, password } = await created('Ada@Clinic.Example')
  expect(user).toEqual({
    ...{ id: expect.stringMatching(/^usr_[0-9A-Za-z]{20}$/), email: 'ada@clinic.example', organizationId: 'clinic' },
    ...{ roles: ['administrator'], createdAt: expect.any(Date), disabledAt: undefined },
  })
  expect(password).toMatch(/^[0-9A-Za-z]{22}$/)
  const found = (await findUser(database, 'ADA@clinic.example '))!
  expect(found.user).toEqual(user)
  expect(await proves(password, found)).toBe(true)
  expect(await proves(`${password}x`, found)).toBe(false)
  expect(await findUser(database, 'nobody@clinic.example')).toBeUndefined()
})

test('an address has one user, however it is written', async () => {
  await created('once@clinic.example')
  await expect(created(' ONCE@clinic.example')).rejects.toMatchObject({
    ...{ code: 'CONFLICT', message: 'A user once@clinic.example already exists.' },
  })
})

const longest = `${'l'.repeat(64)}@${'d'.repeat(189)}`
const noAddresses = [
  'ada',
  '@clinic',
  'ada@',
  'a da@clinic',
  'ada@cli nic',
  'a@b@c',
  'ada@clinic\0',
  'a\0@clinic',
  `l${longest}`,
  `${longest}d`,
]

test('what is no address is told by its first characters, and nobody is looked for by it', async () => {
  for (const email of noAddresses) {
    await expect(created(email), email).rejects.toMatchObject({
      ...{ code: 'VALIDATION_FAILED', message: `${email.slice(0, 254)} is not an e-mail address.` },
    })
    const query = () => Promise.reject(new Error('asked'))
    expect(await findUser({ query } as never, email), email).toBeUndefined()
  }
  expect((await created(longest)).user.email).toBe(longest)
  expect(await findUser(database, longest)).toBeDefined()
})

test('users are listed oldest first, disabled ones with the time at which they were', async () => {
  for (const email of ['z@list.example', 'm@list.example', 'a@list.example']) await created(email)
  const listed = async () => (await listUsers(database)).filter(({ email }) => email.endsWith('@list.example'))
  await disableUser(database, 'm@list.example')
  const before = await listed()
  expect(before.map(({ email, disabledAt }) => [email, disabledAt])).toEqual([
    ['z@list.example', undefined],
    ['m@list.example', expect.any(Date)],
    ['a@list.example', undefined],
  ])
  await disableUser(database, 'm@list.example')
  expect(await listed()).toEqual(before)
})

test('a new password replaces the lost one and ends the sessions of its user, nobody else’s', async () => {
  const [{ password: lost }] = [await created('lost@clinic.example'), await created('other@clinic.example')]
  const [his, other] = [await session('lost@clinic.example'), await session('other@clinic.example')]
  expect([await his(), await other()]).toEqual([true, true])
  const password = await resetPassword(database, 'Lost@clinic.example')
  expect(password).toMatch(/^[0-9A-Za-z]{22}$/)
  const found = (await findUser(database, 'lost@clinic.example'))!
  expect([await proves(lost, found), await proves(password, found)]).toEqual([false, true])
  expect([await his(), await other()]).toEqual([false, true])
})

test('a disabled user signs in no more, has no session, and no new password', async () => {
  await created('gone@clinic.example')
  const [first, second] = [await session('gone@clinic.example'), await session('gone@clinic.example')]
  expect(await disableUser(database, ' GONE@clinic.example')).toBe(2)
  expect([await first(), await second()]).toEqual([false, false])
  expect(await findUser(database, 'gone@clinic.example')).toBeUndefined()
  expect(await disableUser(database, 'gone@clinic.example')).toBe(0)
  await expect(resetPassword(database, 'gone@clinic.example')).rejects.toMatchObject({
    ...{ code: 'NOT_FOUND', message: 'There is no active user gone@clinic.example.' },
  })
})

test('an address without a user is told folded, by its first characters', async () => {
  const [email, told] = [`${'X'.repeat(255)}@clinic.example`, 'x'.repeat(254)]
  await expect(resetPassword(database, email)).rejects.toMatchObject({
    ...{ code: 'NOT_FOUND', message: `There is no active user ${told}.` },
  })
  await expect(disableUser(database, email)).rejects.toMatchObject({
    ...{ code: 'NOT_FOUND', message: `There is no user ${told}.` },
  })
})
