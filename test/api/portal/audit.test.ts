// The audit trail in the portal: who sees which rows, what they say, and how the trail is verified.
import { beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../../src/identity/clients.ts'
import { consentOf } from '../../support/consents.ts'
import { creatorBy, fhirCaller } from '../../support/fhir.ts'
import { type PortalUser, portalUser } from '../../support/portal.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf, tamper } from '../../support/trail.ts'
import { healthIdSystem } from '../connect/support.ts'

let service: Service
let officer: PortalUser
let administrator: PortalUser
const call = fhirCaller(() => service)
const healthId = 'CM-TQYE-6SRK-YQ6S'
const hostile = '<script>alert(1)</script>'

const mint = (clientId: string, organizationId: string) =>
  service.application.identity.tokens.mint({ clientId, organizationId, consentExempt: false }, [
    'system/*.rs',
    'emergency:access',
  ])

beforeAll(async () => {
  service = await startService()
  const official = { use: 'official', system: healthIdSystem(service), value: healthId }
  await creatorBy(call)(
    { resourceType: 'Patient', id: 'amina', identifier: [official] },
    { resourceType: 'Patient', id: 'samuel' },
    consentOf('by-amina', 'amina', 'hospital-a'),
  )
  const named = { id: 'ward-app', name: hostile, organizationId: 'hospital-a', scopes: [] }
  await createClient(service.application.database, 'local', named)
  const [ours, theirs] = [await mint('ward-app', 'hospital-a'), await mint('lab-app', 'hospital-b')]
  await call('GET', 'Patient/amina', { token: ours, headers: { 'x-request-id': 'read-amina' } })
  await call('GET', 'Patient/samuel', { token: ours })
  await call('GET', 'Patient/samuel', {
    token: ours,
    headers: { 'x-emergency-access': 'true', 'x-emergency-reason': `unconscious ${hostile}` },
  })
  await call('GET', `Observation?patient=samuel&code=${encodeURIComponent(hostile)}`, { token: ours })
  await call('GET', 'Patient/amina', { token: theirs })
  officer = await portalUser(service, ['privacy_officer'])
  administrator = await portalUser(service, ['administrator'], 'elsewhere')
})

/** The rows of the table as texts, without markup. */
const rowsIn = (text: string): string[] =>
  [...text.matchAll(/<tr><td.*?<\/tr>/gs)].map(([row]) => row.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' '))

const found = async (query: string, user = officer): Promise<string[]> =>
  rowsIn((await user.get(`/portal/audit?${query}`)).text)

describe('a privacy officer', () => {
  test('sees what the own organisation did, and an administrator what all did', async () => {
    const own = (await found('')).join('\n')
    expect(own).toContain('ward-app')
    expect(own).not.toMatch(/lab-app|hospital-b|demo-client/)
    const all = (await found('', administrator)).join('\n')
    for (const client of ['ward-app', 'lab-app', 'demo-client']) expect(all).toContain(client)
  })

  test('reads who did what with whom, from where, why and how it ended', async () => {
    const { text } = await officer.get('/portal/audit?request=read-amina')
    const [row, ...more] = rowsIn(text)
    expect(more).toEqual([])
    expect(row).toMatch(/ward-app hospital-a Read Patient amina version 1 amina 127\.0\.0\.1 .* done treatment/)
    expect(text).toMatch(/<time datetime="20\d\d-[^"]+Z">/)
  })

  test('finds an emergency with its reason, and a refusal with its code', async () => {
    const [emergency, ...more] = await found('action=emergency')
    expect(more).toEqual([])
    expect(emergency).toMatch(/Emergency access Patient samuel unconscious .* done emergency, without consent/)
    const refused = await found('outcome=4')
    expect(refused).toEqual([expect.stringMatching(/samuel .* refused CONSENT_REQUIRED/)])
  })

  test.each([
    ['patient=amina', /^(?!.*samuel)/],
    ['patient=Patient/amina', /amina/],
    [`patient=${healthId.toLowerCase()}`, /amina/],
    ['client=ward-app', /ward-app/],
    ['action=R&outcome=0', /Read/],
    ['from=2020-01-01&to=2100-01-01&client=ward-app', /ward-app/],
  ])('searches by %s', async (query, expected) => {
    const rows = await found(query)
    expect(rows.length).toBeGreaterThan(0)
    for (const row of rows) expect(row).toMatch(expected)
  })

  test.each(['patient=nobody', 'client=lab-app', 'from=2100-01-01', 'to=2020-01-01', 'request=none', 'action=D'])(
    'finds nothing by %s',
    async query => expect(await found(query)).toEqual([]),
  )

  test.each([
    ['from=2026-02-30', 422],
    ['action=X', 422],
    ['after=1', 400],
    ['patient=CM-TQYE-6SRK-YQ6T', 422],
  ])('is told what is wrong with %s', async (query, status) => {
    const { status: given, text } = await officer.get(`/portal/audit?${query}`)
    expect([given, text.includes('class="failure"')]).toEqual([status, true])
    expect(text).not.toContain(healthId)
  })

  test('looks on record: who looked, and for what', async () => {
    const { headers } = await officer.get('/portal/audit?patient=amina')
    const rows = await rowsOf(await databaseOf(service), headers.get('x-request-id')!)
    expect(rows).toMatchObject([
      {
        client_id: expect.stringMatching(/^user\/usr_/),
        organization_id: 'hospital-a',
        resource_type: 'AuditEvent',
        query: 'AuditEvent?patient=amina',
        outcome: 0,
      },
    ])
    const [row] = await found(`request=${headers.get('x-request-id')}`)
    expect(row).toContain(officer.email)
  })

  test('reads names and requests that are scripts as these texts', async () => {
    const { text } = await officer.get(`/portal/audit?client=${encodeURIComponent(`"><img src=x>${hostile}`)}`)
    expect(text).toContain('value="&quot;&gt;&lt;img src=x&gt;&lt;script&gt;')
    const all = await officer.get('/portal/audit?client=ward-app')
    expect(all.text).toContain('<strong>&lt;script&gt;alert(1)&lt;/script&gt;</strong>')
    expect(all.text).toContain('unconscious &lt;script&gt;')
    expect(all.text).not.toMatch(/<script>alert|<img/)
  })

  test('follows pages to the last row, each row once, under the filters', async () => {
    const token = await mint('busy-app', 'hospital-c')
    await Promise.all(Array.from({ length: 120 }, () => call('GET', 'Patient/samuel', { token })))
    const theirs = await portalUser(service, ['privacy_officer'], 'hospital-c')
    const requests: string[] = []
    let pages = 0
    for (let path: string | undefined = '/portal/audit?client=busy-app'; path; pages++) {
      const { text } = await theirs.get(path)
      for (const row of rowsIn(text)) requests.push(/Request id (\S+)/.exec(row)![1]!)
      path = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    }
    expect([pages, requests.length, new Set(requests).size]).toEqual([3, 120, 120])
  })
})

describe('other users', () => {
  test('read nothing of the trail, and verify nothing', async () => {
    for (const role of ['developer', 'informaticist'] as const) {
      const user = await portalUser(service, [role])
      const page = await user.get('/portal/audit')
      expect([page.status, (await user.post('/portal/audit/verification')).status]).toEqual([403, 403])
      expect(page.text).not.toContain('ward-app')
      expect((await user.get('/portal')).text).not.toContain('href="/portal/audit"')
    }
  })
})

describe('the verification', () => {
  test('says that the trail is intact, how much was read, and leaves a row with the user', async () => {
    const { status, text, headers } = await officer.post('/portal/audit/verification')
    expect(status).toBe(200)
    expect(text).toContain('The audit trail is intact.')
    expect(text).toMatch(/Rows found good: [\d,]+\. Chains: 1\./)
    expect(text).toContain('There is no anchor outside of the database yet')
    const rows = await rowsOf(await databaseOf(service), headers.get('x-request-id')!)
    expect(rows).toMatchObject([{ client_id: expect.stringMatching(/^user\//), outcome: 0 }])
  })

  test('is asked for by pages of the service alone', async () => {
    const from = { origin: 'https://evil.example' }
    expect((await officer.post('/portal/audit/verification', {}, from)).status).toBe(403)
  })

  test('names the row that was changed past the service', async () => {
    await tamper(await databaseOf(service), 'update audit_row set version = 7 where chain = 1 and sequence = 2')
    const { text } = await officer.post('/portal/audit/verification')
    expect(text).toContain('The audit trail is broken.')
    expect(text).toContain('AuditEvent/1-2: the row does not match its hash')
    expect(text).not.toContain('The audit trail is intact.')
    const french = await officer.post('/portal/audit/verification', {}, { 'accept-language': 'fr' })
    expect(french.text).toContain('AuditEvent/1-2: la ligne ne correspond pas à son empreinte')
  })
})

describe('signing in', () => {
  const dicom = 'http://dicom.nema.org/resources/ontology/DCM'
  const signIn = (email: string, password: string, requestId: string) =>
    fetch(`${service.url}/api/v1/portal/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': requestId },
      body: JSON.stringify({ email, password }),
    })
  /** The one event of a request, as FHIR has it. */
  async function eventOf(requestId: string) {
    const database = await databaseOf(service)
    const [row, ...more] = await rowsOf(database, requestId)
    expect(more).toEqual([])
    const { body } = await call('GET', `AuditEvent/${row!.chain}-${row!.sequence}`)
    return { row: row!, event: body }
  }

  test('is on record with the user and the session, as is signing out', async () => {
    const somebody = await portalUser(service, ['developer'])
    const answer = await signIn(somebody.email, somebody.password, 'signing-in')
    const cookie = /^service_session=[^;]*/.exec(answer.headers.get('set-cookie') ?? '')![0]
    const { user_id: user } = (await answer.json()) as { user_id: string }
    const begun = await eventOf('signing-in')
    const who = {
      client_id: `user/${user}`,
      organization_id: 'hospital-a',
      address: '127.0.0.1',
      outcome: 0,
      patients: [],
    }
    expect(begun.row).toMatchObject({ ...who, interaction: 'login', action: 'E', query: '' })
    expect(begun.row.token_id).not.toBe('')
    expect(begun.event).toMatchObject({
      type: { system: dicom, code: '110114' },
      subtype: [{ system: dicom, code: '110122' }],
      outcome: '0',
    })
    const out = await fetch(`${service.url}/api/v1/portal/session`, {
      method: 'DELETE',
      headers: { cookie, 'x-request-id': 'signing-out', origin: service.url },
    })
    expect(out.status).toBe(204)
    const ended = await eventOf('signing-out')
    expect(ended.row).toMatchObject({ ...who, interaction: 'logout', token_id: begun.row.token_id })
    expect(ended.event.subtype).toMatchObject([{ system: dicom, code: '110123' }])
    const shown = (await found('action=login')).join('\n')
    expect(shown).toContain(`${somebody.email} user/${user} hospital-a Sign-in`)
    expect(shown).not.toContain('Sign-out')
  })

  test('with a wrong password is on record with the user, for an unknown address with nobody, and never with what was typed', async () => {
    const somebody = await portalUser(service, ['developer'])
    expect((await signIn(somebody.email, 'wrong-secret', 'wrong-password')).status).toBe(401)
    const refused = { interaction: 'login', outcome: 4, problem: 'UNAUTHENTICATED', token_id: '' }
    const { row, event } = await eventOf('wrong-password')
    expect(row).toMatchObject({
      ...refused,
      client_id: expect.stringMatching(/^user\/usr_/),
      organization_id: 'hospital-a',
    })
    expect((await signIn('typed-secret@hospital.example', 'wrong-secret', 'unknown-address')).status).toBe(401)
    const unknown = await eventOf('unknown-address')
    expect(unknown.row).toMatchObject({ ...refused, client_id: '', organization_id: '' })
    expect(JSON.stringify([row, event, unknown])).not.toContain('secret')
    expect((await found('action=login&outcome=4')).join('\n')).toMatch(/hospital-a Sign-in .* refused/)
  })

  test('is found by the codes of DICOM, apart from interactions of FHIR and emergencies', async () => {
    const codes = async (query: string): Promise<string[]> => {
      const { body } = await call('GET', `AuditEvent?${query}&_count=100`)
      return [
        ...new Set<string>(
          body.entry.map((each: { resource: { subtype: { code: string }[] } }) => each.resource.subtype[0]!.code),
        ),
      ].sort()
    }
    expect(await codes(`type=${dicom}|110114`)).toEqual(['110122', '110123'])
    expect(await codes('subtype=110122')).toEqual(['110122'])
    expect(await codes('type=110113')).toEqual(['110127'])
    const rest = await codes('type=rest')
    expect(rest).toContain('read')
    expect(rest.filter(each => each.startsWith('110'))).toEqual([])
  })
})
