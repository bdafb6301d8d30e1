// An agent and the service itself: what programs of a clinic hand over becomes records, once, and refusals are mended and replayed.
import { beforeAll, expect, test } from 'vitest'
import { command } from '../../../src/bridge/commands.ts'
import { agentOf, type TestAgent } from '../../api/bridge/support.ts'
import { storeRecord } from '../../api/sdk/support.ts'
import { amina } from '../../support/cast.ts'
import { consentOf } from '../../support/consents.ts'
import { fhirCaller } from '../../support/fhir.ts'
import { until } from '../../support/process.ts'
import { type Service, startService } from '../../support/service.ts'
import { client } from '../../support/webhooks.ts'
import {
  freshFolder,
  type InProcess,
  localToken,
  portOf,
  runAgent,
  agent as tool,
  writeAgent,
} from '../support/agent.ts'
import { type Machine, startMachine } from '../support/machine.ts'
import { admission, fieldOf, openSender, verdictOf } from '../support/sender.ts'

const clinic = 'clinique-bastos'

let service: Service
let known: TestAgent
let file: string
let agent: InProcess
let analyser: Machine
const fhir = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
  await storeRecord(service)
  await fhir('PUT', `Organization/${clinic}`, {
    body: { resourceType: 'Organization', id: clinic, name: 'Clinique Bastos' },
  })
  known = await agentOf(service, clinic)
  analyser = await startMachine(message => `MSH|^~\\&|LIS||||||ACK|1|P|2.5\rMSA|AA|${fieldOf(message, 'MSH-10')}\r`)
  file = writeAgent(freshFolder(), service.url, {
    server: { url: service.url, agent_id: known.id, agent_key: known.key, facility_id: known.facility },
    sources: { lab: { kind: 'mllp', port: 0 } },
    targets: { analyser: { host: '127.0.0.1', port: analyser.port, answer_seconds: 2 } },
  })
  agent = await runAgent(file)
})

const potassium = (value: string, healthId = amina) => ({
  type: 'lab_result',
  payload: { health_id: healthId, test_name: 'Serum potassium', result_value: value, flagged: false },
})

/** Posts items to the agent, waits until they are sent, and returns their ids. */
async function post(items: readonly object[]): Promise<string[]> {
  const headers = { authorization: `Bearer ${localToken}`, 'content-type': 'application/json' }
  const response = await fetch(`http://127.0.0.1:${agent.port}/items`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ items }),
  })
  expect(response.status).toBe(202)
  await isEmpty()
  return ((await response.json()) as { item_ids: string[] }).item_ids
}

const isEmpty = (): Promise<void> =>
  until('the queue is empty', async () => (await agent.status()).queue.pending === 0, 15)

/** What the service stored for an item. */
const stored = async (itemId: string): Promise<number> =>
  (await fhir('GET', `Observation?_source=urn:health-interop:bridge:${known.id}%23${itemId}`)).body.entry?.length ?? 0

const quarantine = async () => JSON.parse((await tool('quarantine', 'list', '--json', '--config', file)).out)

test('results that a program posts are records of the agent’s facility', async () => {
  const ids = await post([potassium('4.1 mmol/L'), potassium('4.2 mmol/L')])
  expect(await Promise.all(ids.map(stored))).toEqual([1, 1])
  expect(await agent.status()).toMatchObject({ quarantined: 0, trouble: null, acked_through_seq: 2 })
})

test('what the service refuses is in quarantine with its words, what is behind it is stored, and a retry is tried afresh', async () => {
  const [wrong, right] = await post([potassium('4.3 mmol/L', 'CM-0000-0000-0000'), potassium('4.4 mmol/L')])
  expect([await stored(wrong!), await stored(right!)]).toEqual([0, 1])
  expect(await quarantine()).toMatchObject([{ item_id: wrong, source: 'http', origin: 'server' }])
  const shown = JSON.parse((await tool('quarantine', 'show', wrong!, '--json', '--config', file)).out)
  expect(shown.message).not.toBe('')
  expect((await tool('quarantine', 'retry', wrong!, '--config', file)).code).toBe(0)
  await until(
    'it was refused again',
    async () => (await quarantine()).length === 1 && (await agent.status()).acked_through_seq === 5,
    15,
  )
})

test('an admission over MLLP is a person and an encounter of the clinic, and the same again is nothing new', async () => {
  const sender = await openSender(await portOf(agent))
  const people = async () => (await fhir('GET', 'Patient?family=Abena&given=Jeanne')).body.entry?.length ?? 0
  expect(verdictOf(await sender.ask(admission('STORY-1')))).toBe('AA STORY-1')
  await isEmpty()
  expect(await people()).toBe(1)
  expect((await fhir('GET', 'Encounter?subject:Patient.family=Abena')).body.entry).toHaveLength(1)
  expect(verdictOf(await sender.ask(admission('STORY-1')))).toBe('AA STORY-1')
  await isEmpty()
  expect(await people()).toBe(1)
})

test('a message of a kind that nobody knows is acknowledged, refused by the service, and keeps nobody waiting', async () => {
  const sender = await openSender(await portOf(agent))
  expect(verdictOf(await sender.ask(admission('POISON').replace('ADT^A01^ADT_A01', 'QQQ^Q99')))).toBe('AA POISON')
  const [next] = await post([potassium('4.5 mmol/L')])
  expect(await stored(next!)).toBe(1)
  expect((await quarantine()).map((each: { type: string }) => each.type)).toContain('hl7v2')
})

test('the key is rotated by a command, and the agent goes on with the new one', async () => {
  await command(service.application.database, known.id, 'rotate_key', {})
  await until('the key was rotated', () => agent.lines.join('').includes('the key was rotated'), 30)
  const [next] = await post([potassium('4.6 mmol/L')])
  expect(await stored(next!)).toBe(1)
  expect((await tool('doctor', '--config', file)).out).toMatch(/good {2}key/)
})

test('an order that a physician makes in FHIR is at the analyser as OML, and its cancellation after it', async () => {
  const somebody = await client(service, clinic)
  const channel = {
    type: 'message',
    endpoint: `urn:health-interop:bridge:${known.id}#analyser`,
    header: ['MSH-5: LIS'],
  }
  const criteria = 'ServiceRequest?category=108252007'
  const body = { resourceType: 'Subscription', status: 'requested', reason: 'orders', criteria, channel }
  expect((await fhir('POST', 'Subscription', { body, token: somebody.token })).status).toBe(201)
  const subject = { reference: 'Patient/ordered' }
  const order = {
    ...{ resourceType: 'ServiceRequest', id: 'ordered', intent: 'order', subject },
    category: [{ coding: [{ system: 'http://snomed.info/sct', code: '108252007' }] }],
    code: { coding: [{ system: 'http://loinc.org', code: '718-7' }] },
  }
  await fhir('PUT', 'Patient/ordered', {
    body: { resourceType: 'Patient', id: 'ordered', name: [{ family: 'Onana' }] },
  })
  await fhir('PUT', 'Consent/ordered', { body: consentOf('ordered', 'ordered', clinic) })
  await fhir('PUT', 'ServiceRequest/ordered', { body: { ...order, status: 'active' } })
  await until('the order is at the analyser', () => analyser.got.length === 1, 15)
  expect(analyser.got[0]).toMatch(/OML\^O21.*\rPID\|.*Onana.*\rORC\|NW\|ordered\^/s)
  await fhir('PUT', 'ServiceRequest/ordered', { body: { ...order, status: 'revoked' } })
  await until('the cancellation is at the analyser', () => analyser.got.length === 2, 15)
  expect(analyser.got[1]).toMatch(/\rORC\|CA\|ordered\^/)
})
