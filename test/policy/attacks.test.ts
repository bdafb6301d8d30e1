// Ways by which somebody may try to see, change, count, infer or link what a patient has not opened: each stays shut.
import { beforeAll, describe, expect, test } from 'vitest'
import { issueCode } from '../../src/auth/enrolment.ts'
import { mint as mintHealthId } from '../../src/lib/health-id.ts'
import { healthIdSystem } from '../connect/support.ts'
import { ended, ordered } from '../support/bulk.ts'
import { consentOf, ofType, terminology } from '../support/consents.ts'
import { type Answer, type CallOptions, creatorBy, fhirCaller, linkOf, matchIds } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let clinic: string
let neighbour: string
let stranger: string
let healthId: string
const call = fhirCaller(() => service)
const store = creatorBy(call)
const asClinic = (method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
  call(method, path, { token: clinic, ...options })

const json = { accept: 'application/json', 'content-type': 'application/json' }
const patchJson = { accept: 'application/json', 'content-type': 'application/json-patch+json' }
const declared = { 'x-emergency-access': 'true', 'x-emergency-reason': 'Unconscious after a road accident' }

const every = [
  'system/*.cruds',
  'emergency:access',
  'health_id:verify',
  'consents:read',
  'consents:write',
  'patients:read',
]
const mint = (clientId: string, organizationId: string, scopes: readonly string[] = every): Promise<string> =>
  service.application.identity.tokens.mint({ clientId, organizationId, consentExempt: false }, scopes)

const about = (patient: string) => ({ reference: `Patient/${patient}` })
const observation = (id: string, patient: string, note: string, more: object = {}) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '718-7' }] },
  subject: about(patient),
  note: [{ text: note }],
  ...more,
})
const holder = (id: string, of: string) => ({
  resourceType: 'Patient',
  id,
  active: true,
  identifier: [{ use: 'official', system: healthIdSystem(service), value: of }],
})
/** What nobody may come by. */
const shut = /"id":"hidden|secret|Philom/
const named = { name: [{ family: 'Ngassamoukoko', given: ['Philomène'] }], gender: 'female', birthDate: '1987-06-05' }
const bundle = (type: string, ...entry: object[]) => ({ resourceType: 'Bundle', type, entry })
const read = (url: string) => ({ request: { method: 'GET', url } })

beforeAll(async () => {
  service = await startService()
  clinic = await mint('clinic-app', 'clinic')
  neighbour = await mint('clinic-lab', 'clinic')
  stranger = await mint('other-app', 'other')
  healthId = mintHealthId('CM')
  await store(
    { resourceType: 'Practitioner', id: 'fouda' },
    { ...holder('hidden', healthId), ...named, generalPractitioner: [{ reference: 'Practitioner/fouda' }] },
    observation('hidden-o', 'hidden', 'secret', { performer: [{ reference: 'Practitioner/fouda' }] }),
    { resourceType: 'Patient', id: 'open' },
    observation('open-o', 'open', 'shown'),
    consentOf('open-consent', 'open', 'clinic'),
  )
  const own: [string, object][] = [
    [
      'List/own-list',
      { status: 'current', mode: 'working', entry: ['Observation/hidden-o', 'Patient/hidden'].map(item) },
    ],
    [
      'Group/own-group',
      { type: 'person', actual: true, member: [{ entity: about('hidden') }, { entity: about('open') }] },
    ],
    [
      'Provenance/own-proof',
      {
        target: [{ reference: 'Observation/hidden-o' }],
        recorded: '2026-03-01T10:00:00Z',
        agent: [{ who: about('hidden') }],
      },
    ],
    [
      'Task/own-task',
      { status: 'requested', intent: 'order', focus: { reference: 'Observation/hidden-o' }, for: about('hidden') },
    ],
    [
      'Observation/own-o',
      {
        status: 'final',
        code: { text: 'own' },
        subject: about('hidden'),
        hasMember: [{ reference: 'Observation/hidden-o' }],
      },
    ],
  ]
  for (const [path, body] of own) {
    const [resourceType, id] = path.split('/')
    expect((await asClinic('PUT', path, { body: { resourceType, id, ...body } })).status).toBe(201)
  }
  const parameter = {
    resourceType: 'SearchParameter',
    id: 'own-note',
    url: 'http://example.org/own-note',
    name: 'OwnNote',
    status: 'active',
    description: 'x',
    code: 'own-note',
    base: ['Observation'],
    type: 'string',
    expression: 'Observation.note.text',
  }
  expect((await asClinic('PUT', 'SearchParameter/own-note', { body: parameter })).status).toBe(201)
})

const item = (reference: string) => ({ item: { reference } })

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
    const { status, text, body } = await asClinic('GET', query.replace('HEALTHID', healthId))
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
    const answer = await asClinic('GET', `${query.replace('HEALTHID', healthId)}&_total=accurate`)
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

describe('changes tell nothing and do nothing', () => {
  test.each([
    ['PUT', { 'if-match': 'W/"1"' }],
    ['PUT', { 'if-match': 'W/"9"' }],
    ['PUT', { 'if-none-match': '*' }],
    ['PUT', {}],
    ['DELETE', {}],
    ['DELETE', { 'if-match': 'W/"9"' }],
    ['PATCH', patchJson],
    ['PATCH', { ...patchJson, 'if-match': 'W/"9"' }],
  ])('%s with %o is the same refusal', async (method, headers) => {
    const body =
      method === 'PUT'
        ? observation('hidden-o', 'open', 'taken')
        : method === 'PATCH'
          ? JSON.stringify([{ op: 'test', path: '/note/0/text', value: 'secret' }])
          : undefined
    const answer = await asClinic(method, 'Observation/hidden-o', {
      body,
      headers: { ...json, ...(headers as object) },
    })
    expect([answer.status, answer.body.error_code, answer.headers.get('etag')]).toEqual([403, 'CONSENT_REQUIRED', null])
    expect((await call('GET', 'Observation/hidden-o')).body.meta.versionId).toBe('1')
  })

  test('a condition finds what is hidden as little as what is not there', async () => {
    const reference = (query: string) => ({
      resource: { resourceType: 'Basic', code: { text: 'x' }, subject: { reference: `Patient?${query}` } },
      request: { method: 'POST', url: 'Basic' },
    })
    const answers = await Promise.all(
      [`identifier=${healthId}`, 'identifier=nobody', 'name=Ngassamoukoko', '_id=hidden'].map(query =>
        asClinic('POST', '', { body: bundle('transaction', reference(query)), headers: json }),
      ),
    )
    for (const { status, body } of answers) expect([status, body.message]).toEqual([412, answers[1]!.body.message])
  })

  test('an update where something matches creates something else', async () => {
    const { id: _id, ...fresh } = observation('', 'hidden', 'own')
    const { status, body } = await asClinic('PUT', 'Observation?patient=hidden&code=718-7', { body: fresh })
    expect([status, body.id === 'hidden-o']).toEqual([201, false])
    expect((await asClinic('DELETE', `Observation/${body.id}`)).status).toBe(204)
    const named = await asClinic('PUT', 'Observation?patient=hidden&code=718-7', {
      body: { ...fresh, id: 'hidden-o' },
    })
    expect(named.status).toBe(403)
  })

  test('who comes back under the id of something deleted does not see what that was', async () => {
    await store(observation('gone', 'hidden', 'secret'))
    await call('DELETE', 'Observation/gone')
    expect((await asClinic('GET', 'Observation/gone/_history')).body.entry).toBeUndefined()
    expect((await asClinic('PUT', 'Observation/gone', { body: observation('gone', 'hidden', 'own') })).status).toBe(201)
    for (const path of ['Observation/gone/_history', 'Observation/_history', '_history?_at=2026'])
      expect(JSON.stringify((await asClinic('GET', path)).body.entry)).not.toMatch(shut)
    expect((await asClinic('GET', 'Observation/gone/_history/1')).status).toBe(404)
    expect((await asClinic('GET', 'Observation/gone/_history/3')).status).toBe(200)
  })

  test('what had a code that the patient withholds is not shown by having another now', async () => {
    const coded = (code: string, note: string) =>
      observation('recoded', 'part', note, { code: { coding: [{ system: 'http://loinc.org', code }] } })
    const withheld = { type: 'deny', code: [{ coding: [{ system: 'http://loinc.org', code: '75622-1' }] }] }
    await store({ resourceType: 'Patient', id: 'part' }, coded('75622-1', 'secret'))
    await store(consentOf('part-consent', 'part', 'clinic', { provision: [withheld] }))
    expect((await asClinic('GET', 'Observation/recoded')).status).toBe(403)
    await call('PUT', 'Observation/recoded', { body: coded('718-7', 'another') })
    expect((await asClinic('GET', 'Observation/recoded')).status).toBe(200)
    expect((await asClinic('GET', 'Observation/recoded/_history/1')).status).toBe(404)
    const { body } = await asClinic('GET', 'Observation/recoded/_history')
    expect(body.entry).toHaveLength(1)
    expect(JSON.stringify(body)).not.toMatch(shut)
  })

  test('what is moved to somebody else is gone with the move', async () => {
    await store(observation('moved', 'open', 'first'))
    await call('PUT', 'Observation/moved', { body: observation('moved', 'hidden', 'secret') })
    expect((await asClinic('GET', 'Observation/moved')).status).toBe(403)
    expect((await asClinic('GET', 'Observation/moved/_history/2')).status).toBe(403)
    expect((await asClinic('PUT', 'Observation/moved', { body: observation('moved', 'open', 'x') })).status).toBe(403)
    await call('DELETE', 'Observation/moved')
    expect((await asClinic('GET', 'Observation/moved/_history')).text).not.toMatch(shut)
  })

  test('whose it is cannot be told apart from what nobody knows', async () => {
    await store(
      { resourceType: 'Device', id: 'known-by-number', patient: { identifier: { system: 'http://x', value: '1' } } },
      { resourceType: 'Device', id: 'known-by-name', patient: { display: 'Philomène' } },
      { resourceType: 'Device', id: 'of-nobody', owner: { display: 'The hospital' } },
      {
        resourceType: 'Group',
        id: 'known-by-name',
        type: 'person',
        actual: true,
        member: [{ entity: { display: 'Philomène' } }],
      },
      { resourceType: 'Group', id: 'of-things', type: 'device', actual: true, member: [{ entity: { display: 'x' } }] },
      {
        resourceType: 'Device',
        id: 'holds-one',
        contained: [{ resourceType: 'Patient', id: 'p' }],
        owner: { reference: '#p' },
      },
      { resourceType: 'Schedule', id: 'elsewhere', actor: [{ reference: 'https://other.example/fhir/Patient/1' }] },
      {
        resourceType: 'Endpoint',
        id: 'extended',
        extension: [{ url: 'http://x', valueReference: about('hidden') }],
        status: 'active',
        connectionType: { code: 'x' },
        payloadType: [{ text: 'x' }],
        address: 'http://x',
      },
      {
        resourceType: 'Linkage',
        id: 'linked',
        item: ['source', 'alternate'].map(type => ({ type, resource: { reference: 'Observation/hidden-o' } })),
      },
      {
        resourceType: 'Bundle',
        id: 'bundled',
        type: 'collection',
        entry: [{ resource: { resourceType: 'Patient', id: 'hidden' } }],
      },
    )
    const ids = async (type: string) => matchIds((await asClinic('GET', type)).body)
    expect(await ids('Device')).toEqual(['of-nobody'])
    expect((await ids('Group')).sort()).toEqual(['of-things', 'own-group'])
    for (const type of ['Schedule', 'Endpoint', 'Linkage', 'Bundle']) expect(await ids(type)).toEqual([])
  })
})

describe('consents', () => {
  const nobody = { actor: undefined }
  const actors = (...references: object[]) => ({
    actor: references.map(reference => ({ role: { text: 'x' }, reference })),
  })
  const of = (organization: string) => ({ reference: `Organization/${organization}` })

  test.each<[string, () => object]>([
    ['by an absolute address', () => actors({ reference: `${service.url}/api/fhir/R4/Organization/other` })],
    ['by a version', () => actors({ reference: 'Organization/other/_history/1' })],
    ['beside its own', () => actors(of('clinic'), of('other'))],
    ['in an exception that does not say so', () => ({ ...nobody, type: 'deny', provision: [actors(of('other'))] })],
    ['deep within', () => ({ provision: [{ type: 'deny', provision: [{ type: 'permit', ...actors(of('other')) }] }] })],
  ])('for another organisation, named %s, are refused', async (_name, provision) => {
    const body = consentOf('crooked', 'hidden', 'clinic', provision())
    const { status, body: told } = await asClinic('PUT', 'Consent/crooked', { body, headers: json })
    expect([status, told.error_code]).toEqual([403, 'FORBIDDEN'])
  })

  test.each<[string, () => object]>([
    ['a stroke at the end', () => actors({ reference: 'Organization/other/' })],
    ['small letters', () => actors({ reference: 'organization/other' })],
    ['another server', () => actors({ reference: 'http://elsewhere/Organization/other' })],
    ['an identifier', () => actors({ type: 'Organization', identifier: { value: 'other' } })],
    ['what it contains', () => actors({ reference: '#other' })],
  ])('that name another by %s open nothing to it', async (name, provision) => {
    const id = `odd-${name.replaceAll(' ', '-')}`
    const contained = name === 'what it contains' ? { contained: [{ resourceType: 'Organization', id: 'other' }] } : {}
    await asClinic('PUT', `Consent/${id}`, { body: consentOf(id, 'hidden', 'x', provision(), contained) })
    expect((await call('GET', 'Observation/hidden-o', { token: stranger })).status).toBe(403)
    await call('DELETE', `Consent/${id}`)
  })

  test('that are proposed for another are not put into force by whoever proposed them', async () => {
    const body = consentOf('later', 'hidden', 'other', {}, { status: 'proposed' })
    expect((await asClinic('PUT', 'Consent/later', { body })).status).toBe(201)
    const patch = JSON.stringify([{ op: 'replace', path: '/status', value: 'active' }])
    expect((await asClinic('PATCH', 'Consent/later', { body: patch, headers: patchJson })).status).toBe(403)
    expect((await call('GET', 'Observation/hidden-o', { token: stranger })).status).toBe(403)
    expect((await asClinic('DELETE', 'Consent/later')).status).toBe(204)
  })

  test('do not close a record to everybody in emergencies', async () => {
    const policy = [{ uri: 'https://profiles.ihe.net/ITI/PCF/Policy-deny' }]
    const body = consentOf('closing', 'hidden', 'other', { type: 'deny' }, { policy })
    const { status, body: told } = await call('PUT', 'Consent/closing', { token: stranger, body, headers: json })
    expect([status, told.error_code]).toEqual([403, 'FORBIDDEN'])
  })

  test.each<[string, () => object]>([
    [
      'as an exception from a refusal',
      () => ({ type: 'deny', provision: [{ type: 'permit', ...ofType('Observation') }] }),
    ],
    ['of a part of it', () => ofType('Observation')],
    [
      'for a purpose',
      () => ({ ...ofType('Observation'), purpose: [{ system: `${terminology}/v3-ActReason`, code: 'TREAT' }] }),
    ],
  ])('of its own outweigh no refusal of the patient, written %s', async (_name, provision) => {
    await store(consentOf('patients-no', 'hidden', 'clinic', { type: 'deny' }))
    const body = consentOf('own-yes', 'hidden', 'clinic', provision())
    expect((await asClinic('PUT', 'Consent/own-yes', { body })).status).toBe(201)
    const answers = [await asClinic('GET', 'Observation/hidden-o'), await asClinic('GET', 'Observation?patient=hidden')]
    expect(answers.map(({ text }) => shut.test(text))).toEqual([false, false])
    expect(answers[0]!.status).toBe(403)
    for (const id of ['own-yes', 'patients-no']) expect((await call('DELETE', `Consent/${id}`)).status).toBe(204)
  })

  test.each<[string, () => object]>([
    ['another organisation', () => ({})],
    ['everybody', () => nobody],
    ['everybody but itself', () => ({ ...nobody, provision: [{ type: 'permit', ...actors(of('other')) }] })],
  ])('close no record to %s', async (_name, provision) => {
    const body = consentOf('shutting', 'open', 'clinic', { type: 'deny', ...provision() })
    const { status, body: told } = await call('PUT', 'Consent/shutting', { token: stranger, body, headers: json })
    expect([status, told.error_code]).toEqual([403, 'FORBIDDEN'])
    expect((await asClinic('GET', 'Observation/open-o')).status).toBe(200)
  })

  test('end for what is left of a record, too, when the Patient is no more', async () => {
    await store(
      { resourceType: 'Patient', id: 'late' },
      observation('late-o', 'late', 'of somebody'),
      consentOf('late-consent', 'late', 'clinic'),
      consentOf('late-other', 'late', 'other'),
    )
    expect((await call('DELETE', 'Patient/late')).status).toBe(204)
    const inactive = { ...consentOf('late-consent', 'late', 'clinic'), status: 'inactive' }
    expect((await call('PUT', 'Consent/late-consent', { body: inactive })).status).toBe(200)
    expect((await call('DELETE', 'Consent/late-other')).status).toBe(204)
    expect((await asClinic('GET', 'Observation/late-o')).status).toBe(403)
    expect((await call('GET', 'Observation/late-o', { token: stranger })).status).toBe(403)
  })
})

describe('saying that two patients are one', () => {
  test.each(['replaced-by', 'replaces'])(
    "a link %s leads from nobody of one's own to whom one does not see",
    async type => {
      const own = mintHealthId('CM')
      const body = { ...holder(`bait-${type}`, own), link: [{ type, other: about('hidden') }] }
      const { status, body: told } = await asClinic('PUT', `Patient/bait-${type}`, { body, headers: json })
      expect([status, told.error_code]).toEqual([403, 'FORBIDDEN'])
      const verified = await asClinic('GET', `/api/v1/connect/patients/verify/${own}`)
      expect(verified.text).not.toContain(healthId)
    },
  )

  test('borrows no consent of another, whose Patient is seen as well', async () => {
    await store({ resourceType: 'Patient', id: 'narrow' }, observation('narrow-o', 'narrow', 'secret'))
    await store(consentOf('narrow-consent', 'narrow', 'clinic', ofType('Patient')))
    const link = (id: string, type: string, other: string) => ({
      resource: { resourceType: 'Patient', id, link: [{ type, other: about(other) }] },
      request: { method: 'PUT', url: `Patient/${id}` },
    })
    const both = bundle('transaction', link('narrow', 'replaced-by', 'open'), link('open', 'replaces', 'narrow'))
    expect((await asClinic('POST', '', { body: both })).status).toBe(403)
    const parameter = [
      { name: 'source-patient', valueReference: about('narrow') },
      { name: 'target-patient', valueReference: about('open') },
    ]
    const merge = { resourceType: 'Parameters', parameter }
    expect((await asClinic('POST', 'Patient/$merge', { body: merge })).status).toBe(403)
    expect((await asClinic('GET', 'Observation/narrow-o')).status).toBe(403)
  })

  test('is not undone either, so that a refusal of one goes on counting for the other', async () => {
    const link = (type: string, other: string) => [{ type, other: about(other) }]
    await store(
      { resourceType: 'Patient', id: 'twice', link: link('replaces', 'once') },
      { resourceType: 'Patient', id: 'once', active: false, link: link('replaced-by', 'twice') },
      observation('twice-o', 'twice', 'secret'),
      consentOf('twice-consent', 'twice', 'clinic'),
      consentOf('once-refusal', 'once', 'clinic', { type: 'deny', ...ofType('Observation') }),
    )
    expect((await asClinic('GET', 'Patient/twice')).status).toBe(200)
    for (const id of ['once', 'twice']) {
      expect((await asClinic('PUT', `Patient/${id}`, { body: { resourceType: 'Patient', id } })).status).toBe(403)
      expect((await asClinic('DELETE', `Patient/${id}`)).status).toBe(403)
    }
    const same = { resourceType: 'Patient', id: 'twice', active: true, link: link('replaces', 'once') }
    expect((await asClinic('PUT', 'Patient/twice', { body: same })).status).toBe(200)
    expect((await asClinic('GET', 'Observation/twice-o')).status).toBe(403)
  })
})

describe('what identifies somebody', () => {
  const numbers = (organization: string) => `${service.url}/fhir/NamingSystem/external-reference/${organization}`

  test('for other organisations is not for this one to write, so that they find whom they mean', async () => {
    const system = numbers('other')
    const body = {
      resourceType: 'Patient',
      id: 'posing',
      active: true,
      ...named,
      identifier: [{ system, value: 'F-7' }],
    }
    expect((await asClinic('PUT', 'Patient/posing', { body })).status).toBe(403)
    const own = { ...body, identifier: [{ system: numbers('clinic'), value: 'F-7' }] }
    expect((await asClinic('PUT', 'Patient/posing', { body: own })).status).toBe(201)
    expect((await asClinic('DELETE', 'Patient/posing')).status).toBe(204)
  })

  test('for several organisations stays when one of them changes something else', async () => {
    const identifier = [{ system: numbers('other'), value: 'F-8' }]
    const shared = { resourceType: 'Patient', id: 'shared', identifier }
    await store(shared, consentOf('shared-consent', 'shared', 'clinic'))
    expect((await asClinic('PUT', 'Patient/shared', { body: { ...shared, gender: 'female' } })).status).toBe(200)
    expect((await asClinic('PUT', 'Patient/shared', { body: { ...shared, identifier: [] } })).status).not.toBe(200)
    const without = { resourceType: 'Patient', id: 'shared' }
    expect((await asClinic('PUT', 'Patient/shared', { body: without })).status).toBe(403)
  })

  test('is not taken from one and given to another', async () => {
    const own = mintHealthId('CM')
    await store(holder('robbed', own), consentOf('robbed-consent', 'robbed', 'clinic'))
    const { identifier: _identifier, ...bare } = holder('robbed', own)
    expect((await asClinic('PUT', 'Patient/robbed', { body: bare })).status).toBe(403)
    expect((await asClinic('PUT', 'Patient/robbed', { body: holder('robbed', mintHealthId('CM')) })).status).toBe(403)
    expect((await asClinic('DELETE', 'Patient/robbed')).status).toBe(403)
    expect((await asClinic('PUT', 'Patient/thief', { body: holder('thief', own) })).status).toBe(409)
    expect(
      (await asClinic('PUT', 'Patient/robbed', { body: { ...holder('robbed', own), gender: 'female' } })).status,
    ).toBe(200)
  })

  test('is imported as little', async () => {
    const lines = [observation('hidden-o', 'open', 'taken'), consentOf('imported', 'hidden', 'other')]
    const body = lines.map(line => JSON.stringify(line)).join('\n')
    const headers = { 'content-type': 'application/fhir+ndjson' }
    const address = await ordered(call, '$import', { token: clinic, body, headers })
    expect((await ended(call, address, { token: clinic })).body.output[0]).toMatchObject({ count: 0 })
    expect((await call('GET', 'Observation/hidden-o')).text).toContain('secret')
  })
})

describe('a telephone', () => {
  let people = 0
  async function enrolled() {
    const id = `caller-${++people}`
    const own = mintHealthId('CM')
    await store(holder(id, own), observation(`${id}-o`, id, 'secret'))
    const { code } = await issueCode(service.application.database, id, Date.now())
    const reply = await call('POST', '/api/v1/mobile/enrol', {
      body: JSON.stringify({ health_id: own, code }),
      headers: json,
    })
    const { token } = reply.body
    const phone = (method: string, path: string) => call(method, `/api/v1/mobile/${path}`, { token, headers: json })
    return { id, token, phone, opened: async () => (await asClinic('GET', `Observation/${id}-o`)).status === 200 }
  }

  test('gives nothing that it cannot show', async () => {
    const { id, phone, opened } = await enrolled()
    const body = consentOf(`${id}-part`, id, 'clinic', ofType('Immunization'), { status: 'proposed' })
    expect((await asClinic('PUT', `Consent/${id}-part`, { body })).status).toBe(201)
    expect((await phone('GET', 'consents')).body.data[0]).toMatchObject({ consent_type: null, status: 'pending' })
    expect((await phone('POST', `consents/${id}-part/grant`)).status).toBe(409)
    expect(await opened()).toBe(false)
    expect((await phone('POST', `consents/${id}-part/deny`)).status).toBe(200)
  })

  const { actor } = consentOf('', '', 'clinic').provision
  test.each<[string, object]>([
    ['an exception that does not say so', { type: 'deny', actor: undefined, provision: [{ actor }] }],
    [
      'an exception to an exception',
      { type: 'deny', actor: undefined, provision: [{ type: 'deny', provision: [{ type: 'permit', actor }] }] },
    ],
    ['opting in', { type: undefined }],
  ])('shows and takes back what opens by %s', async (_name, provision) => {
    const { id, phone, opened } = await enrolled()
    const more = { policyRule: { coding: [{ code: 'OPTIN' }] } }
    const body = consentOf(`${id}-odd`, id, 'clinic', provision, 'type' in provision && !provision.type ? more : {})
    await store(body)
    expect(await opened()).toBe(true)
    expect((await phone('GET', 'consents')).body.data[0]).toMatchObject({ status: 'active', organization_id: 'clinic' })
    expect((await phone('POST', `consents/${id}-odd/revoke`)).status).toBe(200)
    expect(await opened()).toBe(false)
  })

  test('answers nobody else, and reads no FHIR', async () => {
    const [one, other] = [await enrolled(), await enrolled()]
    const body = consentOf(`${one.id}-all`, one.id, 'clinic', {}, { status: 'proposed' })
    await asClinic('PUT', `Consent/${one.id}-all`, { body })
    expect((await other.phone('POST', `consents/${one.id}-all/grant`)).status).toBe(404)
    for (const path of [`Patient/${one.id}`, `Observation/${other.id}-o`, 'AuditEvent', '_history'])
      expect((await call('GET', path, { token: other.token })).status).toBe(401)
    expect(
      (await call('GET', `/api/v1/connect/patient/search?health_id=${healthId}`, { token: other.token })).status,
    ).toBe(401)
    expect((await call('GET', '/api/v1/mobile/consents', { token: clinic })).status).toBe(401)
  })
})

describe('what was told once', () => {
  let keys = 0
  const send = (token: string, key: string, body: object, headers: Record<string, string> = {}) =>
    call('POST', '', { token, body, headers: { 'idempotency-key': key, ...headers } })

  test.each(['batch', 'transaction'])('by a %s is not told again when the consent is over', async type => {
    const [key, patient] = [`key-${++keys}`, `brief-${keys}`]
    await store({ resourceType: 'Patient', id: patient }, observation(`${patient}-o`, patient, 'secret'))
    await store(consentOf(`${patient}-consent`, patient, 'clinic'))
    const basic = { resourceType: 'Basic', code: { text: 'x' } }
    const body = bundle(type, read(`Observation/${patient}-o`), {
      resource: basic,
      request: { method: 'POST', url: 'Basic' },
    })
    const first = await send(clinic, key, body)
    expect(first.text).toContain('secret')
    await call('DELETE', `Consent/${patient}-consent`)
    const again = await send(clinic, key, body)
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    expect(again.text).not.toMatch(shut)
    expect(again.body.entry[0].response.outcome.issue[0].code).toBe('suppressed')
    expect(again.body.entry[1]).toEqual(first.body.entry[1])
  })

  test('by a creation that found something is not told again when the consent is over', async () => {
    await store({ resourceType: 'Patient', id: 'found' }, observation('found-o', 'found', 'secret'))
    await store(consentOf('found-consent', 'found', 'clinic'))
    const { id: _id, ...body } = observation('', 'found', 'own')
    const headers = { 'if-none-exist': 'patient=found', 'idempotency-key': 'found' }
    const first = await asClinic('POST', 'Observation', { body, headers })
    expect([first.status, first.body.id]).toEqual([200, 'found-o'])
    await call('DELETE', 'Consent/found-consent')
    const again = await asClinic('POST', 'Observation', { body, headers })
    expect([again.status, shut.test(again.text)]).toEqual([201, false])
    const third = await asClinic('POST', 'Observation', { body, headers })
    expect([third.headers.get('idempotent-replayed'), third.body]).toEqual(['true', again.body])
  })

  test('in an emergency is not told again without one', async () => {
    const token = await mint(`ambulance-${++keys}`, 'ambulance')
    const body = bundle('batch', read('Observation/hidden-o'), read('Patient/hidden'))
    expect((await send(token, 'emergency', body, declared)).text).toContain('secret')
    expect((await send(token, 'emergency', body)).text).not.toMatch(shut)
    expect((await send(token, 'another', body)).text).not.toMatch(shut)
  })

  test('to one client is not told to another of its organisation by the same key', async () => {
    const { id: _id, ...own } = observation('', 'hidden', 'own')
    const options = { body: own, headers: { 'idempotency-key': 'shared' } }
    const made = await asClinic('POST', 'Observation', options)
    const { status, headers } = await call('POST', 'Observation', { token: neighbour, ...options })
    expect([status, headers.get('idempotent-replayed')]).toEqual([201, null])
    expect((await call('GET', `Observation/${made.body.id}`, { token: neighbour })).status).toBe(403)
  })

  test("in a file is for the client that asked for it, and nobody is in it by being in a group of one's own", async () => {
    const address = await ordered(call, 'Group/own-group/$export', { token: clinic })
    const { body } = await ended(call, address, { token: clinic })
    const files = body.output as { type: string; url: string; count: number }[]
    const texts = await Promise.all(
      files.map(async ({ url }) => (await fetch(url, { headers: { authorization: `Bearer ${clinic}` } })).text()),
    )
    expect(texts.join('')).toContain('"id":"open"')
    expect(texts.join('')).not.toMatch(shut)
    for (const token of [neighbour, stranger]) {
      expect((await fetch(files[0]!.url, { headers: { authorization: `Bearer ${token}` } })).status).toBe(404)
      expect((await call('GET', address, { token })).status).toBe(404)
    }
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
    const { text } = await call('GET', 'AuditEvent?patient=hidden', { token: stranger })
    expect(text).not.toContain('hidden-o')
    expect((await asClinic('PUT', 'AuditEvent/1-1', { body: {} })).status).toBe(405)
  })

  test('and reviews are for nobody else to see', async () => {
    expect(matchIds((await asClinic('GET', 'Task')).body)).toEqual(['own-task'])
  })
})
