// Calls the Connect operations as a client would, for people who are invented; and the clock of the service.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { vi } from 'vitest'
import { createClient } from '../../../src/identity/clients.ts'
import { type Answer, fhirCaller } from '../../support/fhir.ts'
import type { Service } from '../../support/service.ts'

export interface Somebody {
  readonly first_name?: string
  readonly last_name?: string
  readonly date_of_birth?: string
  readonly sex?: string
  readonly phone_number?: string
  readonly [more: string]: string | undefined
}

/** `resolve`, `verify` and `search` of a service. */
export function connectCaller(service: () => Service) {
  const call = fhirCaller(service)
  const json = { 'content-type': 'application/json' }
  const base = '/api/v1/connect'
  return {
    call,
    resolve: (body: unknown, headers: Record<string, string> = {}, token?: string): Promise<Answer> =>
      call('POST', `${base}/patients/resolve`, {
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { ...json, ...headers },
        token,
      }),
    verify: (healthId: string): Promise<Answer> =>
      call('GET', `${base}/patients/verify/${encodeURIComponent(healthId)}`),
    search: (healthId: string, token?: string): Promise<Answer> =>
      call('GET', `${base}/patient/search?health_id=${encodeURIComponent(healthId)}`, { token }),
  }
}

/** The current Patients of a service, all of them. */
export async function patientsOf(service: Service): Promise<Answer['body'][]> {
  const { body } = await fhirCaller(() => service)('GET', 'Patient?_count=1000')
  return (body.entry ?? []).map((entry: { resource: unknown }) => entry.resource)
}

/** The review Tasks of a service. */
export async function tasksOf(service: Service): Promise<Answer['body'][]> {
  const { body } = await fhirCaller(() => service)('GET', 'Task?code=possible-duplicate&_count=1000')
  return (body.entry ?? []).map((entry: { resource: unknown }) => entry.resource)
}

export const healthIdSystem = (service: Service): string => `${service.url}/fhir/NamingSystem/health-id`

/** A call as some client: `call('GET', '/api/v1/connect/…')`. */
export type Call = (method: string, path: string, body?: unknown) => Promise<Answer>

/** A client of the organisation with these scopes and no others. */
export async function clientOf(service: Service, organizationId: string, ...scopes: string[]): Promise<Call> {
  const { database, identity } = service.application
  const { client } = await createClient(database, 'local', { name: 'Test client', organizationId, scopes })
  const token = await identity.tokens.mint({ clientId: client.id, organizationId, consentExempt: false }, scopes)
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

/** The answer, and for how many milliseconds others waited meanwhile: the longest time, and all of it. */
export async function waited(request: () => Promise<Answer>) {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  const began = performance.now()
  delay.enable()
  const { status, body } = await request()
  delay.disable()
  return { status, body, longest: delay.max / 1e6, whole: performance.now() - began }
}
