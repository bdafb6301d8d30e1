// One caller of each kind, and what each sends to prove who he is.
import { createClient } from '../../../src/identity/clients.ts'
import { sessionCookie } from '../../../src/identity/cookies.ts'
import { demoScopes } from '../../../src/identity/demo.ts'
import { issueCode } from '../../../src/identity/enrolment.ts'
import { createUser } from '../../../src/identity/users.ts'
import type { Failure } from '../../../src/lib/failure.ts'
import type { Service } from '../../support/service.ts'
import type { CallerKind, Proofs } from './world.ts'

export interface Callers {
  readonly proofs: Proofs
  /** Proves a patient or a user anew, after what may have signed him out; not if wrong codes for him were tried just now. */
  renew(kind: CallerKind): Promise<void>
}

/** @param patient whose telephone is enrolled. */
export async function createCallers(service: Service, patient: { id: string; healthId: string }): Promise<Callers> {
  const { database, identity } = service.application
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const organizationId = 'demo-organization'
  const all = { name: 'All scopes', organizationId, scopes: demoScopes }
  const { client, secret } = await createClient(database, 'local', all)
  const mint = (clientId: string, scopes: readonly string[]) =>
    identity.tokens.mint({ clientId, organizationId, consentExempt: false }, [...scopes])
  const email = 'somebody@hospital.example'
  const { password } = await createUser(database, { email, organizationId, roles: ['developer'] })
  // Of its own, so that it does not pay for what others try.
  const address = '192.0.2.1'
  const renewed = {
    async patient() {
      const { code } = await issueCode(database, patient.id, Date.now())
      return bearer((await identity.patients.enrol({ healthId: patient.healthId, code, address })).token)
    },
    async user() {
      return {
        cookie: `${sessionCookie}=${(await identity.sessions.begin({ email, password, address, requestId: 'request' })).cookie}`,
      }
    },
  }
  const proofs: Record<CallerKind, Record<string, string>> = {
    exempt: bearer(service.token),
    client: bearer(await mint(client.id, demoScopes)),
    scopeless: bearer(await mint(client.id, [])),
    nobody: {},
    patient: await renewed.patient(),
    user: await renewed.user(),
    secret: { authorization: `Basic ${btoa(`${client.id}:${secret}`)}` },
  }
  return {
    proofs,
    async renew(kind) {
      if (kind !== 'patient' && kind !== 'user') return
      proofs[kind] = await renewed[kind]().catch((error: Failure) => {
        if (error.code === 'AUTH_THROTTLED') return proofs[kind]
        throw error
      })
    },
  }
}
