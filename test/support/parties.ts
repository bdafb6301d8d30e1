// Clients of organisations, as the register knows them: each may do everything that scopes open, and none is exempt from consent.
import { createClient } from '../../src/identity/clients.ts'
import { type Answer, type CallOptions, fhirCaller } from './fhir.ts'
import type { Service } from './service.ts'

export interface Party {
  readonly clientId: string
  readonly token: string
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<Answer>
}

/** A registered client of the organisation, with all FHIR interactions and these scopes. */
export async function partyOf(service: Service, organizationId: string, ...more: string[]): Promise<Party> {
  const { database, identity } = service.application
  const scopes = ['system/*.cruds', ...more]
  const { client } = await createClient(database, 'local', { name: 'Test client', organizationId, scopes })
  const token = await identity.tokens.mint({ clientId: client.id, organizationId, consentExempt: false }, scopes)
  const call = fhirCaller(() => service)
  return { clientId: client.id, token, call: (method, path, options) => call(method, path, { token, ...options }) }
}

export const jsonHeaders = { accept: 'application/json', 'content-type': 'application/json' }
export const patchHeaders = { 'content-type': 'application/json-patch+json' }

export const bundleOf = (type: string, ...entry: object[]) => ({ resourceType: 'Bundle', type, entry })

/** An entry that a Bundle writes. */
export const entryOf = (method: string, url: string, resource?: object) => ({ resource, request: { method, url } })
