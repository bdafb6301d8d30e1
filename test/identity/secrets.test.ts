// How secrets are checked: what it costs, who is throttled, and how a client changes over to a new one.
import { beforeAll, expect, test } from 'vitest'
import type { Derive } from '../../src/identity/argon2.ts'
import { addSecret, listClients, newSecret, revokeClient, rotateSecret } from '../../src/identity/clients.ts'
import { createLog } from '../../src/lib/log.ts'
import {
  argon2idOnce,
  eventually,
  newClient,
  type Process,
  post,
  signIn,
  startProcess,
  tokenPath,
  useToken,
} from '../support/identity.ts'

let service: Process
beforeAll(async () => {
  service = await startProcess()
})

const status = async (answer: ReturnType<typeof signIn>) => (await answer).status

test('secrets have a prefix that scanners know and 43 random symbols, and are stored as Argon2id only', async () => {
  const { id, secret } = await newClient(service)
  expect(secret).toMatch(/^sk_test_[0-9A-Za-z]{43}$/)
  expect(newSecret('production')).toMatch(/^sk_live_[0-9A-Za-z]{43}$/)
  const rows = await service.database.query<{ row: string }>({
    text: `select to_jsonb(s)::text as row from client_secret s where client_id = $1`,
    values: [id],
  })
  expect(rows).toHaveLength(1)
  expect(rows[0]!.row).toContain('$argon2id$v=19$m=19456,t=2,p=1$')
  expect(rows[0]!.row).not.toContain(secret.slice(8))
})

test('a secret is hashed once in ten minutes, however often it is used', async () => {
  const { id, secret } = await newClient(service)
  const before = service.hashes()
  for (let times = 0; times < 5; times++) expect(await status(signIn(service, id, secret))).toBe(200)
  expect(service.hashes() - before).toBe(1)
  service.advance(599)
  expect(await status(signIn(service, id, secret))).toBe(200)
  expect(service.hashes() - before).toBe(1)
  service.advance(1)
  expect(await status(signIn(service, id, secret))).toBe(200)
  expect(service.hashes() - before).toBe(2)
})

test('a hundred sign-ins at once with the same new secret cost one hash and all succeed', async () => {
  const { id, secret } = await newClient(service)
  const before = service.hashes()
  const answers = await Promise.all(Array.from({ length: 100 }, () => status(signIn(service, id, secret))))
  expect(new Set(answers)).toEqual(new Set([200]))
  expect(service.hashes() - before).toBe(1)
})

test('an unknown client, a wrong secret, a client with two secrets and a revoked one cost the same: one hash', async () => {
  const [one, two, gone] = [await newClient(service), await newClient(service), await newClient(service)]
  await addSecret(service.database, 'local', two.id)
  await revokeClient(service.database, gone.id)
  for (const [id, secret] of [
    ['nobody', 'x'],
    [one.id, 'x'],
    [two.id, 'x'],
    [gone.id, gone.secret],
    ['\u0000', 'x'],
  ] as const) {
    const before = service.hashes()
    expect(await status(signIn(service, id, secret))).toBe(401)
    expect(service.hashes() - before).toBe(1)
  }
})

test('after ten failures a client is throttled from that address: 429 with Retry-After, and no hash, until time has passed', async () => {
  const { id, secret } = await newClient(service)
  for (let times = 0; times < 10; times++) expect(await status(signIn(service, id, 'wrong'))).toBe(401)
  const before = service.hashes()
  for (const tried of ['wrong', secret]) {
    const answer = await signIn(service, id, tried)
    expect(answer.status).toBe(429)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(answer.body).toMatchObject({
      error_code: 'AUTH_THROTTLED',
      retry_after: Number(answer.headers.get('retry-after')),
      error: 'temporarily_unavailable',
    })
  }
  expect(service.hashes()).toBe(before)
  service.advance(7)
  expect(await status(signIn(service, id, secret))).toBe(200)
})

test('someone guessing does not lock out a client whose secret is remembered, nor any other client', async () => {
  const [one, other] = [await newClient(service), await newClient(service)]
  expect(await status(signIn(service, one.id, one.secret))).toBe(200)
  for (let times = 0; times < 12; times++) await signIn(service, one.id, 'wrong')
  expect(await status(signIn(service, one.id, 'wrong'))).toBe(429)
  expect(await status(signIn(service, one.id, one.secret))).toBe(200)
  expect(await status(signIn(service, other.id, other.secret))).toBe(200)
})

test('failures that come all at once are counted before they are hashed', async () => {
  const { id } = await newClient(service)
  const before = service.hashes()
  const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => status(signIn(service, id, `guess ${at}`))))
  expect(answers.filter(each => each === 401)).toHaveLength(10)
  expect(answers.filter(each => each === 429)).toHaveLength(30)
  expect(service.hashes() - before).toBe(10)
})

test('guessing at ever new client ids from one address is throttled too', async () => {
  const attacked = await startProcess({ derive: cheap })
  for (let at = 0; at < 100; at++) expect(await status(signIn(attacked, `guess-${at}`, 'x'))).toBe(401)
  expect(await status(signIn(attacked, 'guess-100', 'x'))).toBe(429)
})

test('when more sign-ins wait than can be hashed soon, the rest is told to come back: 503, never 401', async () => {
  let open: (() => void) | undefined
  const gate = new Promise<void>(done => (open = done))
  const slow: Derive = async (secret, recipe) => {
    await gate
    return argon2idOnce(secret, recipe)
  }
  const busy = await startProcess({ derive: slow })
  const { id, secret } = await newClient(busy)
  const crowd = Array.from({ length: 90 }, (_, at) => signIn(busy, `crowd-${at}`, 'x'))
  await eventually(async () => (await Promise.race([...crowd, undefined]))?.status === 503)
  const answer = await signIn(busy, id, secret)
  open!()
  expect(answer.status).toBe(503)
  expect(answer.body).toMatchObject({ error_code: 'UNAVAILABLE', retry_after: 1 })
  await Promise.all(crowd)
  expect(await status(signIn(busy, id, secret))).toBe(200)
})

test('rotation gives a new secret and leaves the old one its time of overlap', async () => {
  const { id, secret } = await newClient(service)
  const fresh = await rotateSecret(service.database, 'local', id, { label: 'autumn' })
  expect(await status(signIn(service, id, secret))).toBe(200)
  expect(await status(signIn(service, id, fresh))).toBe(200)
  const [listed] = (await listClients(service.database)).filter(each => each.id === id)
  expect(listed!.secrets.map(each => [each.label, each.expiresAt !== undefined])).toEqual([
    ['first', true],
    ['autumn', false],
  ])
  await service.database.query({
    text: 'update client_secret set expires_at = now() where client_id = $1 and expires_at is not null',
    values: [id],
  })
  expect(await status(signIn(service, id, secret))).toBe(401)
  expect(await status(signIn(service, id, fresh))).toBe(200)
})

test('rotation without overlap ends the old secret at once, in a process that remembers it too', async () => {
  const other = await startProcess({ beside: service })
  const { id, secret } = await newClient(service)
  expect(await status(signIn(other, id, secret))).toBe(200)
  const fresh = await rotateSecret(service.database, 'local', id, { overlap: 0 })
  expect(await status(signIn(other, id, secret))).toBe(401)
  expect(await status(signIn(other, id, fresh))).toBe(200)
})

test('a second rotation ends at once what the first left its time', async () => {
  const { id, secret } = await newClient(service)
  const second = await rotateSecret(service.database, 'local', id)
  const third = await rotateSecret(service.database, 'local', id, { overlap: 60 })
  expect(await Promise.all([secret, second, third].map(each => status(signIn(service, id, each))))).toEqual([
    401, 200, 200,
  ])
  const { secrets } = (await listClients(service.database)).find(each => each.id === id)!
  expect(secrets.map(({ expiresAt }) => (expiresAt ? Math.round((+expiresAt - Date.now()) / 60_000) : 0))).toEqual([
    1, 0,
  ])
  // Ended ones are no longer in the way of another.
  await rotateSecret(service.database, 'local', id, { overlap: 0 })
  await addSecret(service.database, 'local', id)
})

test('at most two secrets live: a third is refused, and rotating ends the oldest', async () => {
  const { id, secret } = await newClient(service)
  const second = await addSecret(service.database, 'local', id)
  await expect(addSecret(service.database, 'local', id)).rejects.toMatchObject({ code: 'CONFLICT' })
  const third = await rotateSecret(service.database, 'local', id)
  expect(await Promise.all([secret, second, third].map(each => status(signIn(service, id, each))))).toEqual([
    401, 200, 200,
  ])
})

test('of many secrets that are added at once, one is', async () => {
  const { id } = await newClient(service)
  const added = await Promise.allSettled([1, 2, 3].map(() => addSecret(service.database, 'local', id)))
  expect(added.filter(each => each.status === 'fulfilled')).toHaveLength(1)
})

test('clients are listed oldest first, and a revoked one with the time at which it was first revoked', async () => {
  const [{ id: older }, { id: newer }] = [await newClient(service), await newClient(service)]
  const listed = async () => (await listClients(service.database)).filter(({ id }) => [older, newer].includes(id))
  await revokeClient(service.database, newer)
  const before = await listed()
  expect(before.map(({ id, revokedAt }) => [id, revokedAt])).toEqual([
    [older, undefined],
    [newer, expect.any(Date)],
  ])
  await revokeClient(service.database, newer)
  expect(await listed()).toEqual(before)
})

test('a revoked client gets no token, and the tokens it has stop working in every process', async () => {
  const other = await startProcess({ beside: service })
  const { id, secret } = await newClient(service)
  const { body } = await signIn(service, id, secret)
  expect((await useToken(other, body.access_token)).status).toBe(200)
  await revokeClient(service.database, id)
  expect(await status(signIn(service, id, secret))).toBe(401)
  for (const each of [service, other])
    await eventually(async () => (await useToken(each, body.access_token)).status === 401)
})

test('a client is created with known scopes only, and its id once', async () => {
  await expect(newClient(service, { scopes: ['labs:read', 'all'] })).rejects.toMatchObject({
    code: 'VALIDATION_FAILED',
  })
  await newClient(service, { id: 'taken' })
  await expect(newClient(service, { id: 'taken' })).rejects.toMatchObject({ code: 'CONFLICT' })
})

test('when a secret was last used is on record', async () => {
  const { id, secret } = await newClient(service)
  await signIn(service, id, secret)
  await eventually(
    async () =>
      (await listClients(service.database)).find(each => each.id === id)!.secrets[0]!.lastUsedAt !== undefined,
  )
})

test('the use of a secret is noted once a minute', async () => {
  const { id, secret } = await newClient(service)
  const run = (text: string) => service.database.query<{ at: Date }>({ text, values: [] })
  await run('create table noted (at timestamptz)')
  await run(`create function note() returns trigger language plpgsql as
    $$ begin insert into noted values (new.last_used_at); return new; end $$`)
  await run(
    `create trigger note before update of last_used_at on client_secret for each row when (new.client_id = '${id}') execute function note()`,
  )
  const notes = async () => (await run('select at from noted order by at')).map(({ at }) => +at)
  const began = service.now()
  for (const [seconds, expected] of [
    [0, [began]],
    [59, [began]],
    [1, [began, began + 60_000]],
  ] as const) {
    service.advance(seconds)
    expect(await status(signIn(service, id, secret))).toBe(200)
    await eventually(async () => (await notes()).length >= expected.length)
    expect(await notes()).toEqual(expected)
  }
  await run('drop function note cascade')
})

test('no secret and no token is ever in the log', async () => {
  const { log, text } = listeningLog()
  const logged = await startProcess({ log })
  const { id, secret } = await newClient(logged)
  const { body } = await signIn(logged, id, secret)
  await useToken(logged, body.access_token)
  await useToken(logged, `${body.access_token}x`)
  await signIn(logged, id, 'sk_test_mistyped')
  await post(logged, tokenPath, new URLSearchParams({ grant_type: 'client_credentials' }), {
    authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
  })
  await post(logged, '/api/v1/connect/auth/revoke', { token: body.access_token, client_id: id, client_secret: secret })
  await eventually(async () => text().split('\n').length > 6)
  for (const hidden of [secret, 'mistyped', body.access_token.slice(0, 40), body.access_token.slice(-40), '$argon2id'])
    expect(text()).not.toContain(hidden)
})

const cheap: Derive = async (_secret, { tagLength }) => Buffer.alloc(tagLength)

function listeningLog() {
  const log = createLog('debug')
  let text = ''
  const stream = Reflect.get(log, Object.getOwnPropertySymbols(log).find(each => each.description === 'pino.stream')!)
  stream.write = (line: string) => (text += line)
  return { log, text: () => text }
}
