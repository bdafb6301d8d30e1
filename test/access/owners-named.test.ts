// Nobody writes in the name of another organisation, and nobody puts another organisation below itself.
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, fhirCaller } from '../support/fhir.ts'
import { bundleOf, entryOf, type Party, partyOf, patchHeaders } from '../support/parties.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let clinic: Party
let rival: Party
let group: Party
const call = fhirCaller(() => service)
const to = (reference: string) => ({ reference })
const facility = 'https://health-interop.org/fhir/StructureDefinition/facility'

const refused = (answer: Answer, ...words: string[]) => {
  expect(answer.status, answer.text).toBe(403)
  for (const each of ['"code":"forbidden"', ...words]) expect(answer.text).toContain(each)
}

beforeAll(async () => {
  service = await startService()
  clinic = await partyOf(service, 'clinic')
  rival = await partyOf(service, 'rival')
  group = await partyOf(service, 'group')
  const entries = [
    { resourceType: 'Organization', id: 'clinic', name: 'Clinic', partOf: to('Organization/group') },
    { resourceType: 'Location', id: 'clinic-room', managingOrganization: to('Organization/clinic') },
    { resourceType: 'Organization', id: 'ministry', name: 'Ministry' },
  ]
  for (const each of entries)
    expect((await call('PUT', `${each.resourceType}/${each.id}`, { body: each })).status).toBe(201)
})

/** Every way of naming an owner: type, content, and the element that names it. */
const naming: readonly (readonly [string, object, string])[] = [
  ['Location', { managingOrganization: to('Organization/clinic') }, 'Location.managingOrganization'],
  [
    'Endpoint',
    {
      managingOrganization: to('Organization/clinic'),
      status: 'active',
      connectionType: { code: 'x' },
      payloadType: [{ text: 'x' }],
      address: 'https://clinic.example',
    },
    'Endpoint.managingOrganization',
  ],
  ['HealthcareService', { providedBy: to('Organization/clinic') }, 'HealthcareService.providedBy'],
  ['PractitionerRole', { organization: to('Organization/clinic') }, 'PractitionerRole.organization'],
  ['OrganizationAffiliation', { organization: to('Organization/clinic') }, 'OrganizationAffiliation.organization'],
  ['InsurancePlan', { name: 'x', ownedBy: to('Organization/clinic') }, 'InsurancePlan.ownedBy'],
  ['Device', { owner: to('Organization/clinic') }, 'Device.owner'],
  ['DeviceDefinition', { owner: to('Organization/clinic') }, 'DeviceDefinition.owner'],
  ['Group', { type: 'person', actual: true, managingEntity: to('Organization/clinic') }, 'Group.managingEntity'],
  [
    'BiologicallyDerivedProduct',
    { extension: [{ url: facility, valueReference: to('Organization/clinic') }] },
    'BiologicallyDerivedProduct.extension',
  ],
  [
    'BiologicallyDerivedProduct',
    { extension: [{ url: facility, valueReference: to('Location/clinic-room') }] },
    'BiologicallyDerivedProduct.extension',
  ],
  [
    'PaymentReconciliation',
    {
      status: 'active',
      created: '2026-03-15',
      paymentDate: '2026-03-15',
      paymentAmount: { value: 1, currency: 'XAF' },
      requestor: to('Organization/clinic'),
    },
    'PaymentReconciliation.requestor',
  ],
  ['Basic', { code: { text: 'stock' }, subject: to('Organization/clinic') }, 'Basic.subject'],
  ['Basic', { code: { text: 'stock' }, subject: to('Location/clinic-room') }, 'Basic.subject'],
  [
    'Basic',
    { code: { text: 'stock' }, identifier: [{ system: 'BASE/fhir/NamingSystem/stock-item', value: 'clinic|ATC|X' }] },
    'Basic.identifier',
  ],
]

describe.each(naming)('a %s in the name of another organisation', (resourceType, content, element) => {
  const body = (more: object = {}) =>
    JSON.parse(JSON.stringify({ resourceType, ...more, ...content }).replaceAll('BASE', service.url))

  test(`is refused, and ${element} is named`, async () => {
    refused(await rival.call('POST', resourceType, { body: body() }), element)
    const id = `${resourceType.toLowerCase()}-x`
    refused(await rival.call('PUT', `${resourceType}/${id}`, { body: body({ id }) }), element)
    refused(
      await rival.call('POST', '', { body: bundleOf('transaction', entryOf('POST', resourceType, body())) }),
      element,
    )
    const { body: answer } = await rival.call('POST', '', {
      body: bundleOf('batch', entryOf('POST', resourceType, body())),
    })
    expect(answer.entry[0].response.status).toMatch(/^403/)
    const none = { 'if-none-exist': '_id=nothing-has-this-id' }
    refused(await rival.call('POST', resourceType, { body: body(), headers: none }), element)
  })

  test('is taken of the organisation itself, of the one that it is part of, and of an exempt client', async () => {
    for (const each of [clinic.call, group.call, call]) {
      const answer = await each('POST', resourceType, { body: body() })
      expect(answer.status, answer.text).toBe(201)
    }
  })
})

test.each([
  ['a Location that nobody has', to('Location/nowhere')],
  ['an Organization that nobody has', to('Organization/nowhere')],
  ['an Organization that an exempt client keeps', to('Organization/ministry')],
])('stock of %s is refused', async (_, subject) => {
  refused(
    await clinic.call('POST', 'Basic', { body: { resourceType: 'Basic', code: { text: 'x' }, subject } }),
    'Basic.subject',
  )
})

test('a reference in any spelling of the own address names the same organisation', async () => {
  for (const reference of [`${service.url}/api/fhir/R4/Organization/clinic`, 'Organization/clinic/_history/1']) {
    const body = { resourceType: 'Location', managingOrganization: { reference } }
    refused(await rival.call('POST', 'Location', { body }), 'Location.managingOrganization')
  }
})

describe('another organisation is not put below the own one', () => {
  test('by partOf, in any way', async () => {
    const body = { resourceType: 'Organization', id: 'clinic', name: 'Clinic', partOf: to('Organization/rival') }
    const patch = [{ op: 'replace', path: '/partOf/reference', value: 'Organization/rival' }]
    refused(await rival.call('PUT', 'Organization/clinic', { body }), 'Organization/clinic')
    const patched = await rival.call('PATCH', 'Organization/clinic', {
      body: JSON.stringify(patch),
      headers: patchHeaders,
    })
    refused(patched, 'Organization/clinic')
    const claim = { resourceType: 'Basic', code: { text: 'x' }, subject: to('Organization/clinic') }
    const entries = [entryOf('PUT', 'Organization/clinic', body), entryOf('POST', 'Basic', claim)]
    refused(await rival.call('POST', '', { body: bundleOf('transaction', ...entries) }))
  })

  test('by an entry that is recorded for a registered organisation that has none', async () => {
    const body = { resourceType: 'Organization', id: 'group', name: 'Group', partOf: to('Organization/rival') }
    refused(await rival.call('PUT', 'Organization/group', { body }), 'Organization/group')
    expect((await group.call('PUT', 'Organization/group', { body: { ...body, partOf: undefined } })).status).toBe(201)
  })

  test('by an entry that was recorded before the organisation was registered', async () => {
    const early = { resourceType: 'Organization', id: 'later', name: 'Later', partOf: to('Organization/rival') }
    expect((await rival.call('PUT', 'Organization/later', { body: early })).status).toBe(201)
    const stock = { resourceType: 'Basic', code: { text: 'x' }, subject: to('Organization/later') }
    expect((await rival.call('POST', 'Basic', { body: stock })).status).toBe(201)
    const later = await partyOf(service, 'later')
    refused(await rival.call('POST', 'Basic', { body: stock }), 'Basic.subject')
    refused(await rival.call('PUT', 'Organization/later', { body: { ...early, alias: ['x'] } }), 'Organization/later')
    // What the organisation itself says then counts.
    const own = { ...early, partOf: to('Organization/group') }
    expect((await later.call('PUT', 'Organization/later', { body: own })).status).toBe(200)
    expect((await group.call('POST', 'Basic', { body: stock })).status).toBe(201)
    refused(await rival.call('POST', 'Basic', { body: stock }), 'Basic.subject')
  })

  test('by a Location under the id of an organisation, nor an Organization under the id of a Location', async () => {
    for (const id of ['clinic', 'group', 'ministry'])
      refused(
        await rival.call('PUT', `Location/${id}`, { body: { resourceType: 'Location', id } }),
        `Organization/${id}`,
      )
    const body = { resourceType: 'Organization', id: 'clinic-room', name: 'x' }
    refused(await rival.call('PUT', 'Organization/clinic-room', { body }), 'Location/clinic-room')
    expect((await clinic.call('PUT', 'Organization/clinic-room', { body })).status).toBe(201)
  })
})

test('an entry that was deleted does not come back under an id that has become that of a facility of another', async () => {
  const entry = { resourceType: 'Organization', id: 'depot', name: 'Depot' }
  expect((await rival.call('PUT', 'Organization/depot', { body: entry })).status).toBe(201)
  expect((await rival.call('DELETE', 'Organization/depot')).status).toBe(204)
  const place = { resourceType: 'Location', id: 'depot', managingOrganization: to('Organization/clinic') }
  expect((await clinic.call('PUT', 'Location/depot', { body: place })).status).toBe(201)
  refused(await rival.call('PUT', 'Organization/depot', { body: entry }), 'Location/depot')
})

describe('a Location', () => {
  const own = { resourceType: 'Location', id: 'kiosk', managingOrganization: to('Organization/rival') }

  test('is moved neither to another organisation nor away from one', async () => {
    expect((await rival.call('PUT', 'Location/kiosk', { body: own })).status).toBe(201)
    const moved = { ...own, managingOrganization: to('Organization/clinic') }
    refused(await rival.call('PUT', 'Location/kiosk', { body: moved }), 'Location.managingOrganization')
    refused(await clinic.call('PUT', 'Location/kiosk', { body: moved }), 'Organization/rival')
    refused(
      await clinic.call('PUT', 'Location/kiosk', { body: { ...own, managingOrganization: undefined } }),
      'Organization/rival',
    )
  })

  test('belongs to the other organisation once an exempt client has moved it', async () => {
    const moved = { ...own, managingOrganization: to('Organization/clinic') }
    expect((await call('PUT', 'Location/kiosk', { body: moved })).status).toBe(200)
    refused(await rival.call('PUT', 'Location/kiosk', { body: own }), 'Organization/clinic')
    expect((await clinic.call('PUT', 'Location/kiosk', { body: { ...moved, name: 'Kiosk' } })).status).toBe(200)
  })
})

test('a bundle that brings an organisation and what belongs to it is taken whole', async () => {
  const entries = [
    {
      fullUrl: 'urn:uuid:6a1f1f4e-8f63-4c7e-9d2c-0a6ad1c1f001',
      ...entryOf('POST', 'Organization', { resourceType: 'Organization', name: 'Laboratory' }),
    },
    entryOf('POST', 'Location', {
      resourceType: 'Location',
      managingOrganization: to('urn:uuid:6a1f1f4e-8f63-4c7e-9d2c-0a6ad1c1f001'),
    }),
    entryOf('PUT', 'Organization/branch', { resourceType: 'Organization', id: 'branch', name: 'Branch' }),
    entryOf('POST', 'Basic', { resourceType: 'Basic', code: { text: 'x' }, subject: to('Organization/branch') }),
  ]
  const answer = await rival.call('POST', '', { body: bundleOf('transaction', ...entries) })
  expect(answer.status, answer.text).toBe(200)
})
