import { beforeAll, describe, expect, test } from 'vitest'
import { consentOf, ofType, terminology } from '../support/consents.ts'
import { type Answer, type CallOptions, creatorBy, fhirCaller, issueOf, matchIds } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const store = creatorBy(call)

const everything = ['system/*.cruds', 'emergency:access']
const mint = (clientId: string, organizationId: string, scopes: readonly string[] = everything) =>
  service.application.identity.tokens.mint({ clientId, organizationId, consentExempt: false }, scopes)

let clinic: string
const asClinic = (method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
  call(method, path, { token: clinic, ...options })

const category = (code: string) => [{ coding: [{ system: `${terminology}/observation-category`, code }] }]

function record(patient: string) {
  const subject = { reference: `Patient/${patient}` }
  const observation = (id: string, kind: string, code: string) => ({
    resourceType: 'Observation',
    id: `${patient}-${id}`,
    status: 'final',
    category: category(kind),
    code: { coding: [{ system: 'http://loinc.org', code }] },
    subject,
    effectiveDateTime: '2026-03-01T10:00:00Z',
    performer: [{ reference: 'Practitioner/fouda' }],
    valueQuantity: { value: 7, unit: 'g/dL', system: 'http://unitsofmeasure.org', code: 'g/dL' },
  })
  return [
    {
      resourceType: 'Patient',
      id: patient,
      name: [{ family: `Name-${patient}`, given: ['Ada'] }],
      birthDate: '1990-02-03',
      gender: patient === 'hidden' || patient === 'labs' ? 'other' : 'female',
      generalPractitioner: [{ reference: 'Practitioner/fouda' }],
    },
    observation('lab', 'laboratory', '718-7'),
    observation('vital', 'vital-signs', '8867-4'),
    {
      resourceType: 'Condition',
      id: `${patient}-condition`,
      subject,
      code: { coding: [{ system: 'http://snomed.info/sct', code: '86406008' }], text: `secret of ${patient}` },
      text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">secretword</div>` },
    },
    { resourceType: 'Basic', id: `${patient}-basic`, code: { text: 'note' }, subject },
    {
      resourceType: 'List',
      id: `${patient}-list`,
      status: 'current',
      mode: 'working',
      subject,
      entry: [{ item: { reference: `Observation/${patient}-lab` } }],
    },
    {
      resourceType: 'Provenance',
      id: `${patient}-provenance`,
      target: [{ reference: `Observation/${patient}-lab` }, subject],
      recorded: '2026-03-01T10:00:00Z',
      agent: [{ who: { reference: 'Practitioner/fouda' } }],
    },
  ] as const
}

beforeAll(async () => {
  service = await startService()
  clinic = await mint('clinic-app', 'clinic')
  await store({ resourceType: 'Practitioner', id: 'fouda', name: [{ family: 'Fouda' }] })
  for (const patient of ['open', 'hidden', 'labs', 'vitals', 'denied', 'other', 'expired', 'research'])
    await store(...record(patient))
  await store(
    consentOf('open-consent', 'open', 'clinic'),
    consentOf('labs-consent', 'labs', 'clinic', {
      ...ofType('Observation'),
      code: [{ coding: [{ system: `${terminology}/observation-category`, code: 'laboratory' }] }],
    }),
    consentOf('vitals-consent', 'vitals', 'clinic', {
      provision: [
        { type: 'deny', code: [{ coding: [{ system: `${terminology}/observation-category`, code: 'laboratory' }] }] },
        { type: 'deny', ...ofType('Condition') },
      ],
    }),
    consentOf('denied-consent', 'denied', 'clinic', { type: 'deny' }),
    consentOf('other-consent', 'other', 'another-clinic'),
    consentOf('expired-consent', 'expired', 'clinic', { period: { end: '2026-01-01' } }),
    consentOf('research-consent', 'research', 'clinic', {
      purpose: [{ system: `${terminology}/v3-ActReason`, code: 'HRESCH' }],
    }),
    {
      resourceType: 'Appointment',
      id: 'open-and-hidden',
      status: 'proposed',
      participant: ['open', 'hidden'].map(id => ({ actor: { reference: `Patient/${id}` }, status: 'accepted' })),
    },
    {
      resourceType: 'Appointment',
      id: 'open-alone',
      status: 'proposed',
      participant: [{ actor: { reference: 'Patient/open' }, status: 'accepted' }],
    },
    { resourceType: 'Observation', id: 'hidden-nobody-knows-whose', status: 'final', code: { text: 'x' } },
    {
      resourceType: 'Observation',
      id: 'hidden-by-identifier',
      status: 'final',
      code: { text: 'x' },
      subject: { type: 'Patient', identifier: { system: 'http://x', value: '1' } },
    },
    {
      resourceType: 'Group',
      id: 'hidden-group',
      type: 'person',
      actual: true,
      member: ['open', 'hidden'].map(id => ({ entity: { reference: `Patient/${id}` } })),
    },
    { resourceType: 'Group', id: 'cattle', type: 'animal', actual: false },
  )
  // A former version about somebody else, and one of the same patient.
  const [, lab] = record('open')
  await call('PUT', 'Observation/open-moved', {
    body: { ...lab, id: 'open-moved', subject: { reference: 'Patient/hidden' }, note: [{ text: 'hidden once' }] },
  })
  await call('PUT', 'Observation/open-moved', { body: { ...lab, id: 'open-moved' } })
})

// What the clinic sees of each patient; everything else has "hidden" or the name of a closed patient in its id.
const seen = /^(open|fouda$|cattle$)|^labs-lab$|^vitals($|-(vital|basic|list|consent|provenance)$)/
const isSeen = (id: string): boolean => seen.test(id) && id !== 'open-and-hidden'

const searches = [
  'Patient',
  'Patient?_count=1000&_total=accurate',
  'Patient?name=Ada',
  'Patient?name:contains=da&_sort=name',
  'Patient?_sort=family',
  'Patient?_sort=-_lastUpdated',
  'Patient?_lastUpdated=gt2020',
  'Patient?_lastUpdated=gt2020&name=Ada',
  'Patient?gender=other,female',
  'Patient?_sort=_id',
  'Patient?gender=other,female&_sort=-_id',
  'Patient?_sort=birthdate',
  'Patient?_id=open,hidden,labs',
  'Patient?general-practitioner=Practitioner/fouda',
  'Patient?_has:Observation:patient:code=718-7',
  'Patient?_has:Condition:patient:code=86406008',
  'Patient?_summary=count',
  'Observation',
  'Observation?code=718-7',
  'Observation?code=718-7,8867-4&_sort=-date',
  'Observation?code=718-7&_count=2&_total=estimate',
  'Observation?code=718-7&status=final',
  'Observation?code=718-7&_lastUpdated=gt2020',
  'Observation?date=gt2020&_lastUpdated=gt2020',
  'Observation?code=718-7,8867-4&status=final&date=2026-03',
  'Observation?_sort=-value-quantity',
  'Observation?category=laboratory',
  'Observation?patient=hidden',
  'Observation?patient=open,hidden',
  'Observation?subject=Patient/labs',
  'Observation?patient.name=Ada',
  'Observation?patient.name=Name-hidden',
  'Observation?value-quantity=gt5',
  'Observation?performer=Practitioner/fouda&_include=Observation:patient&_include=Observation:performer',
  'Observation?date=2026-03',
  'Observation?_has:List:item:status=current',
  'Observation?_list=open-list',
  'Condition?code:text=secret',
  'Condition?_text=secretword',
  'Condition?_content=secret',
  'Condition?_filter=code eq 86406008',
  'Practitioner?_revinclude=Patient:general-practitioner&_revinclude=Observation:performer',
  'Practitioner?_has:Observation:performer:code=8867-4',
  'Appointment',
  'Appointment?actor=Patient/hidden',
  'Appointment?actor=Patient/open&_include=Appointment:actor',
  'Basic',
  'List',
  'Group',
  'Consent',
  'Consent?patient=hidden',
  'Provenance',
  '?_type=Patient,Observation,Condition&_count=500',
  'Patient/hidden/Observation',
  'Patient/hidden/*',
  'Patient/open/*',
  'Practitioner/fouda/Observation',
  'Patient/$everything?_count=1000',
  'Observation/$lastn?code=718-7&max=50',
  '_history?_count=500',
  'Observation/_history?_count=500',
  'Patient/_history?_at=2026-11',
  'Patient/_history?_since=2026-01-01',
]

describe('of what a client does not have consent for', () => {
  test.each(searches)('%s shows nothing, and all of the rest', async query => {
    const own = await asClinic('GET', query)
    expect(own.status, own.text).toBe(200)
    const all = await call('GET', query)
    const ids = (body: Answer['body']): string[] =>
      (body.entry ?? [])
        .filter((each: { search?: { mode: string } }) => each.search?.mode !== 'outcome')
        .map((each: { resource?: { id: string }; fullUrl: string }) => each.resource?.id ?? each.fullUrl)
    expect(ids(own.body).filter(id => !isSeen(id))).toEqual([])
    const isNarrowedFirst = /name-hidden|patient\.name|_has/i.test(query)
    if (!isNarrowedFirst && !/_count=2/.test(query))
      expect(new Set(ids(own.body))).toEqual(new Set(ids(all.body).filter(isSeen)))
    if (own.body.total !== undefined && own.body.entry !== undefined && !/_history|everything|_count=2/.test(query))
      expect(own.body.total).toBe(
        own.body.entry.filter((each: { search: { mode: string } }) => each.search.mode === 'match').length,
      )
    expect(own.text).not.toMatch(/hidden once|secret of (hidden|labs|vitals|denied|other|expired|research)/)
  })

  test('counts count nothing', async () => {
    const { body } = await asClinic('GET', 'Condition?_summary=count')
    expect(body.total).toBe(1)
  })

  test('a chain does not tell what the chained resource holds', async () => {
    expect((await asClinic('GET', 'Appointment?patient.name=Name-hidden')).body.entry).toBeUndefined()
    expect(
      (await asClinic('GET', 'Practitioner?_has:Patient:general-practitioner:name=Name-hidden')).body.entry,
    ).toBeUndefined()
    expect(
      matchIds((await asClinic('GET', 'Practitioner?_has:Patient:general-practitioner:name=Name-open')).body),
    ).toEqual(['fouda'])
  })

  test.each([
    ['Observation?patient=open&patient.gender=female', ['open-lab', 'open-moved', 'open-vital']],
    ['Observation?_id=labs-lab', ['labs-lab']],
    ['Observation?_id=labs-lab&patient.gender=other', []],
    ['Patient?_id=open&_has:Observation:patient:code=718-7', ['open']],
    ['Patient?_id=vitals&_has:Observation:patient:code=718-7', []],
    ['List?patient=open&item:Observation.code=718-7', ['open-list']],
    ['List?patient=vitals', ['vitals-list']],
    ['List?patient=vitals&item:Observation.code=718-7', []],
    ['Practitioner?_id=fouda&_has:Patient:general-practitioner:gender=female', ['fouda']],
    ['Practitioner?_id=fouda&_has:Patient:general-practitioner:gender=other', []],
  ])('a chain that is followed from the few that are looked at does not either: %s', async (query, ids) => {
    expect(matchIds((await asClinic('GET', query)).body).sort()).toEqual(ids)
    expect(matchIds((await call('GET', query)).body)).not.toEqual([])
  })

  test.each([
    ['Patient/hidden', 'CONSENT_REQUIRED'],
    ['Observation/hidden-lab', 'CONSENT_REQUIRED'],
    ['Observation/hidden-lab/_history', 'CONSENT_REQUIRED'],
    ['Observation/hidden-lab/_history/1', 'CONSENT_REQUIRED'],
    ['Observation/labs-vital', 'CONSENT_REQUIRED'],
    ['Observation/vitals-lab', 'CONSENT_REQUIRED'],
    ['Condition/vitals-condition', 'CONSENT_REQUIRED'],
    ['Patient/denied', 'CONSENT_REQUIRED'],
    ['Patient/other', 'CONSENT_REQUIRED'],
    ['Patient/expired', 'CONSENT_EXPIRED'],
    ['Appointment/open-and-hidden', 'CONSENT_REQUIRED'],
    ['Observation/hidden-nobody-knows-whose', 'CONSENT_REQUIRED'],
    ['Observation/hidden-by-identifier', 'CONSENT_REQUIRED'],
    ['Group/hidden-group', 'CONSENT_REQUIRED'],
    ['Patient/hidden/$everything', 'CONSENT_REQUIRED'],
    ['Consent/other-consent', 'CONSENT_REQUIRED'],
  ])('reading %s is refused with %s, and says what to do', async (path, code) => {
    const { status, body } = await asClinic('GET', path, { headers: { accept: 'application/json' } })
    expect(status).toBe(403)
    expect(body.error_code).toBe(code)
    expect(issueOf(body).code).toBe('suppressed')
    expect(issueOf(body).diagnostics).toMatch(/consent/)
  })

  const ending = (status: string, reason?: string, provision: object = {}, organization = 'clinic') => ({
    ...consentOf('', 'x', organization, provision, { status }),
    ...(reason && {
      extension: [{ url: 'https://health-interop.org/fhir/StructureDefinition/consent-end-reason', valueCode: reason }],
    }),
  })
  const vitals = ofType('Observation')
  test.each([
    ['was taken back', 'CONSENT_REVOKED', [ending('inactive', 'revoked')]],
    ['was ended since it had run out', 'CONSENT_EXPIRED', [ending('inactive', 'expired')]],
    ['is not in force for another reason', 'CONSENT_REQUIRED', [ending('inactive', 'mistaken')]],
    ['is not in force, and does not say why', 'CONSENT_REQUIRED', [ending('inactive')]],
    [
      'opens something else, given anew after it was taken back',
      'CONSENT_REQUIRED',
      [ending('active', 'revoked', vitals)],
    ],
    [
      'opens something else, given anew after it had run out',
      'CONSENT_REQUIRED',
      [ending('active', 'expired', vitals)],
    ],
    [
      'was taken back before another ran out',
      'CONSENT_EXPIRED',
      [ending('inactive', 'revoked'), ending('inactive', 'expired')],
    ],
    [
      'ran out before another was taken back',
      'CONSENT_REVOKED',
      [ending('inactive', 'expired'), ending('inactive', 'revoked')],
    ],
    [
      'permitted an exception that has run out',
      'CONSENT_EXPIRED',
      [
        ending('active', undefined, {
          type: 'deny',
          provision: [{ type: 'permit', period: { end: '2020-01-01' } }],
        }),
      ],
    ],
    ['of another organisation was taken back', 'CONSENT_REQUIRED', [ending('inactive', 'revoked', {}, 'other')]],
  ])(
    'a refusal says how the last consent for the organisation stands: one that %s is %s',
    async (name, code, consents) => {
      const id = name.replaceAll(/\W/g, '-')
      await store({ resourceType: 'Patient', id })
      for (const [index, consent] of consents.entries())
        await store({ ...consent, id: `${id}-${index}`, patient: { reference: `Patient/${id}` } })
      const { status, body } = await asClinic('GET', `Patient/${id}`, { headers: { accept: 'application/json' } })
      expect([status, body.error_code]).toEqual([403, code])
    },
  )

  test('a former version about somebody else is not shown with the current one', async () => {
    expect((await asClinic('GET', 'Observation/open-moved')).status).toBe(200)
    const { body } = await asClinic('GET', 'Observation/open-moved/_history')
    expect(
      body.entry.map((each: { resource: { meta: { versionId: string } } }) => each.resource.meta.versionId),
    ).toEqual(['2'])
    expect((await asClinic('GET', 'Observation/open-moved/_history/1')).status).toBe(404)
    expect((await asClinic('GET', 'Observation/open-moved/_history/2')).status).toBe(200)
  })

  test('a list that may not be seen cannot be searched by', async () => {
    expect((await asClinic('GET', 'Observation?_list=hidden-list')).status).toBe(403)
  })

  test('a search that names such a patient says so, whether the patient exists or not', async () => {
    for (const patient of ['hidden', 'nobody-at-all']) {
      const { body } = await asClinic('GET', `Observation?patient=${patient}`)
      const outcome = body.entry.find((each: { search: { mode: string } }) => each.search.mode === 'outcome')
      expect(issueOf(outcome.resource).code).toBe('suppressed')
      expect(issueOf(outcome.resource).diagnostics).toContain(`no consent for Patient/${patient}`)
    }
    expect((await asClinic('GET', 'Observation?patient=open')).text).not.toContain('no consent')
  })
})

describe('what may not be seen cannot be changed either', () => {
  test('update, patch and delete are refused, and change nothing', async () => {
    const [, lab] = record('hidden')
    const before = (await call('GET', 'Observation/hidden-lab')).text
    const patch = [{ op: 'test', path: '/status', value: 'final' }]
    const headers = { 'content-type': 'application/json-patch+json' }
    expect((await asClinic('PUT', 'Observation/hidden-lab', { body: { ...lab, status: 'amended' } })).status).toBe(403)
    expect((await asClinic('PATCH', 'Observation/hidden-lab', { body: JSON.stringify(patch), headers })).status).toBe(
      403,
    )
    expect((await asClinic('DELETE', 'Observation/hidden-lab')).status).toBe(403)
    const bundle = {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [
        { resource: { ...lab, status: 'amended' }, request: { method: 'PUT', url: 'Observation/hidden-lab' } },
        {
          resource: { resourceType: 'Basic', id: 'never', code: { text: 'x' } },
          request: { method: 'PUT', url: 'Basic/never' },
        },
      ],
    }
    expect((await asClinic('POST', '', { body: bundle })).status).toBe(403)
    expect((await call('GET', 'Basic/never')).status).toBe(404)
    expect((await call('GET', 'Observation/hidden-lab')).text).toBe(before)
  })

  test('a conditional request does not find it', async () => {
    const [, lab] = record('hidden')
    const { id: _id, ...fresh } = lab
    const { status, body } = await asClinic('POST', 'Observation', {
      body: fresh,
      headers: { 'if-none-exist': 'patient=hidden&code=718-7' },
    })
    expect(status).toBe(201)
    expect((await asClinic('DELETE', `Observation/${body.id}`)).status).toBe(204)
    expect((await asClinic('DELETE', 'Observation?patient=hidden&code=718-7')).status).toBe(204)
    expect((await call('GET', 'Observation/hidden-lab')).status).toBe(200)
  })
})

describe('what a client wrote itself', () => {
  test('it reads and finds without consent, and no other client does', async () => {
    const [, lab] = record('hidden')
    await asClinic('PUT', 'Observation/hidden-own', { body: { ...lab, id: 'hidden-own', code: { text: 'own' } } })
    expect((await asClinic('GET', 'Observation/hidden-own')).status).toBe(200)
    expect(matchIds((await asClinic('GET', 'Observation?patient=hidden')).body)).toEqual(['hidden-own'])
    const neighbour = await mint('clinic-lab', 'clinic')
    expect((await call('GET', 'Observation/hidden-own', { token: neighbour })).status).toBe(403)
    await call('PUT', 'Observation/hidden-own', {
      body: { ...lab, id: 'hidden-own', code: { text: 'completed by another' } },
    })
    expect((await asClinic('GET', 'Observation/hidden-own')).status).toBe(200)
    await asClinic('DELETE', 'Observation/hidden-own')
    expect((await asClinic('GET', 'Observation/hidden-own/_history')).body.entry).toHaveLength(3)
  })
})

describe('consent holds from the next request on', () => {
  test('granted, revoked and granted again', async () => {
    const consent = consentOf('other-to-clinic', 'other', 'clinic')
    const status = async () => (await asClinic('GET', 'Observation/other-lab')).status
    expect(await status()).toBe(403)
    await store(consent)
    expect(await status()).toBe(200)
    const revoked = {
      ...consent,
      status: 'inactive',
      extension: [
        { url: 'https://health-interop.org/fhir/StructureDefinition/consent-end-reason', valueCode: 'revoked' },
      ],
    }
    await call('PUT', 'Consent/other-to-clinic', { body: revoked })
    const { status: refused, body } = await asClinic('GET', 'Observation/other-lab', {
      headers: { accept: 'application/json' },
    })
    expect([refused, body.error_code]).toEqual([403, 'CONSENT_REVOKED'])
    expect(matchIds((await asClinic('GET', 'Observation?patient=other')).body)).toEqual([])
    await call('PUT', 'Consent/other-to-clinic', { body: consent })
    expect(await status()).toBe(200)
    await call('PUT', 'Consent/other-to-clinic', { body: { ...consent, patient: { reference: 'Patient/hidden' } } })
    expect(await status()).toBe(403)
    await call('DELETE', 'Consent/other-to-clinic')
    expect((await asClinic('GET', 'Patient/hidden')).status).toBe(403)
  })

  test('one that begins or ends in time does so without anybody writing', async () => {
    const end = new Date(Date.now() + 1500).toISOString()
    await store(consentOf('other-for-a-moment', 'other', 'clinic', { period: { start: '2026-01-01', end } }))
    expect((await asClinic('GET', 'Patient/other')).status).toBe(200)
    while (new Date().toISOString() <= end) await new Promise(done => setTimeout(done, 50))
    expect((await asClinic('GET', 'Patient/other')).status).toBe(403)
    await call('DELETE', 'Consent/other-for-a-moment')
  })

  test('many consents of one patient written at once count all', async () => {
    await store(...record('busy'))
    const types = ['Observation', 'Condition', 'Basic', 'List', 'Patient', 'Provenance', 'Appointment', 'Immunization']
    const made = await Promise.all(
      types.map(type =>
        call('PUT', `Consent/busy-${type}`, { body: consentOf(`busy-${type}`, 'busy', 'clinic', ofType(type)) }),
      ),
    )
    expect(made.map(({ status }) => status)).toEqual(types.map(() => 201))
    for (const path of [
      'Observation/busy-lab',
      'Condition/busy-condition',
      'Basic/busy-basic',
      'List/busy-list',
      'Patient/busy',
    ])
      expect((await asClinic('GET', path)).status, path).toBe(200)
  })
})

describe('the purpose of a request', () => {
  test('a consent for research opens nothing for treatment', async () => {
    expect((await asClinic('GET', 'Patient/research')).status).toBe(403)
    expect((await asClinic('GET', 'Patient/research', { headers: { 'x-purpose-of-use': 'research' } })).status).toBe(
      200,
    )
    expect((await asClinic('GET', 'Patient/research', { headers: { 'x-purpose-of-use': 'HRESCH' } })).status).toBe(200)
    const { status, text } = await asClinic('GET', 'Patient/research', { headers: { 'x-purpose-of-use': 'curiosity' } })
    expect(status).toBe(400)
    expect(text).toContain('X-Purpose-Of-Use')
  })
})
