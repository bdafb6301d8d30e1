// The review of emergencies in the portal: who sees which, how they are answered, and what is no review.
import { beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../../src/identity/clients.ts'
import { creatorBy, fhirCaller } from '../../support/fhir.ts'
import { type PortalUser, portalUser } from '../../support/portal.ts'
import { type Service, startService } from '../../support/service.ts'
import { databaseOf, rowsOf } from '../../support/trail.ts'

let service: Service
let officer: PortalUser
let other: PortalUser
let administrator: PortalUser
const call = fhirCaller(() => service)

const mint = (clientId: string, organizationId: string) =>
  service.application.identity.tokens.mint({ clientId, organizationId, consentExempt: false }, [
    'system/*.cruds',
    'emergency:access',
  ])

beforeAll(async () => {
  service = await startService()
  for (const [id, organizationId] of [
    ['ward-app', 'hospital-a'],
    ['lab-app', 'hospital-b'],
  ] as const)
    await createClient(service.application.database, 'local', { id, name: id, organizationId, scopes: [] })
  officer = await portalUser(service, ['privacy_officer'])
  other = await portalUser(service, ['privacy_officer'], 'hospital-b')
  administrator = await portalUser(service, ['administrator'], 'elsewhere')
})

let patients = 0

/** An emergency of a patient of its own. @returns the patient */
async function emergency(reason = 'unconscious on arrival', clientId = 'ward-app', organizationId = 'hospital-a') {
  const id = `patient-${++patients}`
  await creatorBy(call)({ resourceType: 'Patient', id })
  const headers = { 'x-emergency-access': 'true', 'x-emergency-reason': reason }
  expect((await call('GET', `Patient/${id}`, { token: await mint(clientId, organizationId), headers })).status).toBe(
    200,
  )
  return id
}

/** The review of a patient on a page: its path, and the version that is shown. */
async function reviewOf(patient: string, user = administrator, state = 'open') {
  const { text } = await user.get(`/portal/emergencies?state=${state}`)
  const article = text.split('<article').find(each => each.includes(`>${patient}</a>`)) ?? ''
  const path = /action="([^"]+)"/.exec(article)?.[1]
  return { article, path, version: /name="version" value="(\d+)"/.exec(article)?.[1] ?? '1' }
}

describe('an emergency', () => {
  test('waits for the privacy officers of the organisation, with who, whom, why and until when', async () => {
    const patient = await emergency()
    const { article, path } = await reviewOf(patient, officer)
    expect(path).toMatch(/^\/portal\/emergencies\/\S+$/)
    for (const words of [
      'unconscious on arrival',
      'ward-app',
      'hospital-a',
      `/portal/audit?patient=${patient}&amp;client=ward-app`,
    ])
      expect(article).toContain(words)
    expect((await officer.get(`/portal/patients/${patient}`)).status).toBe(200)
    expect((await reviewOf(patient)).article).toContain('unconscious')
    expect((await reviewOf(patient, other)).article).toBe('')
    expect((await other.get(`/portal/patients/${patient}`)).status).toBe(404)
  })

  test('is accepted with a note, which is kept with the user, as is the change', async () => {
    const patient = await emergency()
    const { path, version } = await reviewOf(patient, officer)
    const { status, headers } = await officer.post(path!, {
      answer: 'accept',
      note: ' Seen the <b>file</b>. ',
      version,
    })
    expect([status, headers.get('location')]).toEqual([303, '/portal/emergencies'])
    expect((await reviewOf(patient, officer)).article).toBe('')
    const accepted = await reviewOf(patient, officer, 'accepted')
    expect([accepted.path, accepted.article.includes(officer.email)]).toEqual([undefined, true])
    expect(accepted.article).toContain('<q>Seen the &lt;b&gt;file&lt;/b&gt;.</q>')
    const rows = await rowsOf(await databaseOf(service), headers.get('x-request-id')!)
    expect(rows.filter(({ action }) => action === 'U')).toMatchObject([
      { client_id: expect.stringMatching(/^user\//), resource_type: 'Task', outcome: 0 },
    ])
    const { body } = await call('GET', `Task/${path!.split('/').at(-1)}`)
    expect([body.status, body.note]).toEqual([
      'completed',
      [{ authorString: officer.email, time: expect.any(String), text: 'Seen the <b>file</b>.' }],
    ])
  })

  test('is escalated to administrators, who alone accept it then', async () => {
    const patient = await emergency()
    const { path, version } = await reviewOf(patient, officer)
    expect((await officer.post(path!, { answer: 'escalate', note: 'No file.', version })).status).toBe(303)
    const escalated = await reviewOf(patient, officer, 'escalated')
    expect([escalated.article.includes('No file.'), escalated.path]).toEqual([true, undefined])
    const again = { answer: 'accept', note: 'x', version: String(Number(version) + 1) }
    expect((await officer.post(path!, again)).status).toBe(403)
    expect((await administrator.post(path!, { ...again, answer: 'escalate' })).status).toBe(409)
    expect((await administrator.post(path!, again)).status).toBe(303)
    expect((await reviewOf(patient, officer, 'accepted')).article).toContain(administrator.email)
  })

  test('is answered once, from what the user saw', async () => {
    const { path, version } = await reviewOf(await emergency(), officer)
    const fields = { answer: 'accept', note: 'Fine.', version }
    expect((await officer.post(path!, { ...fields, version: '7' })).status).toBe(409)
    expect((await officer.post(path!, fields)).status).toBe(303)
    expect((await officer.post(path!, fields)).status).toBe(409)
  })

  test('needs a note, an answer, and a page of the service', async () => {
    const { path, version } = await reviewOf(await emergency(), officer)
    const fields = { answer: 'accept', note: 'Fine.', version }
    for (const wrong of [{ note: '  ' }, { answer: 'delete' }, { version: 'x' }])
      expect((await officer.post(path!, { ...fields, ...wrong })).status).toBe(422)
    expect((await officer.post(path!, fields, { origin: 'https://evil.example' })).status).toBe(403)
  })

  test('is not answered by officers of others, or by other roles, who see none', async () => {
    const { path, version } = await reviewOf(await emergency(), officer)
    const fields = { answer: 'accept', note: 'Fine.', version }
    expect((await other.post(path!, fields)).status).toBe(404)
    for (const role of ['developer', 'informaticist'] as const) {
      const user = await portalUser(service, [role])
      expect([(await user.get('/portal/emergencies')).status, (await user.post(path!, fields)).status]).toEqual([
        403, 403,
      ])
    }
  })

  test('with a reason that is markup shows it as text', async () => {
    const { article } = await reviewOf(await emergency('<img src=x onerror=alert(1)> "unconscious"'), officer)
    expect(article).toContain('&lt;img src=x onerror=alert(1)&gt; &quot;unconscious&quot;')
    expect(article).not.toContain('<img')
  })
})

const coding = [{ system: 'https://health-interop.org/fhir/CodeSystem/review', code: 'emergency-access' }]
const forged = {
  ...{ resourceType: 'Task', status: 'requested', intent: 'order', code: { coding } },
  ...{ for: { reference: 'Patient/forged' }, requester: { reference: 'Organization/hospital-a' } },
}

test('no client hides an emergency behind Tasks that look like reviews', async () => {
  const token = await mint('lab-app', 'hospital-b')
  const patient = await emergency('hidden behind others')
  const old = { ...forged, for: { reference: `Patient/${patient}` }, authoredOn: '1990-01-01' }
  const entry = Array.from({ length: 60 }, () => ({ resource: old, request: { method: 'POST', url: 'Task' } }))
  const { status, body } = await call('POST', '', { token, body: { resourceType: 'Bundle', type: 'batch', entry } })
  expect(status).toBe(200)
  const statuses = body.entry.map(({ response }: { response: { status: string } }) => response.status.slice(0, 3))
  expect(new Set(statuses)).toEqual(new Set(['403']))
  const { body: plain } = await call('POST', 'Task', { token, body: { ...forged, code: { text: 'call back' } } })
  expect((await call('PUT', `Task/${plain.id}`, { token, body: { ...forged, id: plain.id } })).status).toBe(403)
  expect((await reviewOf(patient, officer)).article).toContain('hidden behind others')
})

test('a Task that a client wrote is no review, and no other Task is answered', async () => {
  const written = await call('POST', 'Task', { body: forged })
  const [plain] = [await call('POST', 'Task', { body: { ...forged, code: { text: 'call back' } } })]
  expect((await reviewOf('forged', officer)).article).toBe('')
  for (const { status, body } of [written, plain]) {
    expect(status).toBe(201)
    for (const user of [officer, administrator])
      expect(
        (await user.post(`/portal/emergencies/${body.id}`, { answer: 'accept', note: 'x', version: '1' })).status,
      ).toBe(404)
  }
})

test('many emergencies come in pages, each once', async () => {
  for (let times = 0; times < 60; times++) await emergency(`unconscious, case ${times}`)
  const reasons: string[] = []
  let next: string | undefined = '/portal/emergencies?state=open'
  for (let pages = 0; next && pages < 10; pages++) {
    const { text } = await officer.get(next)
    reasons.push(...[...text.matchAll(/<h2 id="review-[^"]+">([^<]+)/g)].map(([, reason]) => reason!))
    next = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
  }
  const own = reasons.filter(each => each.startsWith('unconscious, case'))
  expect(own).toEqual(Array.from({ length: 60 }, (_, index) => `unconscious, case ${index}`))
})
