// npm run admin: what an administrator does to clients and keys, and that a running service knows of it.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { duration } from '../../../src/commands/admin/duration.ts'
import { adminOn } from '../../support/admin.ts'
import { eventually, type Process, signIn, startProcess, useToken } from '../../support/identity.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let service: Process
beforeAll(async () => {
  service = await startProcess()
})

const { admin, adminProcess, told: tellAll } = adminOn(() => (service.connection as { database: string }).database)
const told = (...args: string[]) => tellAll(args)

const ward = [
  '--name',
  'Ward system',
  '--organization',
  'hospital-a',
  '--scopes',
  'patients:read system/Observation.rs',
]

describe('a client', () => {
  test('is created with a secret that is shown once, and can sign in', async () => {
    const { code, output } = await adminProcess(['client', 'create', ...ward])
    expect(code, output).toBe(0)
    const [, id, secret] = /^client_id {6}(\S+)\nclient_secret {2}(\S+)$/m.exec(output) ?? []
    expect(secret).toMatch(/^sk_test_/)
    expect(output).toContain('shown only once')
    const { status, body } = await signIn(service, id!, secret!)
    expect({ status, scope: body.scope }).toEqual({ status: 200, scope: 'patients:read system/Observation.rs' })
  })

  test('is listed with what it may and its live secrets, but without these', async () => {
    const made = await told('client', 'create', ...ward, '--consent-exempt')
    expect(made).toMatchObject({ consent_exempt: true, organization_id: 'hospital-a' })
    const { clients } = await told('client', 'list')
    const listed = clients.find((each: { client_id: string }) => each.client_id === made.client_id)
    expect(listed).toMatchObject({ name: 'Ward system', consent_exempt: true, revoked_at: null })
    expect(listed.secrets).toMatchObject([{ label: 'first', expires_at: null, last_used_at: null }])
    const { output } = await admin(['client', 'list'])
    expect(output).toContain(made.client_id)
    expect(output).not.toContain(made.client_secret)
  })

  test('gets a new secret; the one before works for the overlap, or ends at once', async () => {
    const { client_id: id, client_secret: first } = await told('client', 'create', ...ward)
    const status = async (secret: string) => (await signIn(service, id, secret)).status
    expect(await status(first)).toBe(200)
    const second = await told('client', 'rotate-secret', id, '--overlap', '30m')
    expect(second.overlap_seconds).toBe(1800)
    expect([await status(first), await status(second.client_secret)]).toEqual([200, 200])
    const third = await told('client', 'rotate-secret', id, '--overlap', '0')
    expect([await status(first), await status(second.client_secret), await status(third.client_secret)]).toEqual([
      401, 401, 200,
    ])
  })

  test('that is revoked can neither sign in nor use a token it has', async () => {
    const { client_id: id, client_secret: secret } = await told('client', 'create', ...ward)
    const token = (await signIn(service, id, secret)).body.access_token
    expect((await useToken(service, token)).status).toBe(200)
    expect(await told('client', 'revoke', id)).toEqual({ client_id: id, revoked: true })
    expect((await signIn(service, id, secret)).status).toBe(401)
    await eventually(async () => (await useToken(service, token)).status === 401)
    expect((await admin(['client', 'rotate-secret', id])).code).toBe(1)
  })
})

describe('keys rotate', () => {
  test('has the running service sign by the next key, and accept what was signed before', async () => {
    const { client_id: id, client_secret: secret } = await told('client', 'create', ...ward)
    const before = service.identity.keys.active().kid
    const token = (await signIn(service, id, secret)).body.access_token
    const { active, retired } = await told('keys', 'rotate')
    expect(retired).toBe(before)
    await eventually(async () => service.identity.keys.active().kid === active)
    expect((await useToken(service, token)).status).toBe(200)
  })

  test('is refused under an ENCRYPTION_KEY that is not that of the service', async () => {
    const before = service.identity.keys.active().kid
    const { code, output } = await admin(['keys', 'rotate'], {
      ENCRYPTION_KEY: Buffer.alloc(32, 'x').toString('base64'),
    })
    expect({ code, isTold: output.includes('encrypted with another key') }).toEqual({ code: 1, isTold: true })
    await service.identity.keys.load()
    expect(service.identity.keys.active().kid).toBe(before)
  })
})

test('what cannot be done ends with 1 and a sentence, wrong arguments with 2 and where to look', async () => {
  const cases: [string[], number, string][] = [
    [['client', 'revoke', 'nobody'], 1, 'There is no client nobody.\n'],
    [['client', 'create', '--name', 'A', '--organization', 'B', '--scopes', 'all'], 1, 'There is no scope all.\n'],
    [['client', 'create', '--name', 'A'], 2, '--organization is required\n'],
    [['client', 'revoke'], 2, 'specify one client\n'],
    [['client', 'lsit'], 2, 'there is no command client lsit; did you mean client list?\n'],
    [['client', 'rotate-secret', 'x', '--overlap', '8d'], 2, '8d is not a duration up to 7d'],
  ]
  for (const [args, code, words] of cases) {
    const outcome = await admin(args)
    expect(outcome.code, outcome.output).toBe(code)
    expect(outcome.output).toContain(words)
  }
  for (const [args] of [cases[0]!, cases[2]!]) expect(await adminProcess(args)).toEqual(await admin(args))
})

test('what reads, changes or verifies needs a database that is there, and makes none', async () => {
  const folder = join(await temporaryFolder('nothing'), 'typo')
  const embedded = { DATABASE_URL: '', DATA_DIR: folder }
  for (const args of [
    ['audit', 'verify'],
    ['client', 'list'],
    ['client', 'revoke', 'x'],
    ['keys', 'rotate'],
  ]) {
    const output = `There is no database in ${folder}: set DATA_DIR to the folder of the service, or start the service once, which creates it.\n`
    expect(await admin(args, embedded)).toEqual({ code: 1, output })
  }
  expect(existsSync(folder)).toBe(false)
})

test('every command explains itself, without a database', async () => {
  const overview = await adminProcess(['--help'], { DATABASE_URL: 'postgresql://nowhere.invalid/x' })
  expect(overview.code).toBe(0)
  const names = [...overview.output.matchAll(/^ {2}([a-z]+ [a-z-]+)/gm)].map(([, name]) => name!)
  expect(names).toEqual(expect.arrayContaining(['client create', 'client list', 'client revoke', 'keys rotate']))
  const { code, output } = await admin(['client', 'create', '--help'], {
    DATABASE_URL: 'postgresql://nowhere.invalid/x',
  })
  expect(code).toBe(0)
  expect(output).toContain('--consent-exempt')
})

test('every group lists its commands, and no others, for --help and for a name that ends there', async () => {
  const nowhere = { DATABASE_URL: 'postgresql://nowhere.invalid/x' }
  const commandsIn = (text: string) => [...text.matchAll(/^ {2}([a-z-]+ [a-z][a-z-]*)/gm)].map(([, name]) => name!)
  const all = commandsIn((await admin(['--help'], nowhere)).output)
  const groups = [...new Set(all.map(name => name.split(' ')[0]!))]
  expect(groups).toEqual(expect.arrayContaining(['client', 'agent', 'user', 'patient', 'keys', 'audit']))
  for (const group of groups) {
    const help = await admin([group, '--help'], nowhere)
    expect(help.code, help.output).toBe(0)
    expect(help.output).toMatch(new RegExp(`^Usage: npm run admin -- ${group} COMMAND …\n`))
    expect(commandsIn(help.output)).toEqual(all.filter(name => name.startsWith(`${group} `)))
    expect(await admin([group], nowhere)).toEqual({ code: 2, output: help.output })
  }
  expect(await adminProcess(['client', '--help'], nowhere)).toEqual(await admin(['client', '--help'], nowhere))
  expect((await admin(['nothing', '--help'], nowhere)).output).toContain('there is no command nothing; ')
})

test('a length of time is a number and a unit', () => {
  expect(['90s', '30m', '24h', '7d', '0', '0h'].map(each => duration(each, 604_800))).toEqual([
    90, 1800, 86_400, 604_800, 0, 0,
  ])
  for (const text of ['', '24', '1w', '-1h', '1.5h', '8d']) expect(() => duration(text, 604_800)).toThrow('write 30m')
})
