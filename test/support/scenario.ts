// One request through the public door, and everything that comes of it: status, body, events and audit trail.
import type pg from 'pg'
import { expect, test } from 'vitest'
import type { AuditRow } from '../../src/audit/rows.ts'
import { type Answer, type CallOptions, fhirCaller } from './fhir.ts'
import type { Service } from './service.ts'
import { databaseOf, rowsOf } from './trail.ts'
import { eventsOfRequest } from './webhooks.ts'

/** A client, or a patient's telephone, of a service. */
export interface Actor {
  readonly service: () => Service
  readonly token: () => Promise<string>
}

/** A client of the organisation with these scopes, whom consent filters. It may be named before the service starts. */
export const actorOf = (service: () => Service, organizationId: string, ...scopes: string[]): Actor => ({
  service,
  token: () =>
    service().application.identity.tokens.mint(
      { clientId: `client-of-${organizationId}`, organizationId, consentExempt: false },
      scopes,
    ),
})

export interface Scenario {
  readonly as: Actor
  /** Paths are as in `fhirCaller`; an object as body is sent as FHIR below the FHIR base, and as JSON elsewhere. */
  readonly request: readonly [method: string, path: string, options?: CallOptions]
  readonly status: number
  /** What the body contains at least. */
  readonly body?: object
  /** Types of the events that the request causes, in order. */
  readonly events: readonly string[]
  /** What the trail tells of the request, in order: `create Patient`, `records.read (refused)`; the words are those of `told`. */
  readonly audit: readonly string[]
}

/** Makes one test of a request. It states the status, the body in part, and exactly the events and the audit rows of this request. */
export function scenario(name: string, { as, request, status, body, events, audit }: Scenario): void {
  test(name, async () => {
    const service = as.service()
    const answer = await send(as, ...request)
    expect(answer.status, answer.text).toBe(status)
    if (body) expect(answer.body).toMatchObject(body)
    const requestId = answer.headers.get('x-request-id')
    expect(requestId).toBeTruthy()
    expect(await eventsOfRequest(service, requestId!), 'events').toEqual(events)
    expect((await rowsOf(await trailOf(service), requestId!)).map(told), 'audit').toEqual(audit)
  })
}

async function send(as: Actor, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const type = path.startsWith('/') ? 'application/json' : 'application/fhir+json'
  const headers = { ...(options.body === undefined ? {} : { 'content-type': type }), ...options.headers }
  return fhirCaller(as.service)(method, path, { token: await as.token(), ...options, headers })
}

const trails = new WeakMap<Service, Promise<pg.Client>>()
function trailOf(service: Service): Promise<pg.Client> {
  const trail = trails.get(service) ?? databaseOf(service)
  trails.set(service, trail)
  return trail
}

/** Operations by their addresses; what is not named here is told by its address. */
const operations: readonly (readonly [address: RegExp, word: string])[] = [
  [/^.*connect\/patients\/resolve$/, 'patient.resolve'],
  [/^.*connect\/patients\/verify\/.*$/, 'patient.verify'],
  [/^.*connect\/patient\/search(\?.*)?$/, 'patient.search'],
  [/^.*connect\/patient\/[^/]+\/records(\?.*)?$/, 'records.read'],
  [/^.*connect\/patient\/[^/]+\/consent\/(\w+)$/, 'consent.$1'],
  [/^.*connect\/pharmacy\/stock$/, 'stock.report'],
  [/^.*sdk\/patients\/[^/]+\/summary$/, 'patient.summary'],
  [/^.*sdk\/patients\/[^/]+\/fhir\/(.*)$/, 'patient.fhir $1'],
  [/^.*sdk\/records\/(.*)$/, 'push $1'],
  [/^.*sdk\/consents\/requests$/, 'consent.request'],
  [/^.*mobile\/consents\/[^/]+\/(\w+)$/, 'mobile consent.$1'],
]

/** A row in words: the interaction and its type, or the operation; `by condition`, `(refused)` and `(failed)` where it is so. */
function told({ action, interaction, resource_type: type, query, outcome }: AuditRow): string {
  const named = operations.find(([address]) => address.test(query))
  const isOperation = interaction === 'operation'
  const deed = `${interaction.replace(/-(type|system|instance)$/, '')} ${type}`.trim()
  const condition = query.includes('?') && 'CUD'.includes(action) ? ' by condition' : ''
  const what = isOperation ? (named ? query.replace(...(named as [RegExp, string])) : query) : deed + condition
  return what + (outcome === 0 ? '' : outcome === 4 ? ' (refused)' : ' (failed)')
}
