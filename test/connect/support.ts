// Calls the Connect operations as a client would, for people who are invented.
import type { Answer } from '../support/fhir.ts'
import { fhirCaller } from '../support/fhir.ts'
import type { Service } from '../support/service.ts'

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
