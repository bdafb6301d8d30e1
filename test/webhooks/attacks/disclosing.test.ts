// Who may try to learn from an event what it may not read: nothing is told to it.
import { describe, expect, test } from 'vitest'
import { setFull } from '../../../src/webhooks/endpoints.ts'
import { consentOf } from '../../support/consents.ts'
import { client, quiet, subscriber } from '../../support/webhooks.ts'
import { encounter, patient, startScene } from './scene.ts'

const scene = startScene()
const { call, put, store, whileNothingIsDispatched } = scene

describe('an adversary', () => {
  test('is not told that something was deleted which the consent had excepted by its code', async () => {
    const hiv = { system: 'http://loinc.org', code: '75622-1' }
    await store(
      patient('excepting'),
      consentOf('c-excepting', 'excepting', 'clinic-1', {
        provision: [{ type: 'deny', code: [{ coding: [hiv] }] }],
      }) as never,
    )
    const clinic = await subscriber(await client(scene.service, 'clinic-1'), [
      'prescription.issued',
      'prescription.cancelled',
    ])
    await store({
      resourceType: 'MedicationRequest',
      id: 'secret-drug',
      status: 'active',
      intent: 'order',
      medicationCodeableConcept: { coding: [hiv] },
      subject: { reference: 'Patient/excepting' },
    } as never)
    await quiet(scene.service)
    expect((await call('GET', 'MedicationRequest/secret-drug', { token: clinic.token })).status).toBe(403)
    expect(clinic.receiver.received).toEqual([])
    expect((await call('DELETE', 'MedicationRequest/secret-drug')).status).toBeLessThan(300)
    await quiet(scene.service)
    expect(clinic.receiver.received.map(({ event }) => event.data)).toEqual([])
  })

  test('is not told of the patient of a former version who has opened nothing, because the current one is of another who has', async () => {
    await store(patient('mistaken'), patient('right'), consentOf('c-right', 'right', 'clinic-2') as never)
    const clinic = await subscriber(await client(scene.service, 'clinic-2'), ['encounter.created'])
    await setFull(scene.service.application.database, clinic.id, true)
    const visit = encounter('mistaken')
    await whileNothingIsDispatched(async () => {
      await put(visit)
      await put({ ...visit, subject: { reference: 'Patient/right' } } as never)
    })
    await quiet(scene.service)
    expect((await call('GET', `Encounter/${visit.id}/_history/1`, { token: clinic.token })).status).toBe(404)
    expect(JSON.stringify(clinic.receiver.received.map(({ event }) => event))).not.toContain('Patient/mistaken')
  })

  test('learns nothing by `flagged` of a result that it may not read', async () => {
    const observation = (id: string, interpretation: string) => ({
      resourceType: 'Observation',
      id,
      status: 'final',
      code: { text: 'secret' },
      subject: { reference: 'Patient/victim-of-lab' },
      interpretation: [
        {
          coding: [
            { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', code: interpretation },
          ],
        },
      ],
    })
    await store(patient('victim-of-lab'), observation('fine', 'N'), observation('grave', 'HH'))
    const spy = await subscriber(await client(scene.service, 'spy-lab'), ['lab_result.released'])
    expect((await call('GET', 'Observation/grave', { token: spy.token })).status).toBe(403)
    const ask = async (id: string) => {
      const { status, text } = await call('PUT', `DiagnosticReport/ask-${id}`, {
        body: {
          resourceType: 'DiagnosticReport',
          id: `ask-${id}`,
          status: 'final',
          category: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0074', code: 'LAB' }] }],
          code: { text: 'mine' },
          subject: { reference: 'Patient/nobody-at-all' },
          result: [{ reference: `Observation/${id}` }],
        },
        token: spy.token,
      })
      expect(status, text).toBe(201)
    }
    await ask('fine')
    await ask('grave')
    await quiet(scene.service)
    const flagged = spy.receiver.received.map(({ event }) => event.data.flagged)
    expect(new Set(flagged).size, `fine and grave are told apart: ${flagged}`).toBe(1)
  })

  test('learns no Health ID of a patient who has opened nothing by writing something about that patient', async () => {
    const { status, text, body } = await call('POST', '/api/v1/connect/patients/resolve', {
      body: JSON.stringify({
        first_name: 'Odile',
        last_name: 'Mbarga',
        date_of_birth: '1977-04-05',
        sex: 'female',
        country_code: 'CM',
      }),
      headers: { 'content-type': 'application/json' },
    })
    expect(status, text).toBe(201)
    const spy = await subscriber(await client(scene.service, 'spy-ids'), ['encounter.created'])
    expect((await call('GET', `Patient/${body.patient_id}`, { token: spy.token })).status).toBe(403)
    const visit = encounter(body.patient_id)
    expect((await spy.call('PUT', `Encounter/${visit.id}`, visit)).status).toBe(201)
    await quiet(scene.service)
    expect(spy.receiver.received.map(({ event }) => event.data.health_id)).not.toContain(body.health_id)
  })

  test('is not told what is for nobody: an event that names no organisation is not for all who may read', async () => {
    const { body } = await call('POST', '/api/v1/connect/patients/resolve', {
      body: JSON.stringify({
        first_name: 'Paul',
        last_name: 'Etoa',
        date_of_birth: '1971-04-05',
        sex: 'male',
        country_code: 'CM',
      }),
      headers: { 'content-type': 'application/json' },
    })
    await store(consentOf('c-verify', body.patient_id, 'clinic-3') as never)
    const clinic = await subscriber(await client(scene.service, 'clinic-3'), ['health_id.verified'])
    const nobodys = await client(scene.service, '', { scopes: ['health_id:verify'] })
    const { status } = await nobodys.call('GET', `/api/v1/connect/patients/verify/${body.health_id}`)
    expect(status).toBe(200)
    await quiet(scene.service)
    expect(clinic.receiver.received.map(({ event }) => event.data)).toEqual([])
  })

  test('is not told that a Bridge Agent failed which works for no organisation, because it may read something of the patient', async () => {
    await store(patient('bridged'), consentOf('c-bridged', 'bridged', 'clinic-15') as never)
    const clinic = await subscriber(await client(scene.service, 'clinic-15'), ['bridge_agent.sync_failed'])
    await store({
      resourceType: 'Task',
      id: 'failed-sync',
      status: 'failed',
      intent: 'order',
      code: { coding: [{ system: 'https://health-interop.org/fhir/CodeSystem/task', code: 'bridge-sync' }] },
      focus: { reference: 'Patient/bridged' },
    } as never)
    await quiet(scene.service)
    expect(clinic.receiver.received.map(({ event }) => event.data)).toEqual([])
  })

  test('whose organisation has a line break in its id tells other organisations nothing', async () => {
    const { body } = await call('POST', '/api/v1/connect/patients/resolve', {
      body: JSON.stringify({ first_name: 'Rose', last_name: 'Abena', date_of_birth: '1961-04-05', sex: 'female' }),
      headers: { 'content-type': 'application/json' },
    })
    const other = await subscriber(await client(scene.service, 'clinic-16'), ['health_id.verified'])
    const odd = await client(scene.service, 'odd\nclinic-16', { scopes: ['health_id:verify'] }).catch(() => undefined)
    await odd?.call('GET', `/api/v1/connect/patients/verify/${body.health_id}`)
    await quiet(scene.service)
    expect(other.receiver.received.map(({ event }) => event.data)).toEqual([])
  })

  test('has nobody told that a document was verified which it may not read itself', async () => {
    await store(patient('documented'), consentOf('c-documented', 'documented', 'clinic-34') as never)
    const clinic = await subscriber(await client(scene.service, 'clinic-34'), ['document.verified'])
    await store({
      resourceType: 'DocumentReference',
      id: 'forged',
      status: 'current',
      subject: { reference: 'Patient/documented' },
      content: [{ attachment: { title: 'x' } }],
    } as never)
    const forger = await client(scene.service, 'clinic-35')
    expect((await call('GET', 'DocumentReference/forged', { token: forger.token })).status).toBe(403)
    const made = await forger.call('POST', '/api/fhir/R4/VerificationResult', {
      resourceType: 'VerificationResult',
      status: 'validated',
      target: [{ reference: 'DocumentReference/forged' }],
    })
    expect(made.status, made.text).toBe(201)
    await quiet(scene.service)
    expect(clinic.receiver.received.map(({ event }) => event.data)).toEqual([])
  })

  test('is not told what happened while nothing could be dispatched under an id that it has taken since', async () => {
    await store(patient('robbed'))
    await store({
      resourceType: 'MedicationRequest',
      id: 'taken-id',
      status: 'active',
      intent: 'order',
      medicationCodeableConcept: { text: 'x' },
      subject: { reference: 'Patient/robbed' },
    } as never)
    const thief = await subscriber(await client(scene.service, 'clinic-32'), ['prescription.cancelled'])
    await quiet(scene.service)
    await whileNothingIsDispatched(async () => {
      expect((await call('DELETE', 'MedicationRequest/taken-id')).status).toBeLessThan(300)
      await thief.call('PUT', 'MedicationRequest/taken-id', {
        resourceType: 'MedicationRequest',
        id: 'taken-id',
        status: 'draft',
        intent: 'proposal',
        medicationCodeableConcept: { text: 'x' },
        subject: { reference: 'Patient/nobody-known' },
      })
    })
    await quiet(scene.service)
    expect(thief.receiver.received.map(({ event }) => event.data)).toEqual([])
  })
})
