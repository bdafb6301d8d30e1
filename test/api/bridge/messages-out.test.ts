// Changes of resources go out as HL7 v2 messages to the receivers behind Bridge agents, by Subscriptions of type `message`.
import { beforeAll, describe, expect, test } from 'vitest'
import { command } from '../../../src/bridge/commands.ts'
import { revokeAgent } from '../../../src/identity/agents.ts'
import { revokeClient } from '../../../src/identity/clients.ts'
import { adminOn } from '../../support/admin.ts'
import { consentOf } from '../../support/consents.ts'
import { creatorBy, fhirCaller, issueOf } from '../../support/fhir.ts'
import { until } from '../../support/process.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'
import { client, quiet, type Somebody } from '../../support/webhooks.ts'
import { agentOf, type TestAgent } from './support.ts'

let service: Service
let clinic: Somebody
const call = fhirCaller(() => service)
const store = creatorBy(call)
let number = 0
const { admin, told: tellAll } = adminOn(() => service.database)
const told = (...args: string[]) => tellAll(args)

beforeAll(async () => {
  service = await startService()
  clinic = await client(service, 'clinic')
})

const subscription = (agent: { readonly id: string }, criteria: string, channel: object = {}) => ({
  resourceType: 'Subscription',
  status: 'requested',
  reason: 'orders for the laboratory',
  criteria,
  channel: {
    type: 'message',
    endpoint: `urn:health-interop:bridge:${agent.id}#laboratory`,
    payload: 'application/hl7-v2',
    header: ['MSH-5: LIS', 'MSH-6: LABO'],
    ...channel,
  },
})

const subscribe = async (agent: TestAgent, criteria = 'ServiceRequest', channel: object = {}, who = clinic) => {
  const body = subscription(agent, criteria, channel)
  const { status, text, body: stored } = await call('POST', 'Subscription', { body, token: who.token })
  expect(status, text).toBe(201)
  return stored.id as string
}

/** A patient who has opened the record to the clinic, with an order. */
const ordered = async ({ opens = true } = {}) => {
  const id = `out-${++number}`
  const patient = { resourceType: 'Patient', id, name: [{ family: 'NGO BIH' }], birthDate: '1990-04-12' }
  const specimen = {
    ...{ resourceType: 'Specimen', id: `specimen-${id}`, subject: { reference: `Patient/${id}` } },
    type: { text: 'Sang' },
  }
  const order = {
    ...{ resourceType: 'ServiceRequest', id: `order-${id}`, status: 'active', intent: 'order' },
    code: { coding: [{ system: 'http://loinc.org', code: '2345-7', display: 'Glucose' }] },
    subject: { reference: `Patient/${id}` },
    specimen: [{ reference: `Specimen/specimen-${id}` }],
  }
  await store(patient, specimen, ...(opens ? [consentOf(`consent-${id}`, id, 'clinic')] : []))
  await store(order)
  await quiet(service)
  return order
}

const put = async (resource: { readonly resourceType: string; readonly id: string }) => {
  const { status, text } = await call('PUT', `${resource.resourceType}/${resource.id}`, { body: resource })
  expect(status, text).toBeLessThan(300)
  await quiet(service)
}

const offered = async (agent: TestAgent, after = '0') => {
  const { status, body } = await agent.call('GET', `commands?after=${after}`)
  expect(status).toBe(200)
  return body.commands as {
    readonly id: string
    readonly payload: { readonly target: string; readonly message: string }
  }[]
}

const acknowledged = async (agent: TestAgent, id: string, status = 'done') =>
  expect((await agent.call('POST', `commands/${id}/ack`, { status })).status).toBe(200)

const endings = async (agent: TestAgent) =>
  service.application.database.query<{ status: string; message: string | null }>({
    text: 'select status, message from bridge_command where agent_id = $1 order by id',
    values: [agent.id],
  })

const lines = (message: string, ...names: string[]) =>
  message.split('\r').filter(each => names.includes(each.slice(0, 3)))

describe('an order', () => {
  test('reaches the laboratory behind the agent as OML^O21, with its patient and its specimen', async () => {
    const agent = await agentOf(service, 'lab-one', 'clinic')
    await subscribe(agent)
    const { id } = await ordered()
    const [found, ...others] = await offered(agent)
    expect(others).toEqual([])
    expect(found!.payload.target).toBe('laboratory')
    const { message } = found!.payload
    expect(message).toMatch(
      new RegExp(
        `^MSH\\|\\^~\\\\&\\|HEALTH-INTEROP\\|clinic\\|LIS\\|LABO\\|\\d{14}\\+0000\\|\\|OML\\^O21\\^OML_O21\\|${found!.id}\\|P\\|2\\.5\\.1`,
      ),
    )
    expect(lines(message, 'PID')[0]).toContain('|NGO BIH|')
    expect(lines(message, 'ORC', 'OBR')).toEqual([
      `ORC|NW|${id}^HEALTH-INTEROP`,
      `OBR|1|${id}^HEALTH-INTEROP||2345-7^Glucose^LN`,
    ])
    expect(lines(message, 'SPM')).toEqual(['SPM|1|||^Sang'])
  })

  test('is named by the results that answer it, of the same patient alone', async () => {
    const agent = await agentOf(service, 'lab-answers', 'clinic')
    await subscribe(agent)
    const { id, subject } = await ordered()
    const [sent] = await offered(agent)
    const [pid] = lines(sent!.payload.message, 'PID')
    const answer = async (person: string, filler: string) => {
      const message = [
        `MSH|^~\\&|LIS|LABO|HI|HI|20260314104207||ORU^R01^ORU_R01|A${filler}|P|2.5.1`,
        person,
        `ORC|RE|${id}^HEALTH-INTEROP|${filler}^LABO`,
        `OBR|1|${id}^HEALTH-INTEROP|${filler}^LABO|2345-7^Glucose^LN|||20260314091500|||||||||||||||20260314104000||CH|F`,
        'OBX|1|NM|2345-7^Glucose^LN||5.1|mmol/L|||||F|||20260314103000',
      ]
      const { body } = await agent.sync([{ type: 'hl7v2', payload: { message: message.join('\r') } }])
      expect(body, JSON.stringify(body)).toMatchObject({ accepted: 1, rejected: [] })
    }
    await answer(pid!, 'F-1')
    await answer('PID|1||other^^^LABO^MR||FOTSO^Paul||19700101|M', 'F-2')
    const mixedUp = pid!.replace('|NGO BIH||19900412', '|FOTSO^Paul||19700101|M')
    const { body: refused } = await agent.sync([
      {
        type: 'hl7v2',
        payload: { message: ['MSH|^~\\&|LIS|LABO|HI|HI|20260314104207||ADT^A08|A-3|P|2.5.1', mixedUp].join('\r') },
      },
    ])
    expect(refused.rejected).toMatchObject([{ error_code: 'VALIDATION_FAILED', field: 'Patient.identifier' }])
    expect(refused.rejected[0].message).toContain('The id belongs to a person with another name')
    for (const type of ['DiagnosticReport', 'Observation']) {
      const { body } = await call('GET', `${type}?based-on=ServiceRequest/${id}`)
      expect(body.entry.map((each: { resource: object }) => each.resource)).toMatchObject([{ subject }])
    }
  })

  test('that changes after it was sent goes out as changed, and one that is revoked as cancelled', async () => {
    const agent = await agentOf(service, 'lab-two', 'clinic')
    await subscribe(agent)
    const order = await ordered()
    const [first] = await offered(agent)
    await acknowledged(agent, first!.id)
    await put({ ...order, priority: 'stat' } as never)
    const [second] = await offered(agent)
    expect(lines(second!.payload.message, 'ORC')[0]).toMatch(/^ORC\|XO\|/)
    await acknowledged(agent, second!.id)
    await put({ ...order, status: 'revoked' } as never)
    const [third] = await offered(agent)
    expect(lines(third!.payload.message, 'ORC')[0]).toMatch(/^ORC\|CA\|/)
  })

  test('that changes before the agent asks is sent once, as it is then', async () => {
    const agent = await agentOf(service, 'lab-three', 'clinic')
    await subscribe(agent)
    const order = await ordered()
    await put({ ...order, priority: 'asap' } as never)
    await put({ ...order, priority: 'stat' } as never)
    const found = await offered(agent)
    expect(found.map(({ payload }) => lines(payload.message, 'OBR')[0]!.split('|')[5])).toEqual(['S'])
    expect((await offered(agent)).map(({ id }) => id)).toEqual(found.map(({ id }) => id))
  })

  test('that changes while it is offered and not acknowledged is sent again', async () => {
    const agent = await agentOf(service, 'lab-four', 'clinic')
    await subscribe(agent)
    const order = await ordered()
    const [first] = await offered(agent)
    await put({ ...order, priority: 'stat' } as never)
    const [second] = await offered(agent, first!.id)
    expect(lines(second!.payload.message, 'ORC', 'OBR')).toEqual([
      `ORC|XO|${order.id}^HEALTH-INTEROP`,
      `OBR|1|${order.id}^HEALTH-INTEROP||2345-7^Glucose^LN|S`,
    ])
  })

  test('that came from this agent is not sent back to it', async () => {
    const agent = await agentOf(service, 'lab-five', 'clinic')
    await subscribe(agent)
    const order = await ordered()
    const { id: _id, ...own } = order
    const identifier = [{ system: 'https://lab.example/orders', value: 'L-1' }]
    const { status, body } = await agent.sync([{ type: 'fhir', payload: { ...own, identifier } }])
    expect([status, body.rejected]).toEqual([200, []])
    await quiet(service)
    expect(await offered(agent)).toHaveLength(1)
    expect(await endings(agent)).toEqual([
      { status: 'pending', message: null },
      { status: 'done', message: 'The resource came from this agent.' },
    ])
  })
})

describe('nothing is sent', () => {
  test('of a patient whose consent does not open it to the subscriber', async () => {
    const agent = await agentOf(service, 'lab-six', 'clinic')
    await subscribe(agent)
    await ordered({ opens: false })
    expect(await offered(agent)).toEqual([])
    expect(await endings(agent)).toEqual([])
  })

  test('once the consent has ended, even if the command waits already', async () => {
    const agent = await agentOf(service, 'lab-seven', 'clinic')
    await subscribe(agent)
    const { subject } = await ordered()
    const patient = subject.reference.slice('Patient/'.length)
    await put({ ...consentOf(`consent-${patient}`, patient, 'clinic'), status: 'inactive' } as never)
    expect(await offered(agent)).toEqual([])
    expect(await endings(agent)).toEqual([
      { status: 'failed', message: 'The resource no longer exists, or the subscriber may not read it.' },
    ])
  })

  test('if the subscriber may not read the patient, without whom a message is of nobody', async () => {
    const agent = await agentOf(service, 'lab-eight', 'clinic')
    const orders = await client(service, 'clinic', {
      scopes: ['system/ServiceRequest.rs', 'system/Subscription.cruds'],
    })
    await subscribe(agent, 'ServiceRequest', {}, orders)
    await ordered()
    expect(await offered(agent)).toEqual([])
    const [ending] = await endings(agent)
    expect(ending!.status).toBe('failed')
    expect(ending!.message).toMatch(/Patient/)
  })

  test('after the Subscription has ended, or its client is revoked', async () => {
    const agent = await agentOf(service, 'lab-nine', 'clinic')
    const other = await client(service, 'clinic')
    const id = await subscribe(agent)
    await subscribe(agent, 'ServiceRequest?status=active', {}, other)
    await ordered()
    expect((await call('DELETE', `Subscription/${id}`, { token: clinic.token })).status).toBe(204)
    await revokeClient(service.application.database, other.clientId)
    expect(await offered(agent)).toEqual([])
    expect((await endings(agent)).map(({ status }) => status)).toEqual(['failed', 'failed'])
  })
})

test('what is disclosed by a message is on record, with the patient and the command', async () => {
  const agent = await agentOf(service, 'lab-ten', 'clinic')
  const id = await subscribe(agent)
  const order = await ordered()
  const { body, headers } = await agent.call('GET', 'commands')
  const [found] = body.commands
  const trail = await databaseOf(service)
  const rows = await rowsOf(trail, headers.get('x-request-id')!)
  await trail.end()
  expect(rows).toEqual([
    expect.objectContaining({
      query: `bridge/commands/${found!.id}?subscription=Subscription/${id}`,
      resource_type: 'ServiceRequest',
      client_id: agent.id,
      outcome: 0,
      patients: [order.subject.reference.slice('Patient/'.length)],
    }),
  ])
})

test('a result goes out as ORU^R01, an appointment as SIU and a person as ADT^A08', async () => {
  const agent = await agentOf(service, 'his', 'clinic')
  for (const type of ['DiagnosticReport', 'Appointment', 'Patient'])
    await subscribe(agent, `${type}?_id=his-1`, { endpoint: `urn:health-interop:bridge:${agent.id}#his` })
  await store(consentOf('consent-his-1', 'his-1', 'clinic'), {
    ...{ resourceType: 'Patient', id: 'his-1', name: [{ family: 'FOKOU' }] },
  })
  const subject = { reference: 'Patient/his-1' }
  const code = { text: 'Glycémie' }
  await store({ resourceType: 'Observation', id: 'his-1', status: 'final', code, subject, valueString: 'normale' })
  await store({
    ...{ resourceType: 'DiagnosticReport', id: 'his-1', status: 'final', code, subject },
    result: [{ reference: 'Observation/his-1' }],
  })
  await store({
    ...{ resourceType: 'Appointment', id: 'his-1', status: 'booked', start: '2026-05-04T09:00:00Z' },
    ...{ end: '2026-05-04T09:30:00Z', participant: [{ actor: subject, status: 'accepted' }] },
  })
  await quiet(service)
  const found = await offered(agent)
  expect(found.map(({ payload }) => payload.target)).toEqual(['his', 'his', 'his'])
  const kinds = found.map(({ payload }) => payload.message.split('|')[8]).sort()
  expect(kinds).toEqual(['ADT^A08^ADT_A01', 'ORU^R01^ORU_R01', 'SIU^S12^SIU_S12'])
  const result = found.find(({ payload }) => payload.message.includes('ORU'))!
  expect(lines(result.payload.message, 'OBX')[0]).toContain('normale')
})

describe('a Subscription of type message is refused', () => {
  const refusal = async (body: object, token = clinic.token) => {
    const { status, body: outcome } = await call('POST', 'Subscription', { body, token })
    const { diagnostics, expression } = issueOf(outcome)
    return [status, `${expression?.[0]} ${diagnostics}`]
  }

  test('for an agent of another organisation, as for one that does not exist or is revoked', async () => {
    const [other, revoked] = [await agentOf(service, 'elsewhere'), await agentOf(service, 'gone', 'clinic')]
    await revokeAgent(service.application.database, revoked.id)
    for (const { id } of [other, revoked, { id: 'agt_none' }])
      expect(await refusal(subscription({ id }, 'ServiceRequest'))).toEqual([
        422,
        'Subscription.channel.endpoint must name an active Bridge agent of your organisation',
      ])
  })

  test('for a type without a map, an endpoint that is no receiver, and a header that is none of a message', async () => {
    const agent = await agentOf(service, 'lab-eleven', 'clinic')
    expect((await refusal(subscription(agent, 'Flag')))[1]).toContain(
      'Patient, ServiceRequest, DiagnosticReport, Appointment',
    )
    expect((await refusal(subscription(agent, 'Patient', { endpoint: 'https://lab.example' })))[1]).toContain(
      'urn:health-interop:bridge:',
    )
    expect((await refusal(subscription(agent, 'Patient', { payload: 'application/fhir+json' })))[1]).toContain(
      'application/hl7-v2',
    )
    for (const header of ['MSH-9: ADT^A01', 'Authorization: x', 'MSH-12: 3', 'MSH-5:'])
      expect((await refusal(subscription(agent, 'Patient', { header: [header] })))[1]).toContain('channel.header[0]')
  })
})

test('an agent that is revoked gets nothing more, and its Subscription says so', async () => {
  const agent = await agentOf(service, 'lab-twelve', 'clinic')
  const id = await subscribe(agent)
  await revokeAgent(service.application.database, agent.id)
  await ordered()
  await until('the Subscription says so', async () => (await call('GET', `Subscription/${id}`)).body.status === 'error')
  expect(await endings(agent)).toEqual([])
})

describe('a message that cannot be made', () => {
  test('is listed with the reason, keeps no other waiting, and is made when the command is repeated', async () => {
    const agent = await agentOf(service, 'lab-thirteen', 'clinic')
    await subscribe(agent)
    const closed = await ordered()
    await ordered()
    const patient = closed.subject.reference.slice('Patient/'.length)
    const consent = consentOf(`consent-${patient}`, patient, 'clinic')
    await put({ ...consent, status: 'inactive' } as never)
    expect(await offered(agent)).toHaveLength(1)
    const { commands } = await told('agent', 'commands', agent.id, '--failed')
    expect(commands).toEqual([
      expect.objectContaining({
        ...{ type: 'send_hl7v2', status: 'failed', resource: `ServiceRequest/${closed.id}` },
        message: 'The resource no longer exists, or the subscriber may not read it.',
      }),
    ])
    await put(consent as never)
    const { command_id: repeated } = await told('agent', 'repeat', agent.id, commands[0].id)
    const found = await offered(agent)
    expect(found.map(({ id }) => id)).toContain(repeated)
    expect(found.find(({ id }) => id === repeated)!.payload.message).toContain(closed.id)
    expect((await admin(['agent', 'repeat', agent.id, commands[0].id])).output).toContain('repeated')
  })

  test('because the receiver refuses it is listed with the words of the receiver', async () => {
    const agent = await agentOf(service, 'lab-fourteen', 'clinic')
    await subscribe(agent)
    await ordered()
    const [found] = await offered(agent)
    const refusal = { status: 'failed', message: 'AE: unknown test' }
    expect((await agent.call('POST', `commands/${found!.id}/ack`, refusal)).status).toBe(200)
    expect((await admin(['agent', 'commands', agent.id])).output).toMatch(
      /failed +ServiceRequest\/\S+ AE: unknown test/,
    )
    const { command_id: repeated } = await told('agent', 'repeat', agent.id, found!.id)
    const [again] = await offered(agent)
    expect([again!.id, lines(again!.payload.message, 'ORC')[0]!.slice(0, 6)]).toEqual([repeated, 'ORC|NW'])
  })
})

test('of a message that is done nothing stays with the command', async () => {
  const agent = await agentOf(service, 'lab-fifteen', 'clinic')
  await command(service.application.database, agent.id, 'send_hl7v2', {
    target: 'laboratory',
    message: 'MSH|of a patient',
  })
  const [found] = await offered(agent)
  expect(found!.payload.message).toBe('MSH|of a patient')
  await acknowledged(agent, found!.id)
  const [row] = await service.application.database.query<{ payload: object }>({
    text: 'select payload from bridge_command where id = $1::bigint',
    values: [found!.id],
  })
  expect(row!.payload).toEqual({ target: 'laboratory' })
})
