// npm run admin: users of the portal, Bridge agents, and codes for patients, and that a running service knows of them at once.
import { beforeAll, describe, expect, test } from 'vitest'
import { findAgent } from '../../../src/identity/agents.ts'
import { mint } from '../../../src/lib/health-id.ts'
import { adminOn } from '../../support/admin.ts'
import { creatorBy, fhirCaller } from '../../support/fhir.ts'
import { type Answer, post } from '../../support/identity.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})

const { admin, told: tellAll } = adminOn(() => service.database)
const told = (...args: string[]) => tellAll(args)

const signIn = (email: string, password: string): Promise<Answer> =>
  post(service, '/api/v1/portal/session', { email, password })

describe('a user', () => {
  test('is created with a password that is shown once, signs in, is listed, and is disabled with every session', async () => {
    const args = [
      '--email',
      'Amina@Hospital.Example',
      '--organization',
      'hospital-a',
      '--role',
      'privacy_officer',
      '--role',
      'administrator',
    ]
    const { code, output } = await admin(['user', 'create', ...args])
    expect(code, output).toBe(0)
    const [, email, password] = /^email {5}(\S+)\npassword {2}(\S+)$/m.exec(output) ?? []
    expect(email).toBe('amina@hospital.example')
    expect(output).toContain('shown only once')
    const signedIn = await signIn(email!, password!)
    expect(signedIn.body).toMatchObject({
      email,
      organization_id: 'hospital-a',
      roles: ['administrator', 'privacy_officer'],
    })
    const { users } = await told('user', 'list')
    expect(users).toMatchObject([{ email, roles: ['administrator', 'privacy_officer'], disabled_at: null }])
    expect(JSON.stringify(users)).not.toContain(password)
    const disabled = await told('user', 'disable', email!)
    expect(disabled).toEqual({ email, disabled: true, sessions_ended: 1 })
    const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
    expect((await fetch(`${service.url}/api/v1/portal/session`, { headers: { cookie } })).status).toBe(401)
    expect((await signIn(email!, password!)).status).toBe(401)
    const again = await admin(['user', 'create', ...args])
    expect(again).toEqual({ code: 1, output: 'A user amina@hospital.example already exists.\n' })
  })

  test('who lost the password gets a new one, which ends the old one and every session', async () => {
    const email = 'forgetful@hospital.example'
    const { password } = await told('user', 'create', '--email', email, '--organization', 'hospital-a')
    const cookie = (await signIn(email, password)).headers.get('set-cookie')!.split(';')[0]!
    const reset = await told('user', 'reset-password', email)
    expect((await signIn(email, password)).status).toBe(401)
    expect((await signIn(email, reset.password)).body).toMatchObject({ email, roles: ['developer'] })
    expect((await fetch(`${service.url}/api/v1/portal/session`, { headers: { cookie } })).status).toBe(401)
    expect((await admin(['user', 'reset-password', 'no@body.example'])).code).toBe(1)
  })

  test('is listed, oldest first, with the time at which it was first disabled, and gets no password after that', async () => {
    const made = ['z@list.example', 'a@list.example']
    for (const email of made) await told('user', 'create', '--email', email, '--organization', 'hospital-a')
    await told('user', 'disable', made[1]!)
    const listed = async () => {
      const { users } = await told('user', 'list')
      return users.filter(({ email }: { email: string }) => made.includes(email))
    }
    const before = await listed()
    expect(before).toMatchObject([
      { email: made[0], disabled_at: null },
      { email: made[1], disabled_at: expect.stringMatching(/^\d{4}-/) },
    ])
    await told('user', 'disable', made[1]!)
    expect(await listed()).toEqual(before)
    const refused = await admin(['user', 'reset-password', made[1]!])
    expect(refused).toEqual({ code: 1, output: `There is no active user ${made[1]}.\n` })
  })

  test('has one of the roles, and an address', async () => {
    const common = ['user', 'create', '--organization', 'a']
    const role = await admin([...common, '--email', 'a@b.example', '--role', 'king'])
    expect(role.code).toBe(2)
    expect(role.output).toContain(
      'there is no role king; the roles are administrator, developer, informaticist, privacy_officer',
    )
    expect(await admin([...common, '--email', 'nobody'])).toEqual({
      code: 1,
      output: 'nobody is not an e-mail address.\n',
    })
    expect(await admin(['user', 'disable', 'no@body.example'])).toEqual({
      code: 1,
      output: 'There is no user no@body.example.\n',
    })
  })
})

test('clients, agents and users belong to an organization and a facility by id: a name is refused before anything is made', async () => {
  const cases: [string[], string][] = [
    [['client', 'create', '--name', 'A', '--scopes', 'labs:read', '--organization', 'Org A'], 'organization'],
    [['user', 'create', '--email', 'by.name@a.example', '--organization', 'Org A'], 'organization'],
    [['agent', 'create', '--name', 'A', '--facility', 'Org A'], 'facility'],
    [['agent', 'create', '--name', 'A', '--facility', 'ward-7', '--organization', 'Org A'], 'organization'],
  ]
  for (const [args, what] of cases) {
    const output = `"Org A" is not the id of a resource: give the id of the ${what}, not its name; an id has 1 to 64 letters, digits, hyphens and dots.\n`
    expect(await admin(args)).toEqual({ code: 1, output })
  }
  for (const what of ['client', 'user', 'agent']) expect((await admin([what, 'list'])).output).not.toContain('Org A')
})

describe('a Bridge agent', () => {
  const isKnown = async (id: string, key: string) => (await findAgent(service.application.database, id, key))?.id === id

  test('is created with a key that is shown once and kept as a hash, and listed without it', async () => {
    const made = await told('agent', 'create', '--name', 'Ward agent', '--facility', 'ward-7')
    expect(made).toMatchObject({ name: 'Ward agent', facility_id: 'ward-7', revoked_at: null })
    expect([made.agent_id, made.agent_key]).toEqual([
      expect.stringMatching(/^agt_[0-9A-Za-z]{20}$/),
      expect.stringMatching(/^bak_[0-9A-Za-z]{43}$/),
    ])
    expect(await isKnown(made.agent_id, made.agent_key)).toBe(true)
    for (const [id, key] of [
      [made.agent_id, `${made.agent_key}x`],
      [made.agent_id, ''],
      ['agt_nobody', made.agent_key],
      ['\0', made.agent_key],
    ])
      expect(await isKnown(id, key)).toBe(false)
    const { output } = await admin(['agent', 'list'])
    expect(output).toContain(made.agent_id)
    expect(output).not.toContain(made.agent_key)
    const [row] = await service.application.database.query<{ row: string }>({
      text: 'select to_jsonb(a)::text as row from bridge_agent a where id = $1',
      values: [made.agent_id],
    })
    expect(row!.row).not.toContain(made.agent_key.slice(4))
  })

  test('gets a new key; the one before works for the overlap, or ends at once; a revoked one has none', async () => {
    const { agent_id: id, agent_key: first } = await told('agent', 'create', '--name', 'A', '--facility', 'f')
    const second = (await told('agent', 'rotate-key', id)).agent_key
    expect(await Promise.all([first, second].map(key => isKnown(id, key)))).toEqual([true, true])
    const third = (await told('agent', 'rotate-key', id, '--overlap', '0')).agent_key
    expect(await Promise.all([first, second, third].map(key => isKnown(id, key)))).toEqual([false, false, true])
    expect(await told('agent', 'revoke', id)).toEqual({ agent_id: id, revoked: true })
    expect(await isKnown(id, third)).toBe(false)
    const { code, output } = await admin(['agent', 'rotate-key', id])
    expect({ code, output }).toEqual({ code: 1, output: `There is no active agent ${id}.\n` })
    expect((await admin(['agent', 'revoke', 'agt_nobody'])).output).toBe('There is no agent agt_nobody.\n')
  })

  test('is listed, oldest first, with the times of its last key and of the end that it came to first', async () => {
    const made: string[] = []
    for (const name of ['older', 'newer'])
      made.push((await told('agent', 'create', '--name', name, '--facility', 'f')).agent_id)
    await told('agent', 'rotate-key', made[0]!)
    await told('agent', 'revoke', made[1]!)
    const listed = async () => {
      const { agents } = await told('agent', 'list')
      return agents.filter((each: { agent_id: string }) => made.includes(each.agent_id))
    }
    const before = await listed()
    const time = expect.stringMatching(/^\d{4}-/)
    expect(before).toMatchObject([
      { name: 'older', rotated_at: time, revoked_at: null },
      { name: 'newer', rotated_at: null, revoked_at: time },
    ])
    await told('agent', 'revoke', made[1]!)
    expect(await listed()).toEqual(before)
  })
})

describe('patient enrol', () => {
  const healthId = 'CM-9C1T-3NR9-A9HC'
  const duplicate = 'CM-72GS-8CYN-J8XR'

  test('makes a code for the patient with the Health ID, which a telephone exchanges for a token', async () => {
    const system = `${service.url}/fhir/NamingSystem/health-id`
    await creatorBy(fhirCaller(() => service))(
      { resourceType: 'Patient', id: 'now', identifier: [{ use: 'official', system, value: healthId }] },
      {
        resourceType: 'Patient',
        id: 'duplicate',
        identifier: [{ use: 'official', system, value: duplicate }],
        link: [{ type: 'replaced-by', other: { reference: 'Patient/now' } }],
      },
    )
    const { code, output } = await admin(['patient', 'enrol', healthId.toLowerCase().replaceAll('-', ' ')])
    expect(code, output).toBe(0)
    const [, first] = /^code {5}(\S+)\nexpires {2}\d{4}-/m.exec(output) ?? []
    const second = await told('patient', 'enrol', duplicate)
    expect(second).toMatchObject({ health_id: healthId, patient_id: 'now' })
    const enrol = (code: string) => post(service, '/api/v1/mobile/enrol', { health_id: healthId, code })
    expect((await enrol(first!)).status).toBe(401)
    const enrolled = await enrol(second.code)
    expect(enrolled.status).toBe(201)
    const authorization = `Bearer ${enrolled.body.token}`
    expect((await post(service, '/api/v1/mobile/revoke', '', { authorization })).status).toBe(204)
  })

  test('is undone for a telephone that was lost: its token ends, and so does a code that was not used; no others do', async () => {
    const enrol = (code: string, id = healthId) => post(service, '/api/v1/mobile/enrol', { health_id: id, code })
    const stranger = mint('CM')
    await creatorBy(fhirCaller(() => service))({
      resourceType: 'Patient',
      id: 'stranger',
      identifier: [{ use: 'official', system: `${service.url}/fhir/NamingSystem/health-id`, value: stranger }],
    })
    const other = await enrol((await told('patient', 'enrol', stranger)).code, stranger)
    const another = (await told('patient', 'enrol', stranger)).code
    const lost = await enrol((await told('patient', 'enrol', healthId)).code)
    const { code } = await told('patient', 'enrol', healthId)
    expect(await told('patient', 'unenrol', healthId)).toEqual({ health_id: healthId, tokens_ended: 1 })
    const authorization = `Bearer ${lost.body.token}`
    expect((await post(service, '/api/v1/mobile/revoke', '', { authorization })).status).toBe(401)
    expect((await enrol(code)).status).toBe(401)
    const kept = { authorization: `Bearer ${other.body.token}` }
    expect((await post(service, '/api/v1/mobile/revoke', '', kept)).status).toBe(204)
    expect((await enrol(another, stranger)).status).toBe(201)
  })

  test('stays with the patient when two records are made one: the token is that of the one that stays', async () => {
    const [before, after] = [mint('CM'), mint('CM')]
    const put = (id: string, value: string, more: object = {}) => {
      const identifier = [{ use: 'official', system: `${service.url}/fhir/NamingSystem/health-id`, value }]
      return fhirCaller(() => service)('PUT', `Patient/${id}`, {
        body: { resourceType: 'Patient', id, identifier, ...more },
      })
    }
    await put('one', before)
    const { code } = await told('patient', 'enrol', before)
    const { body } = await post(service, '/api/v1/mobile/enrol', { health_id: before, code })
    await put('other', after)
    await put('one', before, { link: [{ type: 'replaced-by', other: { reference: 'Patient/other' } }] })
    const headers = { authorization: `Bearer ${body.token}` }
    const { patients } = service.application.identity
    expect(await patients.authenticate({ headers })).toMatchObject({ patientId: 'other', healthId: after })
    expect(await told('patient', 'unenrol', after)).toEqual({ health_id: after, tokens_ended: 1 })
    await expect(patients.authenticate({ headers })).rejects.toMatchObject({ code: 'TOKEN_INVALID' })
  })

  test('says why there is none: no Health ID, a mistyped one, or nobody has it', async () => {
    for (const [given, words] of [
      ['me', 'A Health ID must have the form CC-XXXX-XXXX-XXXX'],
      ['CM-9C1T-3NR9-A9HD', 'The check symbols of this Health ID are wrong'],
      ['CM-6TTH-APZW-3HP1', 'No patient is registered with the Health ID CM-6TTH-APZW-3HP1.'],
    ] as const) {
      const { code, output } = await admin(['patient', 'enrol', given])
      expect(code).toBe(1)
      expect(output).toContain(words)
    }
  })
})
