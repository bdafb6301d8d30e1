// Who is told of what: nobody learns by a webhook what he could not read.
import { beforeAll, describe, expect, test } from 'vitest'
import { setFull } from '../../src/webhooks/endpoints.ts'
import { consentOf, ofType } from '../support/consents.ts'
import { creatorBy, fhirCaller } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'
import { databaseOf, rowsOf } from '../support/trail.ts'
import { client, later, quiet, type Subscriber, subscriber, webhooks } from '../support/webhooks.ts'

let service: Service
const call = fhirCaller(() => service)
const store = creatorBy(call)
let number = 0
const category = 'http://terminology.hl7.org/CodeSystem/observation-category'
const sections = 'http://terminology.hl7.org/CodeSystem/v2-0074'

beforeAll(async () => {
  service = await startService()
})

const patient = (id: string) => ({ resourceType: 'Patient', id, name: [{ family: 'Ngo' }], birthDate: '1990-02-03' })
const encounter = (of: string) => ({
  resourceType: 'Encounter',
  id: `encounter-${++number}`,
  status: 'in-progress',
  class: { code: 'AMB' },
  subject: { reference: `Patient/${of}` },
})

/** Somebody of an organisation, who is told of these. */
const told = async (organization: string, events = ['encounter.created'], options = {}): Promise<Subscriber> =>
  subscriber(await client(service, organization, options), events)

const typesTo = ({ receiver }: Subscriber): string[] => receiver.received.map(({ event }) => event.type)

describe('an event about a patient', () => {
  test('is for those to whom the patient has opened the resource that tells it, and for whoever wrote it', async () => {
    await store(patient('opened'), patient('closed'), consentOf('c-opened', 'opened', 'clinic-a'))
    const [permitted, stranger, exempt] = [
      await told('clinic-a'),
      await told('clinic-b'),
      await told('ministry', undefined, { consentExempt: true }),
    ]
    const writer = await told('clinic-c')
    const own = encounter('closed')
    await store(encounter('opened'), encounter('closed'))
    expect((await writer.call('PUT', `Encounter/${own.id}`, own)).status).toBe(201)
    await quiet(service)
    const idsTo = ({ receiver }: Subscriber) => receiver.received.map(({ event }) => event.data.encounter_id).sort()
    expect(idsTo(permitted)).toEqual([`encounter-${number - 1}`])
    expect(idsTo(stranger)).toEqual([])
    expect(idsTo(writer)).toEqual([own.id])
    expect(idsTo(exempt)).toHaveLength(3)
  })

  test('is for those only who may see what it is about, not something else of the patient', async () => {
    await store(patient('labs'), consentOf('c-labs', 'labs', 'clinic-d', ofType('Observation')))
    const clinic = await told('clinic-d')
    await store(encounter('labs'))
    await quiet(service)
    expect(typesTo(clinic)).toEqual([])
  })

  test('is not sent any more once the consent has ended, though it was to be sent again', async () => {
    await store(patient('leaving'), consentOf('c-leaving', 'leaving', 'clinic-e'))
    const clinic = await told('clinic-e')
    clinic.receiver.answer(500)
    await store(encounter('leaving'))
    await clinic.attempted(1)
    const ended = { ...consentOf('c-leaving', 'leaving', 'clinic-e'), status: 'inactive' }
    expect((await call('PUT', 'Consent/c-leaving', { body: ended })).status).toBe(200)
    await quiet(service)
    await later(service, 100)
    expect((await clinic.attempted(2)).at(-1)).toMatchObject({
      attempt: 2,
      outcome: 'withheld',
      http_status: null,
      error: 'the subscriber may no longer access the data',
      next_attempt_at: null,
    })
    expect(clinic.receiver.received).toHaveLength(1)
    const replayed = await clinic.call('POST', `${webhooks}/events/${clinic.receiver.received[0]!.event.id}/replay`)
    expect(replayed.status).toBe(202)
    expect((await clinic.attempted(3)).at(-1).outcome).toBe('withheld')
    expect(clinic.receiver.received).toHaveLength(1)
  })

  test('tells those of an end who could see the resource until it was deleted', async () => {
    await store(patient('cancelled'), consentOf('c-cancelled', 'cancelled', 'clinic-f'))
    const [clinic, stranger] = [
      await told('clinic-f', ['prescription.cancelled']),
      await told('clinic-g', ['prescription.cancelled']),
    ]
    await store({
      resourceType: 'MedicationRequest',
      id: 'm1',
      status: 'active',
      intent: 'order',
      medicationCodeableConcept: { text: 'amoxicillin' },
      subject: { reference: 'Patient/cancelled' },
    } as never)
    expect((await call('DELETE', 'MedicationRequest/m1')).status).toBeLessThan(300)
    await quiet(service)
    expect(clinic.receiver.received.map(({ event }) => event.data)).toEqual([
      expect.objectContaining({ prescription_id: 'm1', status: 'deleted' }),
    ])
    expect(typesTo(stranger)).toEqual([])
  })

  describe('of a version that is not the last', () => {
    const laboratory = { code: [{ coding: [{ system: category, code: 'laboratory' }] }] }
    const report = (id: string, of: string, more: object = {}) => ({
      resourceType: 'DiagnosticReport',
      id,
      status: 'final',
      category: laboratory.code,
      code: { coding: [{ system: 'http://loinc.org', code: '2823-3' }] },
      subject: { reference: `Patient/${of}` },
      ...more,
    })
    const isReleased = ['lab_result.released']

    test('is for those to whom its codes were open, though a correction came before it was sent', async () => {
      await store(patient('amended'), consentOf('c-amended', 'amended', 'clinic-l', laboratory))
      const clinic = await told('clinic-l', isReleased)
      clinic.receiver.answer(500)
      await store(report('r1', 'amended'))
      await clinic.attempted(1)
      const noted = await call('PUT', 'DiagnosticReport/r1', { body: report('r1', 'amended', { conclusion: 'high' }) })
      expect(noted.status).toBe(200)
      clinic.receiver.answer(204)
      await later(service, 100)
      expect((await clinic.attempted(2)).map(({ outcome }) => outcome)).toEqual(['failed', 'delivered'])
    })

    test('is not for those whose codes it lacked, or to whom the last version is not open', async () => {
      const section = (code: string) => [{ coding: [{ system: sections, code }] }]
      await store(patient('coded'), consentOf('c-coded', 'coded', 'clinic-m', { code: section('CH') }))
      const clinic = await told('clinic-m', isReleased)
      clinic.receiver.answer(500)
      for (const [id, before, after] of [
        ['r2', 'CH', 'HM'],
        ['r3', 'HM', 'CH'],
      ] as const) {
        await store(report(id, 'coded', { category: section(before) }))
        await clinic.attempted(1)
        const changed = await call('PUT', `DiagnosticReport/${id}`, {
          body: report(id, 'coded', { category: section(after) }),
        })
        expect(changed.status).toBe(200)
      }
      clinic.receiver.answer(204)
      await later(service, 100)
      await quiet(service)
      expect((await clinic.attempts()).map(({ outcome }) => outcome)).toEqual(['failed', 'withheld'])
      expect(clinic.receiver.received).toHaveLength(1)
    })

    test('and that is deleted is for those to whom its codes were open', async () => {
      await store(patient('withdrawn'), consentOf('c-withdrawn', 'withdrawn', 'clinic-n', laboratory))
      const events = ['lab_result.released', 'lab_result.amended']
      const [clinic, stranger] = [await told('clinic-n', events), await told('clinic-o', events)]
      await store(report('r4', 'withdrawn'))
      expect((await call('DELETE', 'DiagnosticReport/r4')).status).toBeLessThan(300)
      await quiet(service)
      expect(clinic.receiver.received.map(({ event }) => event.data.status)).toEqual([undefined, 'deleted'])
      expect(typesTo(stranger)).toEqual([])
    })
  })

  test('is on record before it is sent, once for each who is told', async () => {
    const database = await databaseOf(service)
    await store(patient('recorded'), consentOf('c-recorded', 'recorded', 'clinic-h'))
    const clinic = await told('clinic-h')
    clinic.receiver.answer(500)
    const made = await call('PUT', 'Encounter/recorded-visit', {
      body: { ...encounter('recorded'), id: 'recorded-visit' },
      headers: { 'x-request-id': 'on-record-1234' },
    })
    expect(made.status).toBe(201)
    await clinic.attempted(1)
    await later(service, 100)
    await clinic.attempted(2)
    const [{ event_id: event }] = await clinic.attempts()
    const rows = (await rowsOf(database, 'on-record-1234')).filter(row => row.client_id === clinic.clientId)
    expect(rows).toEqual([
      expect.objectContaining({
        interaction: 'operation',
        query: `connect/webhooks/events/${event}?subscription=${clinic.id}`,
        patients: ['recorded'],
        organization_id: 'clinic-h',
      }),
    ])
  })
})

describe('an event about a consent', () => {
  test('is for the organisation that the consent names, also when it takes everything away', async () => {
    await store(patient('deciding'))
    const events = ['consent.granted', 'consent.revoked']
    const [clinic, other] = [await told('clinic-i', events), await told('clinic-j', events)]
    await store(consentOf('c-deciding', 'deciding', 'clinic-i'))
    // Deliveries that wait at the same time arrive in any order.
    await quiet(service)
    const ended = { ...consentOf('c-deciding', 'deciding', 'clinic-i'), status: 'inactive' }
    expect((await call('PUT', 'Consent/c-deciding', { body: ended })).status).toBe(200)
    await quiet(service)
    expect(typesTo(clinic)).toEqual(['consent.granted', 'consent.revoked'])
    expect(clinic.receiver.received[1]!.event.data).toMatchObject({
      consent_id: 'c-deciding',
      organization_id: 'clinic-i',
    })
    expect(typesTo(other)).toEqual([])
  })
})

describe('a client', () => {
  test('that is revoked is told nothing more', async () => {
    const gone = await told('clinic-k', undefined, { consentExempt: true })
    gone.receiver.answer(500)
    await store(patient('after'), encounter('after'))
    await gone.receiver.until(1)
    await quiet(service)
    await service.application.database.query({
      text: 'update client set revoked_at = now() where id = $1',
      values: [gone.clientId],
    })
    await later(service, 100)
    await store(encounter('after'))
    await quiet(service)
    expect(gone.receiver.received).toHaveLength(1)
  })
})

describe('the whole resource', () => {
  test('comes along where an administrator has permitted it, as it was when it happened, and only with the scope for it', async () => {
    await store(patient('full'), consentOf('c-full', 'full', 'clinic-l'))
    const [full, narrow] = [
      await told('clinic-l', ['encounter.created', 'consent.revoked']),
      await told('clinic-l', ['encounter.created'], { scopes: ['webhooks:manage'] }),
    ]
    for (const { id } of [full, narrow]) await setFull(service.application.database, id, true)
    expect((await full.read()).payload_mode).toBe('full')
    full.receiver.answer(500)
    const first = encounter('full')
    await store(first)
    const before = (await full.receiver.until(1))[0]!
    expect(before.event.data.resource).toMatchObject({ ...first, meta: { versionId: '1' } })
    expect((await call('PUT', `Encounter/${first.id}`, { body: { ...first, status: 'finished' } })).status).toBe(200)
    await quiet(service)
    await later(service, 100)
    expect((await full.receiver.until(2))[1]!.body).toBe(before.body)
    const ended = { ...consentOf('c-full', 'full', 'clinic-l'), status: 'inactive' }
    expect((await call('PUT', 'Consent/c-full', { body: ended })).status).toBe(200)
    await full.receiver.until(3)
    expect(full.receiver.received[2]!.event).toMatchObject({ type: 'consent.revoked' })
    expect(full.receiver.received[2]!.event.data.resource).toBeUndefined()
    expect(narrow.receiver.received[0]!.event.data.resource).toBeUndefined()
  })
})
