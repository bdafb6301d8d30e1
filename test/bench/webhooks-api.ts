// What the benches of webhooks ask the service: subscriptions, patients, and encounters, each of which is an event.
import { Agent, request } from 'undici'
import { mint } from '../../src/lib/health-id.ts'

type Json = Record<string, unknown>

export interface Api {
  call(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<Json>
  /** Removes all subscriptions, and makes one for each URL. */
  subscribe(urls: readonly string[], events?: readonly string[]): Promise<string[]>
  /** Sees to it that there are the patients of whom encounters are. */
  ensurePatients(): Promise<void>
  /** Writes encounters in transactions, several at a time. @returns their ids */
  writeEncounters(many: number): Promise<string[]>
}

/** In one transaction, and transactions at a time. */
const encountersEach = 100
const concurrency = 4
const patients = 200

const fhir = '/api/fhir/R4'
const subscriptions = '/api/v1/connect/webhooks/subscriptions'

export const patientId = (index: number): string => `bench-webhooks-${index % patients}`

export const encounterOf = (index: number): Json => ({
  resourceType: 'Encounter',
  status: 'in-progress',
  class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
  subject: { reference: `Patient/${patientId(index)}` },
  period: { start: '2026-03-14T09:30:00Z' },
})

export function createApi(base: string, token: string): Api {
  const agent = new Agent({ connections: 128 })
  const headers = { authorization: `Bearer ${token}` }
  const call: Api['call'] = async (method, path, body) => {
    const contentType = path.startsWith(fhir) ? 'application/fhir+json' : 'application/json'
    const sent = body && { body: JSON.stringify(body), headers: { ...headers, 'content-type': contentType } }
    const reply = await request(base + path, { method, dispatcher: agent, headers, ...sent })
    const text = await reply.body.text()
    if (reply.statusCode >= 300) throw new Error(`${method} ${path}: ${reply.statusCode} ${text}`)
    return text === '' ? {} : (JSON.parse(text) as Json)
  }
  return {
    call,
    async subscribe(urls, events = ['encounter.created']) {
      for (const id of await subscribed(call)) await call('DELETE', `${subscriptions}/${id}`)
      const ids: string[] = []
      for (const callback_url of urls)
        ids.push(String((await call('POST', subscriptions, { callback_url, subscribed_events: events }))['id']))
      return ids
    },
    async ensurePatients() {
      const amina = await call('GET', `${fhir}/Patient/amina-bello`)
      const { system } = (amina['identifier'] as { system: string }[])[0]!
      const there = await call('GET', `${fhir}/Patient/${patientId(patients - 1)}`).catch(() => undefined)
      if (!there)
        await call('POST', fhir, transaction(Array.from({ length: patients }, (_, index) => person(index, system))))
    },
    writeEncounters: many => writeEncounters(call, many),
  }
}

async function subscribed(call: Api['call']): Promise<string[]> {
  const { data } = await call('GET', `${subscriptions}?limit=100`)
  return (data as { id: string }[]).map(({ id }) => id)
}

function person(index: number, system: string): object {
  const id = patientId(index)
  const identifier = [{ use: 'official', system, value: mint('CM') }]
  const resource = { resourceType: 'Patient', id, identifier, name: [{ family: `Bench ${index}` }] }
  return { resource, request: { method: 'PUT', url: `Patient/${id}` } }
}

const creation = (index: number): object => ({
  resource: encounterOf(index),
  request: { method: 'POST', url: 'Encounter' },
})

const transaction = (entry: readonly object[]): object => ({ resourceType: 'Bundle', type: 'transaction', entry })

async function writeEncounters(call: Api['call'], many: number): Promise<string[]> {
  const ids: string[] = []
  let next = 0
  const write = async (): Promise<void> => {
    while (next < many) {
      const first = next
      next = Math.min(many, next + encountersEach)
      const entries = Array.from({ length: next - first }, (_, index) => creation(first + index))
      ids.push(...createdIn(await call('POST', fhir, transaction(entries))))
    }
  }
  await Promise.all(Array.from({ length: concurrency }, write))
  return ids
}

/** The ids of what a transaction has created. */
const createdIn = ({ entry }: Json): string[] =>
  (entry as { response: { location: string } }[]).map(
    ({ response }) => /Encounter\/([^/]+)/.exec(response.location)![1]!,
  )
