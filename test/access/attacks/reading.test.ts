// What somebody may try to read, count, or infer of a patient who has opened nothing: it stays shut.
import { describe, expect, test } from 'vitest'
import { linkOf, matchIds } from '../../support/fhir.ts'
import { bundle, declared, json, named, observation, read, shut, startScene } from './scene.ts'

const scene = startScene()
const { asClinic, call, mint, store } = scene

describe('what a client wrote itself leads to nothing that it may not see', () => {
  test.each([
    'List?_id=own-list&_include=List:item&_include:iterate=Observation:patient',
    'Group?_id=own-group&_include=Group:member&_revinclude:iterate=Observation:patient',
    'Provenance?_id=own-proof&_include=Provenance:target&_include=Provenance:agent',
    'Task?_id=own-task&_include=Task:focus&_include=Task:patient',
    'Observation?_id=own-o&_include=Observation:has-member&_include=Observation:patient&_include=*',
    'Observation?_list=own-list',
    'Patient?_list=own-list&_total=accurate',
    'Patient?_has:Group:member:_id=own-group',
    'Patient?_has:Task:patient:_id=own-task',
    'Observation?_has:Provenance:target:_id=own-proof',
    'Observation?_has:Observation:has-member:_id=own-o',
    'Practitioner/fouda/Observation',
    'Practitioner?_id=fouda&_revinclude=Observation:performer&_revinclude=Patient:general-practitioner',
    'Observation?own-note=secret',
    'Observation?own-note:contains=ecre&_sort=own-note',
    'Observation?_content=secret',
    'Observation?_filter=own-note co secret',
    'Observation?subject.identifier=HEALTHID',
    'Patient?identifier=HEALTHID',
    'Patient?name:contains=moukoko&_sort=-name&_elements=name',
    'Patient?_lastUpdated=gt2000-01-01&_sort=_lastUpdated',
    'Patient?_id:not=open',
    'Observation/_history?_since=2000-01-01T00:00:00Z',
    '_history?_count=1000',
    'Patient/$everything?_count=1000',
    'Observation/$lastn?max=10&code=718-7',
  ])('%s', async query => {
    const { status, text, body } = await asClinic('GET', query.replace('HEALTHID', scene.healthId))
    expect(status, text).toBe(200)
    expect(JSON.stringify(body.entry ?? [])).not.toMatch(shut)
  })

  test.each([
    'Group?member:Patient.name=Ngassamoukoko',
    'Group?_id=own-group&member:Patient.general-practitioner=Practitioner/fouda',
    'List?item:Observation.code=718-7',
    'List?item:Patient.birthdate=1987-06-05',
    'List?item:Observation.own-note=secret',
    'Task?focus:Observation.code=718-7',
    'Observation?has-member.code=718-7',
    'Observation?patient.name=Ngassamoukoko',
    'Observation?patient.identifier=HEALTHID',
    'Provenance?target:Observation.patient.name=Ngassamoukoko',
    'Practitioner?_has:Observation:performer:_has:Provenance:target:_id=own-proof',
    'Practitioner?_has:Patient:general-practitioner:name=Ngassamoukoko',
  ])('%s is true of nothing', async query => {
    const answer = await asClinic('GET', `${query.replace('HEALTHID', scene.healthId)}&_total=accurate`)
    expect(answer.status, answer.text).toBe(200)
    expect(matchIds(answer.body)).toEqual([])
  })
})

describe('pages and addresses made for others', () => {
  test('a page link of one who sees all goes on with what the caller sees', async () => {
    const { body } = await call('GET', 'Observation?_count=1&_sort=_id')
    const next = await asClinic('GET', linkOf(body, 'next')!)
    expect(next.status).toBe(200)
    expect(JSON.stringify(next.body.entry ?? [])).not.toMatch(shut)
  })

  test.each([
    'Patient/hidden',
    'Patient/hidden?_elements=id',
    'Observation/hidden-o/_history',
    'Observation/hidden-o/_history/1',
    'Observation/hidden-o/_history/7',
    'Patient/hidden/$everything?_type=Practitioner',
    'Patient/hidden/$everything?_since=2099-01-01',
  ])('%s is refused', async path => {
    const { status, text } = await asClinic('GET', path)
    expect([status, shut.test(text)]).toEqual([403, false])
    expect((await asClinic('HEAD', path)).status).toBe(403)
  })

  test.each(['c0', 'o0', 'c1'])('a place %s in the record of somebody shows nothing', async cursor => {
    const { body } = await asClinic('GET', `Patient/hidden/$everything?_cursor=${cursor}`)
    expect(JSON.stringify(body.entry ?? [])).not.toMatch(shut)
  })
})

describe('an emergency', () => {
  test('only reads, in bundles and by operations as well', async () => {
    const token = await mint('ambulance', 'ambulance')
    const options = (body: unknown) => ({ token, body, headers: { ...json, ...declared } })
    const own = observation('in-emergency', 'hidden', 'x')
    const write = { resource: own, request: { method: 'PUT', url: 'Observation/in-emergency' } }
    expect((await call('POST', '', options(bundle('transaction', read('Patient/hidden'), write)))).status).toBe(403)
    const { body } = await call('POST', '', options(bundle('batch', read('Observation/hidden-o'), write)))
    expect(body.entry.map((each: { response: { status: string } }) => each.response.status.slice(0, 3))).toEqual([
      '200',
      '403',
    ])
    expect((await call('PUT', 'Observation/in-emergency', options(own))).status).toBe(403)
  })

  test('opens one patient a request, however many a batch names', async () => {
    await store({ resourceType: 'Patient', id: 'hidden-too' }, observation('hidden-too-o', 'hidden-too', 'secret'))
    const token = await mint('paramedic', 'paramedics')
    const both = bundle('batch', read('Observation/hidden-o'), read('Patient/hidden'), read('Observation/hidden-too-o'))
    const { body } = await call('POST', '', { token, body: both, headers: { ...json, ...declared } })
    const told = body.entry.map((each: { response: { status: string } }) => each.response.status.slice(0, 3))
    expect(told).toEqual(['200', '200', '400'])
    const tasks = (await call('GET', 'Task?patient=hidden-too')).body.entry
    expect(tasks).toBeUndefined()
    expect((await call('GET', 'Observation/hidden-too-o', { token })).status).toBe(403)
  })

  test.each([
    ['without a reason', { 'x-emergency-access': 'true' }, 403],
    ['with a reason that says nothing', { 'x-emergency-access': 'true', 'x-emergency-reason': 'now' }, 403],
    ['with another word', { 'x-emergency-access': 'yes', 'x-emergency-reason': 'Unconscious after an accident' }, 400],
  ])('declared %s opens nothing', async (_name, headers, status) => {
    const answer = await asClinic('GET', 'Observation/hidden-o', { headers: headers as Record<string, string> })
    expect([answer.status, shut.test(answer.text)]).toEqual([status, false])
  })

  test.each(['Observation', 'Observation?patient=hidden,open', '?_type=Patient', 'Patient/$everything'])(
    'is not for everybody at once: %s',
    async path => {
      const { status, text } = await asClinic('GET', path, { headers: declared })
      expect([status, shut.test(text)]).toEqual([400, false])
    },
  )
})

describe('the trail', () => {
  const rows = async (requestId: string): Promise<string> => {
    const { body } = await asClinic('GET', 'AuditEvent?_count=50')
    const own = (body.entry ?? []).filter(({ resource }: { resource: object }) =>
      JSON.stringify(resource).includes(requestId),
    )
    expect(own.length).toBeGreaterThan(0)
    return JSON.stringify(own, (name, value) =>
      name === 'query' && typeof value === 'string' ? Buffer.from(value, 'base64').toString() : value,
    )
  }

  test('does not name whom a comparison found and did not show', async () => {
    const body = {
      resourceType: 'Parameters',
      parameter: [{ name: 'resource', resource: { resourceType: 'Patient', ...named } }],
    }
    const headers = { 'x-request-id': 'fishing-by-match' }
    expect((await asClinic('POST', 'Patient/$match', { body, headers })).body.total).toBe(0)
    expect(await rows('fishing-by-match')).not.toContain('hidden')
    expect((await call('POST', 'Patient/$match', { body })).body.entry[0].resource.id).toBe('hidden')
  })

  test('does not name whom somebody who was registered may be', async () => {
    const register = (sex: string) =>
      asClinic('POST', '/api/v1/connect/patients/resolve', {
        headers: { ...json, 'x-request-id': 'fishing-by-resolve' },
        body: JSON.stringify({ first_name: 'Philomène', last_name: 'Ngassamoukoko', date_of_birth: '1987-06-05', sex }),
      })
    const one = await register('male')
    expect(one.body).toMatchObject({ status: 'created', possible_duplicates: 1 })
    expect(await rows('fishing-by-resolve')).not.toContain('Patient/hidden')
  })

  test('is that of the own organisation', async () => {
    await call('GET', 'Observation/hidden-o')
    const { text } = await call('GET', 'AuditEvent?patient=hidden', { token: scene.stranger })
    expect(text).not.toContain('hidden-o')
    expect((await asClinic('PUT', 'AuditEvent/1-1', { body: {} })).status).toBe(405)
  })

  test('and reviews are for nobody else to see', async () => {
    expect(matchIds((await asClinic('GET', 'Task')).body)).toEqual(['own-task'])
  })
})
