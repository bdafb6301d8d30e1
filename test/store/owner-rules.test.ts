// The table of owners: which types have one, and where a resource names it.

import { describe, expect, test } from 'vitest'
import { compartmentParams, resourceTypes, searchParams, typeModel } from '../../src/definitions/r4.ts'
import { isWorldly } from '../../src/store/index/subject.ts'
import { isOwned, isOwnedUnlessPatient, namesOwners, ownedTypes, ownersNamed } from '../../src/store/owners/rules.ts'
import { baseOf } from '../support/base.ts'

const base = baseOf('https://own.example')
const inCompartment = (type: string) => compartmentParams('Patient', type).length > 0
const to = (reference: string) => ({ reference })

test('every type of R4 that is outside of the patient compartment, or may be about nobody, has an entry', () => {
  expect(resourceTypes.filter(type => !isOwned(type) && (!inCompartment(type) || isWorldly(type)))).toEqual([])
})

test('no other type has one but Basic, which tells of stock', () => {
  expect(ownedTypes.filter(type => inCompartment(type) && !isWorldly(type))).toEqual(['Basic'])
})

test('what is seen by everybody has an owner even where it names a patient, unless it may be the record of one', () => {
  const shared = resourceTypes.filter(isWorldly)
  expect(shared.filter(isOwnedUnlessPatient)).toEqual(['Device', 'Group', 'Schedule'])
})

test('every canonical resource has an owner, who is its author', () => {
  const canonical = resourceTypes.filter(type => searchParams(type).has('url') && searchParams(type).has('version'))
  expect(canonical.length).toBeGreaterThan(25)
  expect(canonical.filter(type => !isOwned(type) || namesOwners(type) || isOwnedUnlessPatient(type))).toEqual([])
})

/** Elements that refer to an Organization as the one that manages, owns or offers something. */
const managing = /^(managingOrganization|managingEntity|providedBy|ownedBy|owner|organization|requestor)$/

test('every element of these types that says who manages, owns or offers something is in the table, but for what an insurer answers', () => {
  const named = ownedTypes.flatMap(type =>
    [...typeModel(type)!.elements.values()]
      .filter(({ name, targets }) => managing.test(name) && targets?.includes('Organization'))
      .map(({ name }): [string, string] => [type, name]),
  )
  const missing = named.filter(([type, name]) => {
    const found = ownersNamed({ resourceType: type, [name]: to('Organization/x') }, type, base)
    return found.length !== 1 || found[0]!.id !== 'x' || found[0]!.element !== `${type}.${name}`
  })
  expect(missing).toEqual([['EnrollmentResponse', 'organization']])
})

describe('a reference names an owner', () => {
  test.each([
    ['Organization/a', ['a']],
    ['Organization/a/_history/3', ['a']],
    [`${base.endpoint}/Organization/a`, ['a']],
    [`${base.endpoint}/Organization/a/_history/3`, ['a']],
    ['https://other.example/fhir/Organization/a', []],
    ['Organization?identifier=a', []],
    ['#a', []],
    ['Location/a', []],
    ['Organization/', []],
    ['', []],
  ])('%s: %j', (reference, ids) => {
    const named = ownersNamed({ managingOrganization: to(reference) }, 'Location', base)
    expect(named.map(({ id }) => id)).toEqual(ids)
  })

  test.each([
    undefined,
    null,
    'Organization/a',
    { display: 'A' },
    { identifier: { value: 'a' } },
    [to('Organization/a')],
  ])('not %j', managingOrganization => {
    expect(ownersNamed(JSON.parse(JSON.stringify({ managingOrganization })), 'Location', base)).toEqual([])
  })
})

test('a stock names its facility by its subject and by its number', () => {
  const stock = {
    subject: to('Location/a'),
    identifier: [
      { system: 'https://former.example/fhir/NamingSystem/stock-item', value: 'b|ATC|J01' },
      { system: 'https://other.example/numbers', value: 'c|ATC|J01' },
      { value: 'd' },
    ],
  }
  expect(ownersNamed(stock, 'Basic', base)).toEqual([
    { kind: 'facility', id: 'a', element: 'Basic.subject' },
    { kind: 'facility', id: 'b', element: 'Basic.identifier' },
  ])
})

test('a unit of blood names every facility that its extensions name', () => {
  const url = 'https://health-interop.org/fhir/StructureDefinition/facility'
  const unit = { extension: [to('Organization/a'), to('Location/b')].map(valueReference => ({ url, valueReference })) }
  expect(ownersNamed(unit, 'BiologicallyDerivedProduct', base).map(({ kind, id }) => [kind, id])).toEqual([
    ['facility', 'a'],
    ['facility', 'b'],
  ])
})
