// Every way to prove who one is, on routes of each kind: what is taken, what is refused, and what the audit trail says of it.
import type pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Asker, type Caller, onBehalfOf } from '../../src/access/caller.ts'
import { sealingKey } from '../../src/audit/chain.ts'
import { verifyTrail } from '../../src/audit/verify.ts'
import { createAuditWriter } from '../../src/audit/writer.ts'
import { createIdempotency } from '../../src/http/idempotency.ts'
import { createLimits, sameQuotas } from '../../src/http/limits.ts'
import { listen } from '../../src/http/listen.ts'
import {
  bearer,
  clientCredentials,
  open,
  patientToken,
  type Route,
  reply,
  route,
  session,
} from '../../src/http/route.ts'
import { createApp } from '../../src/http/server.ts'
import { demoClient } from '../../src/identity/demo-accounts.ts'
import { issueCode } from '../../src/identity/enrolment.ts'
import { createUser } from '../../src/identity/users.ts'
import { createLog } from '../../src/lib/log.ts'
import { networks } from '../../src/lib/networks.ts'
import { fhirPathInvariants } from '../../src/store/validate/fhirpath-invariants.ts'
import { createValidator } from '../../src/store/validate.ts'
import { onCleanup } from '../support/cleanup.ts'
import { creatorBy, fhirCaller } from '../support/fhir.ts'
import { type Answer, post } from '../support/identity.ts'
import { freePort } from '../support/process.ts'
import { testKey } from '../support/server.ts'
import { type Service, startService } from '../support/service.ts'
import { databaseOf, rowsOf } from '../support/trail.ts'

const healthId = 'CM-TQYE-6SRK-YQ6S'
const key = sealingKey(Buffer.from(testKey, 'base64'))
let service: Service
let database: pg.Client
/** Routes of each kind, on the parts of the service. */
let probes: { url: string }
const call = fhirCaller(() => service)

/** What each scheme is proved with. */
let proofs: Record<'bearer' | 'client' | 'patient' | 'session', Record<string, string>>

beforeAll(async () => {
  service = await startService()
  database = await databaseOf(service)
  await creatorBy(call)({
    resourceType: 'Patient',
    id: 'amina',
    identifier: [{ use: 'official', system: `${service.url}/fhir/NamingSystem/health-id`, value: healthId }],
  })
  probes = { url: await serveProbes() }
  const { email, password } = await user()
  const begun = await post(service, '/api/v1/portal/session', { email, password })
  const { code } = await issueCode(service.application.database, 'amina', Date.now())
  const enrolled = await post(service, '/api/v1/mobile/enrol', { health_id: healthId, code })
  proofs = {
    bearer: { authorization: `Bearer ${service.token}` },
    client: { 'x-client-id': demoClient.id, 'x-client-secret': demoClient.secret },
    patient: { authorization: `Bearer ${enrolled.body.token}` },
    session: { cookie: begun.headers.get('set-cookie')!.split(';')[0]! },
  }
})

async function user() {
  const email = 'privacy@hospital.example'
  const roles = ['privacy_officer'] as const
  return { email, ...(await createUser(service.application.database, { email, organizationId: 'hospital-a', roles })) }
}

const plain = { method: 'POST', tag: 'API', summary: 'Asks who it is', replies: { 200: null } } as const

/** Each tells what its handler got, which is what the type checker says that it gets; reads the patient in that name. */
function probeRoutes(): Route[] {
  const read = (caller: Asker) =>
    service.application.storeFor(onBehalfOf(caller, { Patient: 'r' })).read('Patient', 'amina')
  return [
    route({ ...plain, path: '/open', operationId: 'o', access: open, handle: ({ caller }) => reply(200, { caller }) }),
    route({
      ...plain,
      path: '/bearer',
      operationId: 'b',
      access: bearer(),
      async handle({ caller }) {
        await read(caller)
        return reply(200, { client: caller.clientId, scopes: caller.scopes.length })
      },
    }),
    route({
      ...plain,
      path: '/client',
      operationId: 'c',
      access: clientCredentials,
      handle: ({ caller }) => reply(200, { client: caller.clientId }),
    }),
    route({
      ...plain,
      path: '/patient',
      operationId: 'p',
      access: patientToken,
      async handle({ caller }) {
        await read(caller)
        return reply(200, { patient: caller.patientId, healthId: caller.healthId, random: Math.random() })
      },
    }),
    route({
      ...plain,
      path: '/session',
      operationId: 's',
      access: session,
      async handle({ caller }) {
        await read(caller)
        const { email, organizationId, roles } = caller
        return reply(200, { email, organizationId, roles, random: Math.random() })
      },
    }),
  ]
}

async function serveProbes(): Promise<string> {
  const { application } = service
  const log = createLog('silent')
  const now = () => new Date()
  const audit = createAuditWriter({ database: application.database, key, log, now })
  const app = createApp({
    routes: probeRoutes(),
    authenticate: application.identity.authenticate,
    readPurpose: caller => caller,
    ...{ database: application.database, searchTimeout: 10_000 },
    limits: createLimits(sameQuotas(1_000_000)),
    idempotency: createIdempotency({
      database: application.database,
      unitOfWork: (_caller, work) => application.database.transaction(work),
      log,
      now,
    }),
    audit,
    log,
    observer: { begun: () => {}, answered: () => {} },
    baseUrl: undefined,
    trustedProxies: networks(''),
    maxBodyBytes: 1_000_000,
  })
  const port = await freePort()
  const listening = await listen(app, port, '127.0.0.1')
  onCleanup(() => listening.close())
  return `http://127.0.0.1:${port}`
}

const ask = (path: string, headers: Record<string, string> = {}): Promise<Answer> => post(probes, path, '', headers)

const told = {
  bearer: { client: demoClient.id, scopes: expect.any(Number) },
  client: { client: demoClient.id },
  patient: { patient: 'amina', healthId, random: expect.any(Number) },
  session: {
    email: 'privacy@hospital.example',
    organizationId: 'hospital-a',
    roles: ['privacy_officer'],
    random: expect.any(Number),
  },
}
const schemes = ['bearer', 'client', 'patient', 'session'] as const

describe.each(schemes)('a route of %s', scheme => {
  test('takes its own proof, and its handler gets whom that proves', async () => {
    const answer = await ask(`/${scheme}`, proofs[scheme])
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: told[scheme] })
  })

  test.each(['open', ...schemes.filter(each => each !== scheme)] as const)('refuses that of %s: 401', async other => {
    const answer = await ask(`/${scheme}`, other === 'open' ? {} : proofs[other])
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBeTruthy()
    expect(answer.body.message).toMatch(/[Ss]end |requires|Sign in|must use HTTP Basic/)
  })
})

test('a handler cannot take one kind of caller for another', () => {
  const ofPatient = { ...plain, path: '/x', operationId: 'x', access: patientToken }
  const ofUser = { ...plain, path: '/y', operationId: 'y', access: session }
  const forClients = (caller: Caller) => reply(200, caller.clientId)
  // @ts-expect-error a patient has no roles
  route({ ...ofPatient, handle: ({ caller }) => reply(200, caller.roles) })
  // @ts-expect-error nor has a user a Health ID
  route({ ...ofUser, handle: ({ caller }) => reply(200, caller.healthId) })
  // @ts-expect-error a user of the portal is no client
  route({ ...ofUser, handle: ({ caller }) => forClients(caller) })
})

test('an open route has no caller, whatever is sent', async () => {
  expect((await ask('/open', { ...proofs.bearer, ...proofs.session })).body).toEqual({})
})

const traced = async (path: string, headers: Record<string, string>) => {
  const requestId = `schemes-${Math.random().toString(36).slice(2, 12)}`
  const answer = await ask(path, { ...headers, 'x-request-id': requestId })
  return { answer, rows: await rowsOf(database, requestId) }
}

/** The AuditEvent that a search of the service finds, which must be one and valid. */
async function event(query: string) {
  const { body, text } = await call('GET', `AuditEvent?${query}`)
  expect(body.entry, text).toHaveLength(1)
  const { resource } = body.entry[0]
  expect(createValidator({ invariants: fhirPathInvariants })(resource, { type: 'AuditEvent' })).toEqual([])
  return resource
}

const agents = (resource: { agent: { type: { coding: { code: string }[] }; requestor: boolean; who: object }[] }) =>
  resource.agent.map(({ type, requestor, who }) => [type.coding[0]!.code, requestor, who])

describe('the audit trail', () => {
  test('says what a patient did, and shows him as the one who asked', async () => {
    const { rows } = await traced('/patient', proofs.patient)
    expect(rows).toMatchObject([{ client_id: 'patient/amina', organization_id: '', action: 'R', patients: ['amina'] }])
    const [row] = rows
    const resource = await event(`_id=${row!.chain}-${row!.sequence}`)
    expect(agents(resource)).toEqual([
      ['110152', false, { display: 'the telephone of the patient' }],
      ['110153', false, expect.anything()],
      ['IRCP', true, { reference: 'Patient/amina' }],
    ])
    expect(resource.agent[2].policy).toEqual([`urn:ietf:params:oauth:jti:${row!.token_id}`])
    expect(row!.token_id).toMatch(/^[0-9A-Za-z]{22}$/)
    expect((await call('GET', 'AuditEvent?agent=Patient/amina&_count=1')).body.entry[0].resource.id).toBe(resource.id)
  })

  test('says what a user of the portal did, and shows him with his organisation', async () => {
    const { rows } = await traced('/session', proofs.session)
    expect(rows).toMatchObject([
      { client_id: expect.stringMatching(/^user\/usr_/), organization_id: 'hospital-a', patients: ['amina'] },
    ])
    const [row] = rows
    const resource = await event(`_id=${row!.chain}-${row!.sequence}`)
    expect(agents(resource)).toEqual([
      ['110152', false, { display: 'the portal' }],
      ['110153', false, expect.anything()],
      ['IRCP', true, { identifier: { value: row!.client_id } }],
      ['PROV', false, { identifier: { value: 'hospital-a' } }],
    ])
    expect(resource.agent[2].policy).toEqual([`urn:uuid:${row!.token_id}`])
    const byAgent = await call('GET', `AuditEvent?agent:identifier=${row!.client_id}&_count=1`)
    expect(byAgent.body.entry[0].resource.id).toBe(resource.id)
  })

  test('holds what was refused too', async () => {
    const { rows } = await traced('/session', {})
    expect(rows).toMatchObject([{ client_id: '', outcome: 4, problem: 'UNAUTHENTICATED' }])
    const wrong = await traced('/patient', { authorization: 'Bearer pat_x' })
    expect(wrong.rows).toMatchObject([{ client_id: '', outcome: 4, problem: 'TOKEN_INVALID' }])
  })

  test('is whole with all of that in it', async () => {
    const verdict = await verifyTrail(service.application.database, key, [])
    expect(verdict).toMatchObject({ isWhole: true })
  })
})

describe('an Idempotency-Key', () => {
  test.each(['patient', 'session'] as const)(
    'of a %s gives the first reply again, which is on record as such',
    async scheme => {
      const headers = { ...proofs[scheme], 'idempotency-key': `key of ${scheme}` }
      const first = await ask(`/${scheme}`, headers)
      const again = await traced(`/${scheme}`, headers)
      expect(again.answer.headers.get('idempotent-replayed')).toBe('true')
      expect(again.answer.body).toEqual(first.body)
      expect(again.rows).toMatchObject([{ interaction: 'operation', patients: ['amina'], resources: 1 }])
    },
  )

  test('belongs to whoever sent it: the same one of somebody else is another', async () => {
    const keyed = { 'idempotency-key': 'a key of many' }
    for (const scheme of ['bearer', 'patient', 'session'] as const) {
      const answer = await ask(`/${scheme}`, { ...proofs[scheme], ...keyed })
      expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([200, null])
    }
  })
})

test('the description names the schemes, and the routes that take them', async () => {
  const { body } = await call('GET', '/openapi.json')
  expect(body.components.securitySchemes).toMatchObject({
    MobileToken: { type: 'http', scheme: 'bearer' },
    SessionAuth: { type: 'apiKey', in: 'cookie', name: 'service_session' },
  })
  expect(body.paths['/api/v1/mobile/revoke'].post.security).toEqual([{ MobileToken: [] }])
  expect(body.paths['/api/v1/portal/session'].get.security).toEqual([{ SessionAuth: [] }])
  expect(body.paths['/api/v1/portal/session'].delete.security).toEqual([{ SessionAuth: [] }])
  expect(body.paths['/api/v1/portal/session'].post.security).toEqual([{}])
})
