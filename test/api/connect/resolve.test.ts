// Resolve: whoever is registered is found, whoever is not is registered, and what is doubtful is for a person to decide.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { mint, parse } from '../../../src/lib/health-id.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'
import { connectCaller, healthIdSystem, patientsOf, type Somebody, tasksOf } from './support.ts'

let service: Service
const { call, resolve } = connectCaller(() => service)
const token = (organizationId: string): Promise<string> =>
  service.application.identity.tokens.mint({ clientId: 'demo-client', organizationId, consentExempt: false }, [
    'health_id:verify',
  ])

const awa = {
  first_name: 'Awa Solange',
  last_name: 'Ndiaye',
  date_of_birth: '1991-07-23',
  sex: 'female',
  phone_number: '+237 6 77 11 22 33',
}

describe('somebody new', () => {
  beforeAll(async () => {
    service = await startService()
  })

  test('is registered, with a Health ID of the country', async () => {
    const { status, body } = await resolve({ ...awa, country_code: 'SN' }, { 'x-request-id': 'resolve-0001' })
    expect(status).toBe(201)
    expect(body).toEqual({
      health_id: expect.stringMatching(/^SN(-[0-9A-HJKMNP-TV-Z]{4}){3}$/),
      status: 'created',
      patient_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      matched_by: null,
      possible_duplicates: 0,
      country_code: 'SN',
      request_id: 'resolve-0001',
    })
    expect(parse(body.health_id)).toEqual({ healthId: body.health_id })
    const patient = (await call('GET', `Patient/${body.patient_id}`)).body
    expect(patient).toMatchObject({
      active: true,
      identifier: [{ use: 'official', system: healthIdSystem(service), value: body.health_id }],
      name: [{ use: 'official', family: 'Ndiaye', given: ['Awa Solange'] }],
      gender: 'female',
      birthDate: '1991-07-23',
      telecom: [{ system: 'phone', value: '+237 6 77 11 22 33' }],
      address: [{ country: 'SN' }],
    })
  })

  test('is found the next time, however the name is written, and nothing stored is told', async () => {
    const [stored] = await patientsOf(service)
    const again: Somebody[] = [
      awa,
      { first_name: 'AWA', last_name: 'ndiaye', date_of_birth: '1991-07-23' },
      { first_name: 'Ndiaye', last_name: 'Awa Solange', date_of_birth: '1991-07-23', sex: 'female' },
      { ...awa, date_of_birth: '1991-07-24' },
    ]
    for (const each of again) {
      const { status, body, text } = await resolve(each)
      expect([status, body.status, body.matched_by], text).toEqual([200, 'found', 'demographics'])
      expect([body.patient_id, body.health_id]).toEqual([stored.id, stored.identifier[0].value])
      expect(Object.keys(body).sort()).toEqual(
        ['country_code', 'health_id', 'matched_by', 'patient_id', 'possible_duplicates', 'request_id', 'status'].sort(),
      )
    }
    const [unchanged, ...more] = await patientsOf(service)
    expect(unchanged.meta.versionId).toBe('1')
    expect(more).toEqual([])
  })

  test('whose birth date and telephone number only state that nobody knew them is not taken for a namesake', async () => {
    const namesake = {
      ...{ first_name: 'Odette', last_name: 'Tchakounte', sex: 'female' },
      ...{ date_of_birth: '1900-01-01', phone_number: '+237 699 999 999' },
    }
    const [one, other] = [await resolve(namesake), await resolve(namesake)]
    expect([one.body.status, one.body.possible_duplicates]).toEqual(['created', 0])
    expect([other.body.status, other.body.possible_duplicates]).toEqual(['created', 1])
    expect(other.body.health_id).not.toBe(one.body.health_id)
  })

  test('gets its file number once it is known, also where it was stated first that there is none', async () => {
    const person = { first_name: 'Sidonie', last_name: 'Atangana', date_of_birth: '1971-08-09', sex: 'female' }
    const { body } = await resolve({ ...person, external_reference: 'N/A' })
    expect((await resolve({ ...person, external_reference: 'MRN-4711' })).body.patient_id).toBe(body.patient_id)
    const found = (await call('GET', 'Patient?identifier=MRN-4711')).body
    expect(found.entry).toMatchObject([{ resource: { id: body.patient_id } }])
  })

  test.each(['N/A', 'UNKNOWN', '000000', '-', 'inconnu'])(
    'is not found by the file number %s, which states that there is none',
    async none => {
      const namesake = {
        first_name: 'Hortense',
        last_name: 'Kamga',
        date_of_birth: '1900-01-01',
        external_reference: none,
      }
      const [one, other] = [await resolve(namesake), await resolve(namesake)]
      expect([one.body.status, other.body.status]).toEqual(['created', 'created'])
      expect(other.body.health_id).not.toBe(one.body.health_id)
    },
  )

  test('is of Cameroon unless something else is said', async () => {
    const { body } = await resolve({ first_name: 'Blaise', last_name: 'Etoundi', date_of_birth: '1960-02-02' })
    expect([body.country_code, body.health_id.slice(0, 2)]).toEqual(['CM', 'CM'])
  })

  test('is not made of a found one, whose phone number stays as it is', async () => {
    const { body } = await resolve({ ...awa, phone_number: '+237 6 00 00 00 00' })
    expect(body.status).toBe('found')
    const patient = (await call('GET', `Patient/${body.patient_id}`)).body
    expect(patient.telecom).toEqual([{ system: 'phone', value: '+237 6 77 11 22 33' }])
  })
})

describe('a Health ID', () => {
  let healthId: string

  beforeAll(async () => {
    service = await startService()
    healthId = (await resolve(awa)).body.health_id
  })

  test('is enough, however it is written', async () => {
    for (const written of [healthId, ` ${healthId.toLowerCase()} `, healthId.replaceAll('-', ' ')]) {
      const { status, body } = await resolve({ health_id: written })
      expect([status, body.status, body.health_id]).toEqual([200, 'found', healthId])
      expect([body.matched_by, body.possible_duplicates, body.country_code]).toEqual(['health_id', 0, 'CM'])
    }
  })

  test('of another person is refused with what differs from the card, and gets no number of a facility', async () => {
    const others = [
      { first_name: 'Cyrille', last_name: 'Mvondo', date_of_birth: '2001-10-10' },
      { ...awa, first_name: 'Cyrille', date_of_birth: '1950-03-04' },
      { first_name: 'Cyrille' },
      { sex: awa.sex === 'male' ? 'female' : 'male' },
      { date_of_birth: '1950-03-04' },
    ]
    for (const other of others) {
      const { status, body } = await resolve({ health_id: healthId, external_reference: 'MIXED-UP', ...other })
      expect([status, body.error_code, body.details[0].field], JSON.stringify(other)).toEqual([
        422,
        'VALIDATION_FAILED',
        'health_id',
      ])
    }
    expect(JSON.stringify(await patientsOf(service))).not.toContain('MIXED-UP')
    const own = [awa, { ...awa, last_name: 'Married' }, { first_name: awa.first_name }, { last_name: 'Married' }]
    for (const stated of own)
      expect((await resolve({ health_id: healthId, ...stated })).body.status, JSON.stringify(stated)).toBe('found')
  })

  test('whose person has a number of another patient does not get that number', async () => {
    const other = { first_name: 'Josephine', last_name: 'Tabi', date_of_birth: '1965-01-02' }
    await resolve({ ...other, external_reference: 'FILE-1' })
    await resolve({ health_id: healthId, external_reference: 'FILE-1' })
    const holders = (await patientsOf(service)).filter(each => JSON.stringify(each).includes('"FILE-1"'))
    expect(holders).toMatchObject([{ name: [{ family: 'Tabi' }] }])
  })

  test('that is not registered is not found without demographics, and nobody is registered', async () => {
    const unknown = mint('GA')
    const { status, body } = await resolve(
      { health_id: unknown, first_name: 'Only' },
      { 'x-request-id': 'resolve-0002' },
    )
    expect(status).toBe(200)
    expect(body).toEqual({
      health_id: unknown,
      status: 'not_found',
      patient_id: null,
      matched_by: null,
      possible_duplicates: 0,
      country_code: 'GA',
      request_id: 'resolve-0002',
    })
    expect(await patientsOf(service)).toHaveLength(2)
  })

  test('that is not registered leads with demographics to who is registered, or registers', async () => {
    const found = await resolve({ health_id: mint('CM'), ...awa })
    expect([found.status, found.body.status, found.body.health_id]).toEqual([200, 'found', healthId])
    const strange = mint('CM')
    const created = await resolve({
      health_id: strange,
      first_name: 'Cyrille',
      last_name: 'Mvondo',
      date_of_birth: '2001-10-10',
    })
    expect([created.status, created.body.status]).toEqual([201, 'created'])
    expect(created.body.health_id).not.toBe(strange)
  })

  test('with a slip is refused, and the one that is meant is suggested only if it is registered', async () => {
    const slip = (text: string): string => text.slice(0, -1) + (text.endsWith('7') ? '8' : '7')
    const near = await resolve({ health_id: slip(healthId), ...awa })
    expect([near.status, near.body.error_code, near.body.suggestion]).toEqual([422, 'INVALID_HEALTH_ID', healthId])
    expect(near.body.details).toEqual([{ field: 'health_id', code: 'checksum', message: near.body.message }])
    const far = await resolve({ health_id: slip(mint('CM')) })
    expect([far.status, far.body.error_code, far.body.suggestion]).toEqual([422, 'INVALID_HEALTH_ID', undefined])
    const nothing = await resolve({ health_id: 'hello' })
    expect([nothing.status, nothing.body.error_code]).toEqual([422, 'INVALID_HEALTH_ID'])
  })
})

describe('somebody who may be registered', () => {
  beforeEach(async () => {
    service = await startService()
  })

  test('is registered anew, and a Task asks to compare both, field by field and without names', async () => {
    const first = (await resolve(awa)).body
    const { status, body } = await resolve({ ...awa, last_name: 'Fotso' }, {}, await token('clinic'))
    expect([status, body.status, body.possible_duplicates]).toEqual([201, 'created', 1])
    const [task, ...more] = await tasksOf(service)
    expect(more).toEqual([])
    expect(task).toMatchObject({
      status: 'requested',
      intent: 'order',
      focus: { reference: `Patient/${body.patient_id}` },
      for: { reference: `Patient/${body.patient_id}` },
      input: [{ valueReference: { reference: `Patient/${first.patient_id}` } }],
    })
    const [input] = task.input
    expect(input.extension.slice(0, 2)).toEqual([
      { url: 'http://hl7.org/fhir/StructureDefinition/match-grade', valueCode: 'possible' },
      { url: 'https://health-interop.org/fhir/StructureDefinition/match-score', valueDecimal: expect.any(Number) },
    ])
    expect(
      input.extension.slice(2).map((each: { extension: { valueCode: string }[] }) => each.extension[0]!.valueCode),
    ).toEqual(['given', 'family', 'birth_date', 'sex', 'phone'])
    expect(JSON.stringify(task)).not.toMatch(/awa|ndiaye|fotso/i)
  })

  test('is not taken for a twin', async () => {
    const twins = ['Hassan', 'Ousseni'].map(first_name => ({ ...awa, first_name, sex: 'male' }))
    const [first, second] = [await resolve(twins[0]), await resolve(twins[1])]
    expect([first.body.status, second.body.status]).toEqual(['created', 'created'])
    expect([(await resolve(twins[0])).body.patient_id, (await resolve(twins[1])).body.patient_id]).toEqual([
      first.body.patient_id,
      second.body.patient_id,
    ])
  })

  test('is neither of two who are both it: that is ambiguous', async () => {
    const named = (id: string) => ({
      resourceType: 'Patient',
      id,
      name: [{ family: awa.last_name, given: [awa.first_name] }],
      birthDate: awa.date_of_birth,
      gender: 'female',
    })
    for (const id of ['one', 'two']) expect((await call('PUT', `Patient/${id}`, { body: named(id) })).status).toBe(201)
    const { body } = await resolve(awa)
    expect([body.status, body.possible_duplicates]).toEqual(['created', 2])
    expect((await tasksOf(service))[0].input.map((each: { valueReference: object }) => each.valueReference)).toEqual([
      { reference: 'Patient/one' },
      { reference: 'Patient/two' },
    ])
  })

  test('and came without a Health ID gets one when found, and former names count', async () => {
    const maiden = {
      resourceType: 'Patient',
      id: 'married',
      name: [
        { use: 'official', family: 'Kamga', given: [awa.first_name] },
        { use: 'maiden', family: awa.last_name, given: [awa.first_name] },
      ],
      birthDate: awa.date_of_birth,
      gender: 'female',
    }
    await call('PUT', 'Patient/married', { body: maiden })
    const { status, body } = await resolve(awa)
    expect([status, body.status, body.patient_id]).toEqual([200, 'found', 'married'])
    const stored = (await call('GET', 'Patient/married')).body
    expect(stored.meta.versionId).toBe('2')
    expect(stored.identifier).toEqual([{ use: 'official', system: healthIdSystem(service), value: body.health_id }])
    expect((await resolve({ health_id: body.health_id })).body.patient_id).toBe('married')
  })

  test('is nobody who is deleted or inactive', async () => {
    const { body: first } = await resolve(awa)
    const patient = (await call('GET', `Patient/${first.patient_id}`)).body
    await call('PUT', `Patient/${first.patient_id}`, { body: { ...patient, active: false } })
    expect((await resolve({ health_id: first.health_id })).body.status).toBe('found')
    const { body: second } = await resolve(awa)
    expect([second.status, second.possible_duplicates]).toEqual(['created', 0])
    await call('DELETE', `Patient/${second.patient_id}`)
    const { body: third } = await resolve(awa)
    expect([third.status, third.possible_duplicates]).toEqual(['created', 0])
    expect((await resolve({ health_id: second.health_id })).body.status).toBe('not_found')
  })
})

describe("the caller's own number", () => {
  let number: { system: string; value: string }

  beforeEach(async () => {
    service = await startService()
    number = { system: `${service.url}/fhir/NamingSystem/external-reference/clinic`, value: 'F-17' }
  })

  test('is stored at registration for its organisation alone, and decides what would be doubtful without it', async () => {
    const clinic = await token('clinic')
    const { body } = await resolve({ ...awa, external_reference: 'F-17' }, {}, clinic)
    expect((await call('GET', `Patient/${body.patient_id}`)).body.identifier[1]).toEqual({
      use: 'secondary',
      ...number,
      assigner: { reference: 'Organization/clinic' },
    })
    const near = {
      first_name: 'Awa Solanje',
      last_name: 'Ndiaie',
      date_of_birth: '1991-07-24',
      external_reference: 'F-17',
    }
    const own = await resolve(near, {}, clinic)
    expect([own.body.status, own.body.patient_id]).toEqual(['found', body.patient_id])
    const others = await resolve(near, {}, await token('other'))
    expect([others.body.status, others.body.possible_duplicates]).toEqual(['created', 1])
  })

  test('is added to who is found, once, if the organisation has none there yet', async () => {
    const { body: first } = await resolve(awa)
    const clinic = await token('clinic')
    for (const external_reference of ['F-17', 'F-17', 'F-18']) {
      const { body } = await resolve({ ...awa, external_reference }, {}, clinic)
      expect([body.status, body.patient_id]).toEqual(['found', first.patient_id])
    }
    await resolve({ health_id: first.health_id, external_reference: 'X-1' }, {}, await token('hospital'))
    const patient = (await call('GET', `Patient/${first.patient_id}`)).body
    expect(patient.meta.versionId).toBe('3')
    expect(patient.identifier.map((each: { value: string }) => each.value)).toEqual([first.health_id, 'F-17', 'X-1'])
  })

  test('never links those whose names or birth dates disagree: somebody has to look', async () => {
    const clinic = await token('clinic')
    const { body: first } = await resolve({ ...awa, external_reference: 'F-17' }, {}, clinic)
    const other = { first_name: 'Gaston', last_name: 'Owona', date_of_birth: '1950-01-30', external_reference: 'F-17' }
    const { body } = await resolve(other, {}, clinic)
    expect([body.status, body.possible_duplicates]).toEqual(['created', 1])
    expect((await call('GET', `Patient/${body.patient_id}`)).body.identifier).toHaveLength(1)
    expect((await tasksOf(service))[0].input[0].valueReference).toEqual({ reference: `Patient/${first.patient_id}` })
  })
})

describe('the number of an organisation', () => {
  test('never links those whose sex disagrees, however much else agrees', async () => {
    service = await startService()
    const clinic = await token('clinic')
    const { body: first } = await resolve({ ...awa, sex: 'female', external_reference: 'F-17' }, {}, clinic)
    const { body } = await resolve({ ...awa, sex: 'male', external_reference: 'F-17' }, {}, clinic)
    expect([body.status, body.possible_duplicates]).toEqual(['created', 1])
    expect(body.patient_id).not.toBe(first.patient_id)
  })
})

describe('a person who may be registered already', () => {
  test('is not named to the caller by the audit trail', async () => {
    service = await startService()
    const database = await databaseOf(service)
    const near = { first_name: 'Awa Solanje', last_name: 'Ndiaie', date_of_birth: '1991-07-24' }
    const { body: first } = await resolve(awa, {}, await token('hospital'))
    const { body } = await resolve(near, { 'x-request-id': 'resolve-doubtful' }, await token('clinic'))
    expect(body).toMatchObject({ status: 'created', possible_duplicates: 1 })
    const rows = await rowsOf(database, 'resolve-doubtful')
    expect(rows.map(row => row.resource_type)).toContain('Task')
    expect(rows.filter(row => row.resource_type === 'Task').map(({ patients }) => patients)).toEqual([
      [body.patient_id],
    ])
    expect(rows.flatMap(({ patients }) => patients)).not.toContain(first.patient_id)
  })
})

describe('the audit trail', () => {
  beforeAll(async () => {
    service = await startService()
  })

  test('holds who was found or registered, why, and under which number', async () => {
    const database = await databaseOf(service)
    const why = { purpose: 'admission & triage', external_reference: 'F/1' }
    const { body } = await resolve({ ...awa, ...why }, { 'x-request-id': 'resolve-created' })
    const query = 'connect/patients/resolve?purpose=admission+%26+triage&external_reference=F%2F1'
    const told = async (id: string) =>
      (await rowsOf(database, id)).map(row => [row.interaction, row.query, row.patients, row.outcome])
    expect(await told('resolve-created')).toEqual([
      ['create', '', [body.patient_id], 0],
      ['operation', query, [body.patient_id], 0],
    ])
    await resolve({ health_id: body.health_id, purpose: 'x' }, { 'x-request-id': 'resolve-found' })
    expect(await told('resolve-found')).toEqual([
      ['operation', 'connect/patients/resolve?purpose=x', [body.patient_id], 0],
    ])
    await resolve({ health_id: mint('CM') }, { 'x-request-id': 'resolve-nobody' })
    expect(await told('resolve-nobody')).toEqual([['operation', 'connect/patients/resolve', [], 0]])
  })
})
