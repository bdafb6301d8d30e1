// The same answers, whether a client's organisation has few grants, which searches then start from, or many.
import { beforeAll, describe, expect, test } from 'vitest'
import { consentOf, ofType, terminology } from '../support/consents.ts'
import { type Answer, creatorBy, fhirCaller, matchIds } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const store = creatorBy(call)

const organizations = ['few', 'many']
const tokens: Record<string, string> = {}
const ask = (organization: string, query: string): Promise<Answer> =>
  call('GET', query, { token: tokens[organization]! })

const patients = ['open', 'labs', 'hidden', 'research']
/** Opened for what nothing of theirs is: a code, a type. */
const narrow = {
  coded: { code: [{ coding: [{ system: 'http://loinc.org', code: '1-8' }] }] },
  typed: ofType('Encounter'),
}
const kinds = ['laboratory', 'vital-signs']

const observation = (number: number, patient = patients[number % 4]) => ({
  resourceType: 'Observation',
  id: `o${number}`,
  status: 'final',
  category: [{ coding: [{ system: `${terminology}/observation-category`, code: kinds[(number >> 2) % 2] }] }],
  code: { coding: [{ system: 'http://loinc.org', code: '718-7' }] },
  subject: { reference: `Patient/${patient}` },
  effectiveDateTime: new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString(),
})

const isSeen = (id: string): boolean => {
  const number = Number(id.slice(1))
  return number % 4 === 0 || (number % 4 === 1 && (number >> 2) % 2 === 0)
}

const inBundle = (resources: readonly { resourceType: string; id: string }[]) => ({
  resourceType: 'Bundle',
  type: 'transaction',
  entry: resources.map(resource => ({
    resource,
    request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
  })),
})

const appointment = (id: string, ...named: string[]) => ({
  resourceType: 'Appointment',
  id,
  status: 'proposed',
  participant: named.map(patient => ({ actor: { reference: `Patient/${patient}` }, status: 'accepted' })),
})

beforeAll(async () => {
  service = await startService()
  for (const organization of organizations)
    tokens[organization] = await service.application.identity.tokens.mint(
      { clientId: `${organization}-app`, organizationId: organization, consentExempt: false },
      ['system/*.cruds'],
    )
  await store({ resourceType: 'Practitioner', id: 'fouda' })
  for (const patient of [...patients, ...Object.keys(narrow)])
    await store({
      resourceType: 'Patient',
      id: patient,
      name: [{ family: `Name-${patient}`, given: ['Ada'] }],
      generalPractitioner: [{ reference: 'Practitioner/fouda' }],
    })
  await store(observation(602, 'coded'), observation(606, 'typed'))
  await store(appointment('both-open', 'open', 'labs'), appointment('one-hidden', 'open', 'hidden'))
  for (const organization of organizations)
    await store(
      consentOf(`${organization}-open`, 'open', organization),
      consentOf(`${organization}-labs`, 'labs', organization, {
        provision: [
          {
            type: 'deny',
            code: [{ coding: [{ system: `${terminology}/observation-category`, code: 'vital-signs' }] }],
          },
        ],
      }),
      consentOf(`${organization}-research`, 'research', organization, {
        purpose: [{ system: `${terminology}/v3-ActReason`, code: 'HRESCH' }],
      }),
      ...Object.entries(narrow).map(([patient, to]) =>
        consentOf(`${organization}-${patient}`, patient, organization, to),
      ),
    )
  await call('POST', '', { body: inBundle(Array.from({ length: 600 }, (_, number) => observation(number))) })
  // Grants on people who are not here, so that this organisation has many and sees the same.
  const absent = Array.from({ length: 250 }, (_, number) =>
    consentOf(`absent-${number}`, `absent-${number}`, 'many', ofType('Observation')),
  )
  await call('POST', '', { body: inBundle(absent) })
  for (const organization of organizations)
    for (const patient of ['hidden', 'research'])
      await call('PUT', `Condition/${organization}-${patient}`, {
        token: tokens[organization]!,
        body: {
          resourceType: 'Condition',
          id: `${organization}-${patient}`,
          subject: { reference: `Patient/${patient}` },
          code: { text: 'written by the client' },
        },
      })
})

/** The ids of all pages. */
async function everyId(organization: string, query: string): Promise<string[]> {
  const found: string[] = []
  for (let next: string | undefined = query; next; ) {
    const answer: Answer = await ask(organization, next)
    expect(answer.status, answer.text).toBe(200)
    found.push(...matchIds(answer.body))
    const link = answer.body.link?.find(({ relation }: { relation: string }) => relation === 'next')
    next = link?.url.replace(/^.*\/R4\//, '')
  }
  return found
}

describe.each(organizations)('an organisation with %s grants', organization => {
  test.each([
    'Observation?code=718-7&_sort=-date&_count=97',
    'Observation?code=718-7,8867-4&_count=250',
    'Observation?_count=97',
    'Observation?_sort=date&_count=150',
    'Observation?category=laboratory,vital-signs&_sort=_lastUpdated&_count=100',
    'Observation?patient.name=Ada&_count=500',
  ])('pages through all that it may see, once, and in order: %s', async query => {
    const found = await everyId(organization, query)
    expect(found.filter(id => !isSeen(id))).toEqual([])
    expect(new Set(found).size).toBe(found.length)
    expect(found).toHaveLength(225)
    const numbers = found.map(id => Number(id.slice(1)))
    if (query.includes('_sort=date')) expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    else if (!query.includes('_lastUpdated')) expect(numbers).toEqual(numbers.toSorted((a, b) => b - a))
  })

  test.each([
    ['Observation?_summary=count', 225],
    ['Observation?code=718-7&_summary=count', 225],
    ['Observation?_total=accurate&_count=1', 225],
    ['Observation?_total=estimate&_count=1', 225],
    ['Observation?category=vital-signs&_summary=count', 75],
    ['Observation?patient=open&_summary=count', 150],
    ['Observation?date=2026-01-01T00:04Z&_summary=count', 1],
    ['Patient?_summary=count', 2],
    ['?_type=Patient,Observation&_summary=count', 227],
    ['?_type=Observation,Condition,Practitioner&_summary=count', 228],
    ['Observation?patient.name=Name-labs&_summary=count', 75],
    ['Observation?patient.name=Name-hidden&_summary=count', 0],
    ['Practitioner?_has:Patient:general-practitioner:name=Name-open&_summary=count', 1],
    ['Practitioner?_has:Patient:general-practitioner:name=Name-hidden&_summary=count', 0],
  ])('counts %s as %i', async (query, count) => {
    expect((await ask(organization, query)).body.total).toBe(count)
  })

  test.each([
    ['Patient?name=ada', ['labs', 'open']],
    ['Patient?name:contains=da&_sort=family', ['labs', 'open']],
    ['Patient?_sort=-family', ['open', 'labs']],
    ['Condition', ['own-hidden', 'own-research']],
    ['Condition?code:text=written', ['own-hidden', 'own-research']],
    ['Condition?patient=hidden', ['own-hidden']],
    ['Appointment', ['both-open']],
    ['Practitioner', ['fouda']],
  ])('finds with %s no more than %j', async (query, expected) => {
    const found = matchIds((await ask(organization, query)).body).map(id => id.replace(organization, 'own'))
    expect(query.includes('_sort') ? found : found.sort()).toEqual(expected)
  })
})

test('what is revoked is gone with the next request, for an organisation with few grants and with many', async () => {
  for (const organization of organizations) {
    const consent = consentOf(`${organization}-open`, 'open', organization, {}, { status: 'inactive' })
    expect((await call('PUT', `Consent/${consent.id}`, { body: consent })).status).toBe(200)
    expect((await ask(organization, 'Observation?code=718-7&_summary=count')).body.total).toBe(75)
    expect((await ask(organization, 'Observation/o0')).status).toBe(403)
    expect(
      matchIds((await ask(organization, 'Observation?_count=1000')).body).filter(id => Number(id.slice(1)) % 4 === 0),
    ).toEqual([])
    await call('PUT', `Consent/${consent.id}`, { body: { ...consent, status: 'active' } })
    expect((await ask(organization, 'Observation/o0')).status).toBe(200)
  }
})
