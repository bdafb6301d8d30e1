// Patients in the portal: whom a privacy officer finds, what is shown of consents and accesses, and who could see what.
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { createClient, revokeClient } from '../../../src/identity/clients.ts'
import { consentOf, ofType } from '../../support/consents.ts'
import { creatorBy, fhirCaller } from '../../support/fhir.ts'
import { type PortalUser, portalUser } from '../../support/portal.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'
import { healthIdSystem, setClock } from '../connect/support.ts'

let service: Service
let officer: PortalUser
let administrator: PortalUser
const call = fhirCaller(() => service)
const hostile = '<img src=x onerror=alert(1)>'
const healthId = 'CM-TQYE-6SRK-YQ6S'
const othersHealthId = 'CM-72GS-8CYN-J8XR'

const mint = (clientId: string, organizationId: string, ...scopes: string[]) =>
  service.application.identity.tokens.mint({ clientId, organizationId, consentExempt: false }, scopes)

const client = (id: string, organizationId: string, scopes: readonly string[], more: object = {}) =>
  createClient(service.application.database, 'local', { id, name: `${id} ${hostile}`, organizationId, scopes, ...more })

const inactive = (reason: string) => ({
  status: 'inactive',
  extension: [{ url: 'https://health-interop.org/fhir/StructureDefinition/consent-end-reason', valueCode: reason }],
})

beforeAll(async () => {
  service = await startService()
  const holder = (id: string, value: string) => ({
    resourceType: 'Patient',
    id,
    identifier: [{ use: 'official', system: healthIdSystem(service), value }],
    name: [{ family: 'Bello', given: ['Amina'] }],
  })
  const observation = (id: string, patient: string) => ({
    ...{ resourceType: 'Observation', id, status: 'final', code: { text: 'haemoglobin' } },
    subject: { reference: `Patient/${patient}` },
  })
  const bare = (id: string) => ({ resourceType: 'Patient', id })
  await creatorBy(call)(
    holder('amina', healthId),
    holder('samuel', othersHealthId),
    ...['asked', 'revoked', 'wide', 'emergency', 'recorded', 'nobodys', 'refused'].map(bare),
    observation('of-amina', 'amina'),
    observation('of-wide', 'wide'),
    consentOf('by-amina', 'amina', 'hospital-a', ofType('Observation', 'Patient')),
    consentOf('by-amina-for-b', 'amina', 'hospital-b'),
    consentOf('by-samuel', 'samuel', 'hospital-b'),
    consentOf('of-asked', 'asked', 'hospital-a', {}, { status: 'proposed' }),
    consentOf('of-revoked', 'revoked', 'hospital-a', {}, inactive('revoked')),
    consentOf('of-wide', 'wide', 'hospital-a', { period: { end: '2099-01-01T00:00:00Z' } }),
    consentOf('of-refused', 'refused', 'hospital-a', { type: 'deny' }),
  )
  const scopes = ['system/Observation.rs', 'system/Patient.rs']
  await client('ward-app', 'hospital-a', scopes)
  await client('old-app', 'hospital-a', scopes)
  await revokeClient(service.application.database, 'old-app')
  await client('keeper', 'hospital-a', scopes, { consentExempt: true })
  await client('lab-app', 'hospital-b', scopes)
  const ours = await mint('ward-app', 'hospital-a', 'system/*.cruds', 'emergency:access')
  const theirs = await mint('lab-app', 'hospital-b', 'system/*.cruds')
  const flag = {
    resourceType: 'Flag',
    status: 'active',
    code: { text: 'x' },
    subject: { reference: 'Patient/recorded' },
  }
  expect((await call('POST', 'Flag', { token: ours, body: flag })).status).toBe(201)
  await call('GET', 'Patient/amina', { token: ours })
  await call('GET', 'Patient/amina', { token: theirs })
  const emergency = { 'x-emergency-access': 'true', 'x-emergency-reason': `unconscious ${hostile}` }
  await call('GET', 'Patient/emergency', { token: ours, headers: emergency })
  officer = await portalUser(service, ['privacy_officer'])
  administrator = await portalUser(service, ['administrator'], 'elsewhere')
})

const find = (health_id: string, user = officer) => user.post('/portal/patients', { health_id })

/** The section below a heading, without markup. */
const section = (text: string, heading: string): string =>
  text
    .split('<h2>')
    .find(each => each.startsWith(heading))!
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')

describe('a privacy officer finds a patient', () => {
  test('by Health ID, as it is written on the card, and that is on record', async () => {
    const { status, headers } = await find(' cm-tqye-6srk-yq6s ')
    expect([status, headers.get('location')]).toEqual([303, '/portal/patients/amina'])
    expect(await rowsOf(await databaseOf(service), headers.get('x-request-id')!)).toMatchObject([
      {
        ...{ client_id: expect.stringMatching(/^user\/usr_/), organization_id: 'hospital-a', patients: ['amina'] },
        ...{ query: `portal/patients?health_id=${healthId}`, outcome: 0 },
      },
    ])
  })

  test.each(['asked', 'revoked', 'wide', 'emergency', 'recorded'])(
    'with whom the organisation has to do: %s',
    async id => {
      expect((await officer.get(`/portal/patients/${id}`)).status).toBe(200)
    },
  )

  test('who was merged with one whom the organisation knows', async () => {
    const link = (type: string, id: string) => ({ link: [{ type, other: { reference: `Patient/${id}` } }] })
    await creatorBy(call)({ resourceType: 'Patient', id: 'kept' }, { resourceType: 'Patient', id: 'gone' })
    await creatorBy(call)(consentOf('of-gone', 'gone', 'hospital-a'))
    expect((await officer.get('/portal/patients/kept')).status).toBe(404)
    const token = await mint('ward-app', 'hospital-a', 'system/*.rs')
    expect((await call('GET', 'Patient/gone', { token })).status).toBe(200)
    for (const [id, type, other] of [
      ['kept', 'replaces', 'gone'],
      ['gone', 'replaced-by', 'kept'],
    ] as const) {
      const body = { resourceType: 'Patient', id, ...link(type, other) }
      expect((await call('PUT', `Patient/${id}`, { body })).status).toBe(200)
    }
    const { status, text } = await officer.get('/portal/patients/kept')
    expect([status, section(text, 'Consents').includes('of-gone')]).toEqual([200, true])
    expect(section(text, 'Who looked')).toMatch(/ward-app.* Patient gone /s)
  })

  test('not one of others: as one that there is not, and no row names the patient', async () => {
    const [others, none] = [await find(othersHealthId), await find('CM-9C1T-3NR9-A9HC')]
    const words = (text: string) => text.replace(/<code>[^<]+<\/code>/, '')
    expect([others.status, none.status, words(others.text)]).toEqual([404, 404, words(none.text)])
    for (const { headers } of [others, none])
      expect(await rowsOf(await databaseOf(service), headers.get('x-request-id')!)).toMatchObject([
        { resource_type: 'Patient', resource_id: '', patients: [], resources: 0 },
      ])
    for (const id of ['samuel', 'nobodys', 'refused', 'nobody']) {
      const { status, text } = await officer.get(`/portal/patients/${id}`)
      expect([id, status, text.includes('by-samuel')]).toEqual([id, 404, false])
    }
    expect((await find(othersHealthId, administrator)).headers.get('location')).toBe('/portal/patients/samuel')
  })

  test('not by a wrong Health ID, for which no other is suggested', async () => {
    const { status, text } = await find('CM-TQYE-6SRK-YQ6T')
    expect([status, text.includes(healthId)]).toEqual([422, false])
  })

  test('and other users none', async () => {
    for (const role of ['developer', 'informaticist'] as const) {
      const user = await portalUser(service, [role])
      expect((await user.get('/portal/patients/amina')).status).toBe(403)
      expect((await find(healthId, user)).status).toBe(403)
    }
    const other = await portalUser(service, ['privacy_officer'], 'hospital-c')
    expect([(await find(healthId, other)).status, (await other.get('/portal/patients/amina')).status]).toEqual([
      404, 404,
    ])
  })
})

describe('the page of a patient', () => {
  test('shows the consents for the organisation, those for others to administrators alone, and no data of care', async () => {
    const own = await officer.get('/portal/patients/amina')
    expect(section(own.text, 'Consents')).toMatch(/granted hospital-a .* by-amina /)
    for (const text of ['by-amina-for-b', 'hospital-b', 'lab-app', 'Bello', 'haemoglobin'])
      expect(own.text).not.toContain(text)
    const all = await administrator.get('/portal/patients/amina')
    expect(section(all.text, 'Consents')).toMatch(/by-amina-for-b/)
    expect(all.text).not.toMatch(/Bello|haemoglobin/)
    expect(own.text).toContain(healthId)
  })

  test.each([
    ['asked', 'requested'],
    ['revoked', 'revoked'],
    ['wide', 'granted'],
  ])('says how the consent of %s stands: %s', async (id, status) => {
    expect(section((await officer.get(`/portal/patients/${id}`)).text, 'Consents')).toContain(` ${status} hospital-a `)
  })

  test('shows who of the organisation looked, an emergency with its reason, and all accesses to administrators', async () => {
    const own = section((await officer.get('/portal/patients/amina')).text, 'Who looked')
    expect(own).toContain('ward-app')
    expect(own).not.toContain('lab-app')
    expect(section((await administrator.get('/portal/patients/amina')).text, 'Who looked')).toContain('lab-app')
    expect(section((await officer.get('/portal/patients/emergency')).text, 'Who looked')).toContain(
      'Emergency access Patient emergency unconscious',
    )
  })

  test('is on record under the patient', async () => {
    const { headers } = await officer.get('/portal/patients/amina')
    const rows = await rowsOf(await databaseOf(service), headers.get('x-request-id')!)
    expect(rows.map(({ resource_type, patients }) => [resource_type, patients])).toEqual([
      ['Patient', ['amina']],
      ['Consent', ['amina']],
      ['Consent', ['amina']],
      ['Task', ['amina']],
      ['AuditEvent', []],
    ])
    expect(rows.map(({ query }) => query)).toContain('consents/timeline?patient=amina')
    expect(rows.at(-1)!.query).toBe('AuditEvent?patient=amina')
  })

  test('shows names and reasons that are markup as texts', async () => {
    const { text } = await officer.get('/portal/patients/emergency')
    expect(text).toContain('unconscious &lt;img src=x')
    expect(text).not.toContain('<img')
  })

  test('leads through the accesses page by page', async () => {
    const token = await mint('ward-app', 'hospital-a', 'system/*.rs')
    for (let times = 0; times < 25; times++) await call('GET', 'Patient/wide', { token })
    const { text } = await officer.get('/portal/patients/wide')
    const next = /rel="next" href="([^"]+)"/.exec(text)![1]!
    const rows = (page: string) => [...section(page, 'Who looked').matchAll(/Request id (\S+)/g)].map(([, id]) => id)
    const [first, second] = [rows(text), rows((await officer.get(next)).text)]
    expect([first.length, second.filter(each => first.includes(each))]).toEqual([20, []])
    expect(second.length).toBeGreaterThan(4)
  })
})

describe('the timeline of a patient', () => {
  const path = '/api/v1/connect/patient'
  const json = { 'content-type': 'application/json' }
  let registered = 0

  /** A patient with a Health ID of their own, and a client of an organisation that asks for consents. */
  async function asked(organizationId = 'hospital-a') {
    const token = await mint(
      `client-of-${organizationId}`,
      organizationId,
      'health_id:verify',
      'consents:write',
      'system/*.cruds',
    )
    const somebody = {
      first_name: 'Rose',
      last_name: `Abena${'bcdfghj'[registered]}`,
      date_of_birth: `${1950 + registered++ * 7}-04-05`,
    }
    const { body } = await call('POST', '/api/v1/connect/patients/resolve', {
      token,
      headers: json,
      body: JSON.stringify(somebody),
    })
    const { patient_id: id, health_id } = body
    const consent = async (operation: string, more: object = {}) => {
      const sent = { token, headers: json, body: JSON.stringify(more) }
      const answer = await call('POST', `${path}/${health_id}/consent/${operation}`, sent)
      expect(answer.status, answer.text).toBeLessThan(300)
    }
    return { id, token, consent }
  }

  const entries = (text: string): string[] =>
    [...(text.split('<ol class="timeline"')[1] ?? '').split('</ol>')[0]!.matchAll(/<li>(.*?)<\/li>/gs)].map(
      ([, each]) => each!.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' '),
    )
  const timeline = async (id: string, user = officer, query = '') =>
    entries((await user.get(`/portal/patients/${id}${query}`)).text)

  test('tells what became of a consent, step by step, by whom, for whom and what, newest first', async () => {
    const { id, consent } = await asked()
    await consent('request', { consent_type: 'lab_results', scopes: ['labs:read'] })
    await consent('grant', { consent_type: 'lab_results', scopes: ['labs:read'] })
    await consent('revoke')
    const [revoked, granted, requested, ...more] = await timeline(id)
    expect(more).toEqual([])
    for (const [entry, step] of [
      [revoked, 'Revoked'],
      [granted, 'Granted'],
      [requested, 'Requested'],
    ]) {
      expect(entry).toContain(`${step} For hospital-a.`)
      expect(entry).toContain('What it opens: lab_results')
      expect(entry).toContain('Recorded by hospital-a.')
    }
    expect(granted).toContain('Until')
    expect(revoked).toMatch(/Consent\/\S+ version 3/)
  })

  test('tells of changed terms, of an end by time, and of what was withdrawn', async () => {
    const id = 'stepwise'
    await creatorBy(call)({ resourceType: 'Patient', id })
    const put = async (provision: object, more: object = {}) => {
      const body = consentOf('of-stepwise', id, 'hospital-a', provision, more)
      expect((await call('PUT', 'Consent/of-stepwise', { body })).status).toBeLessThan(300)
    }
    const period = (end: string) => ({ period: { end } })
    await put(period('2099-01-01T00:00:00Z'), { status: 'proposed' })
    await put(period('2099-01-01T00:00:00Z'))
    await put(period('2098-01-01T00:00:00Z'))
    await put(period('2098-01-01T00:00:00Z'), { language: 'fr' })
    await put(period('2020-01-01T00:00:00Z'))
    await put(period('2020-01-01T00:00:00Z'), { status: 'entered-in-error' })
    const words = (await timeline(id)).map(each => /(Requested|Granted|Changed|Expired|Withdrawn)/.exec(each)?.[1])
    expect(words).toEqual(['Withdrawn', 'Expired', 'Changed', 'Granted', 'Requested'])
  })

  test('puts an end that came by itself between the changes, at its time', async () => {
    const id = 'run-out'
    await creatorBy(call)(
      { resourceType: 'Patient', id },
      consentOf('of-run-out', id, 'hospital-a', { period: { end: '2099-01-01T00:00:00Z' } }),
    )
    const soon = new Date(Date.now() + 1000).toISOString()
    await call('PUT', 'Consent/of-run-out', {
      body: consentOf('of-run-out', id, 'hospital-a', { period: { end: soon } }),
    })
    setClock(Date.now() + 86_400_000)
    const { text } = await officer.get(`/portal/patients/${id}`)
    vi.useRealTimers()
    const [expired, ...more] = text.split('<ol class="timeline"')[1]!.split('</ol>')[0]!.split('<li>').slice(1)
    expect(expired).toContain(`datetime="${soon}"`)
    expect(expired).toContain('Expired')
    expect(expired).not.toContain('Recorded by')
    expect(more).toHaveLength(2)
  })

  const stepsIn = (all: readonly string[]) =>
    all.map(
      each => /(Requested|Granted|Changed|Expired|Withdrawn|Revoked|Request expired without an answer)/.exec(each)?.[1],
    )

  test('tells an organisation nothing of what a consent opens to another from a version on', async () => {
    const id = 'handed-on'
    await creatorBy(call)(
      { resourceType: 'Patient', id },
      consentOf('kept-by-a', id, 'hospital-a'),
      consentOf('handed-on', id, 'hospital-a'),
    )
    const { status } = await call('PUT', 'Consent/handed-on', { body: consentOf('handed-on', id, 'hospital-b') })
    expect(status).toBe(200)
    const own = await timeline(id)
    expect(stepsIn(own)).toEqual(['Revoked', 'Granted', 'Granted'])
    expect(own.join()).not.toContain('hospital-b')
    const other = await portalUser(service, ['privacy_officer'], 'hospital-b')
    const theirs = await timeline(id, other)
    expect(stepsIn(theirs)).toEqual(['Granted'])
    expect(theirs.join()).not.toContain('hospital-a')
  })

  test('tells of a deletion between two grants, and of a request that nobody answered in time', async () => {
    const id = 'come-back'
    await creatorBy(call)({ resourceType: 'Patient', id })
    const put = async (more: object = {}) => {
      const body = consentOf('come-back', id, 'hospital-a', {}, more)
      expect((await call('PUT', 'Consent/come-back', { body })).status).toBeLessThan(300)
    }
    await put()
    await call('DELETE', 'Consent/come-back')
    const extension = [
      {
        url: 'https://health-interop.org/fhir/StructureDefinition/consent-request-expires-at',
        valueDateTime: new Date(Date.now() + 1000).toISOString(),
      },
    ]
    await put({ status: 'proposed', extension })
    setClock(Date.now() + 60_000)
    const { text } = await officer.get(`/portal/patients/${id}`)
    vi.useRealTimers()
    expect(stepsIn(entries(text))).toEqual(['Request expired without an answer', 'Requested', 'Withdrawn', 'Granted'])
  })

  test('follows the newest fifty consents, and says that there are more', async () => {
    const id = 'many-consents'
    const all = Array.from({ length: 51 }, (_, index) => consentOf(`many-${index}`, id, 'hospital-a'))
    await creatorBy(call)({ resourceType: 'Patient', id }, ...all.slice(0, 50))
    const cut = 'older consents, which are not followed here'
    expect((await officer.get(`/portal/patients/${id}`)).text).not.toContain(cut)
    await creatorBy(call)(all[50]!)
    const { text } = await officer.get(`/portal/patients/${id}?timeline=2`)
    expect([text.includes(cut), entries(text).length]).toEqual([true, 20])
  })

  test('has emergencies on the same line of time, with their reasons as texts and the state of their review', async () => {
    const [entry, ...more] = await timeline('emergency')
    expect(more).toEqual([])
    expect(entry).toContain(
      'Emergency access ward-app (hospital-a): unconscious &lt;img src=x onerror=alert(1)&gt; Until',
    )
    expect(entry).toContain('To review')
  })

  test('shows officers what concerns their organisation, and administrators all', async () => {
    const own = await timeline('amina')
    expect([own.length, own.some(each => each.includes('hospital-b'))]).toEqual([1, false])
    expect(await timeline('amina', administrator)).toHaveLength(2)
  })

  test('comes in pages', async () => {
    const id = 'often'
    await creatorBy(call)({ resourceType: 'Patient', id })
    for (let times = 0; times < 40; times++) {
      const body = consentOf('of-often', id, 'hospital-a', { period: { end: `${2040 + times}-01-01T00:00:00Z` } })
      expect((await call('PUT', 'Consent/of-often', { body })).status).toBeLessThan(300)
    }
    const first = await officer.get(`/portal/patients/${id}`)
    const next = /rel="next" href="([^"]+timeline=2#timeline)"/.exec(first.text)![1]!
    const second = await officer.get(next)
    expect([first, second].map(({ text }) => entries(text).length)).toEqual([30, 10])
    expect(first.text).toContain('<ol class="timeline" reversed start="40">')
    expect(second.text).toContain('<ol class="timeline" reversed start="10">')
    expect(entries(second.text).at(-1)).toContain('Granted')
  })
})

describe('who could see what', () => {
  const decision = async (patient: string, clientId: string, type: string, more = '', user = officer) =>
    section((await user.get(`/portal/patients/${patient}?client=${clientId}&type=${type}${more}`)).text, 'Who could')

  test.each([
    ['amina', 'ward-app', 'Observation', 'Sees all. By these consents: Consent/by-amina without end'],
    ['amina', 'ward-app', 'Condition', 'Sees nothing. No scope of the client'],
    ['wide', 'ward-app', 'Observation', 'Sees all. By these consents: Consent/of-wide until Jan 1, 2099'],
    ['asked', 'ward-app', 'Observation', 'Sees nothing. No consent opens this type'],
    ['revoked', 'ward-app', 'Observation', 'Sees nothing. The consent was revoked.'],
    ['amina', 'old-app', 'Observation', 'Sees nothing. The client is revoked.'],
    ['asked', 'keeper', 'Observation', 'Sees all. The client keeps the records'],
  ])('of %s: %s, %s', async (patient, clientId, type, expected) => {
    expect(await decision(patient, clientId, type)).toContain(expected)
  })

  test('is what the store then does', async () => {
    const token = await mint('ward-app', 'hospital-a', 'system/Observation.rs', 'system/Patient.rs')
    for (const [patient, sees] of [
      ['amina', true],
      ['wide', true],
      ['revoked', false],
      ['asked', false],
    ] as const) {
      expect((await decision(patient, 'ward-app', 'Patient')).includes('Sees all.')).toBe(sees)
      expect((await call('GET', `Patient/${patient}`, { token })).status).toBe(sees ? 200 : 403)
    }
  })

  test('is told of a part, where consents name codes, and for the purpose that is asked for', async () => {
    const code = [{ coding: [{ system: 'http://loinc.org', code: '718-7' }] }]
    const part = { code, purpose: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ActReason', code: 'HRESCH' }] }
    await creatorBy(call)({ resourceType: 'Patient', id: 'part' }, consentOf('of-part', 'part', 'hospital-a', part))
    expect(await decision('part', 'ward-app', 'Observation', '&purpose=HRESCH')).toContain('Sees a part. By these')
    expect(await decision('part', 'ward-app', 'Observation')).toContain('Sees nothing. No consent opens')
  })

  test('is not told of clients of others', async () => {
    expect(await decision('amina', 'lab-app', 'Observation')).toContain('Your organisation has no such client.')
    expect(await decision('amina', 'lab-app', 'Observation', '', administrator)).toContain('Sees all. By these')
    expect(await decision('amina', 'nobody', 'Observation', '', administrator)).toContain('no such client')
  })
})
