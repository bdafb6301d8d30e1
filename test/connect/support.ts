// Clients of Connect with scopes and an organisation of their own, and the clock of the service.
import { vi } from 'vitest'
import { createClient } from '../../src/auth/clients.ts'
import { type Answer, fhirCaller } from '../support/fhir.ts'
import type { Service } from '../support/service.ts'

/** A call as some client: `call('GET', '/api/v1/connect/…')`. */
export type Call = (method: string, path: string, body?: unknown) => Promise<Answer>

/** A client of the organisation with these scopes and no others. */
export async function clientOf(service: Service, organizationId: string, ...scopes: string[]): Promise<Call> {
  const { database, identity } = service.application
  const { client } = await createClient(database, 'local', { name: 'Test client', organizationId, scopes })
  const token = await identity.tokens.mint({ clientId: client.id, organizationId }, scopes)
  const call = fhirCaller(() => service)
  return (method, path, body) =>
    call(method, path, { token, body, headers: body === undefined ? {} : { 'content-type': 'application/json' } })
}

/** Sets the clock of this process, in which the service runs, until `vi.useRealTimers()`; timers go on. */
export function setClock(moment: string | number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(moment) })
}

/** The ids of the page and of all that follow it, as `pick` names them. */
export async function allPages(
  call: Call,
  path: string,
  pick: (item: Record<string, unknown>) => unknown,
): Promise<unknown[]> {
  const found: unknown[] = []
  let cursor = ''
  do {
    const { body } = await call('GET', `${path}${cursor}`)
    found.push(...body.data.map(pick))
    cursor = body.has_more ? `&cursor=${body.next_cursor}` : ''
  } while (cursor)
  return found
}
