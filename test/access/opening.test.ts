// What consents open, by their type and the scopes that were asked for, from the files that are delivered.

import { describe, expect, test } from 'vitest'
import { opens } from '../../src/access/consent/opening.ts'
import { purposeCodes } from '../../src/access/consent/purposes.ts'
import { grants, typesOpenedBy } from '../../src/access/scopes.ts'
import { resourceTypes } from '../../src/definitions/r4.ts'
import type { FmlMap } from '../../src/fml/ast.ts'
import { deliveredSet } from '../support/maps.ts'

const { mappings, consents } = deliveredSet()
const closed = { ...consents!.types.get('diagnoses')!, name: 'closed', resourceTypes: [] }
const types = { ...consents!, types: new Map([...consents!.types, ['closed', closed]]) }

describe('a consent opens', () => {
  test.each<[string, string | undefined, string[], object]>([
    ['everything', 'full_record', [], { consent_opens: 'everything' }],
    ['everything where no type is named', undefined, [], { consent_opens: 'everything' }],
    [
      'the parts that its type names',
      'prescriptions',
      [],
      { consent_opens: 'parts', resource_types: ['MedicationRequest', 'MedicationDispense'] },
    ],
    [
      'parts of which only a category counts',
      'lab_results',
      ['labs:read'],
      {
        consent_opens: 'parts',
        resource_types: ['Observation', 'DiagnosticReport'],
        observation_categories: ['laboratory'],
      },
    ],
    [
      'of the whole record only what the scopes name',
      'full_record',
      ['prescriptions:read', 'encounters:write'],
      { consent_opens: 'parts', resource_types: ['MedicationRequest', 'MedicationDispense'] },
    ],
    [
      'what the scopes name where no type is named',
      undefined,
      ['patient:diagnostics:read', 'patients:profile:read'],
      {
        consent_opens: 'parts',
        resource_types: ['Condition', 'MedicationRequest', 'Observation', 'DiagnosticReport', 'Patient'],
      },
    ],
    ['everything by a wildcard', 'full_record', ['system/*.rs'], { consent_opens: 'everything' }],
    ['nothing by scopes that read nothing', 'full_record', ['encounters:write'], { consent_opens: 'nothing' }],
    ['nothing by such scopes for a part either', 'diagnoses', ['labs:write'], { consent_opens: 'nothing' }],
    ['nothing by a scope that nobody knows', undefined, ['constructor'], { consent_opens: 'nothing' }],
    ['nothing by a type that is not there any more', 'dental', [], { consent_opens: 'nothing' }],
    ['nothing by a type that opens nothing', 'closed', [], { consent_opens: 'nothing' }],
    ['nothing but emergencies', 'emergency_only', ['patients:read'], { consent_opens: 'emergencies' }],
    [
      'a part of the record for research, by its scopes',
      'research',
      ['system/Observation.r'],
      { consent_opens: 'parts', resource_types: ['Observation'] },
    ],
  ])('%s', (_, type, scopes, expected) => {
    expect(opens(types, type, scopes)).toEqual(expected)
  })
})

test('scopes open for consent what they open for reading on FHIR, and each type once', () => {
  const scopes = ['labs:read', 'documents:read', 'labs:read', 'appointments:write']
  const opened = typesOpenedBy(scopes)
  expect(opened.toSorted()).toEqual(resourceTypes.filter(type => grants(scopes)(type, 'r')).toSorted())
  expect(opened.toSorted()).toEqual([
    'Binary',
    'Composition',
    'DiagnosticReport',
    'DocumentReference',
    'Observation',
    'ServiceRequest',
  ])
})

test('a scope of the interface alone can be consented to, and opens nothing on FHIR', () => {
  for (const scope of ['patient:diagnostics:read', 'patient:profile:read']) {
    expect(typesOpenedBy([scope])).not.toEqual([])
    expect(resourceTypes.filter(type => grants([scope])(type, 'r') || grants([scope])(type, 's'))).toEqual([])
  }
})

describe('the purposes of the maps are those of the policy', () => {
  const tableOf = (map: FmlMap) =>
    map.conceptMaps
      .find(({ id }) => id.text === 'purpose')!
      .mappings.map(({ source, target }) => [source.code.text, target?.code.text])

  test('towards FHIR and back', () => {
    const pairs = Object.entries(purposeCodes)
    expect(tableOf(mappings.get('consent-to-fhir')!.parsed.map)).toEqual(pairs)
    expect(tableOf(mappings.get('consent-from-fhir')!.parsed.map)).toEqual(pairs.map(pair => pair.toReversed()))
  })

  test.each(Object.entries(purposeCodes))('%s is kept as %s, not as other words', (purpose, code) => {
    const context = { base_url: 'https://x.example', received_at: '2026-03-14T10:42:07Z', consent_opens: 'everything' }
    const record = { health_id: 'CM-TQYE-6SRK-YQ6S', status: 'active', consent_type: 'full_record', purpose }
    const consent = mappings.get('consent-to-fhir')!.program!.run([record, context])
    const { provision, extension } = consent as { provision: { purpose: { code: string }[] }; extension: unknown[] }
    expect(provision.purpose.map(each => each.code)).toEqual([code])
    expect(extension).toHaveLength(1)
    expect(mappings.get('consent-from-fhir')!.program!.run([consent, context])).toMatchObject({ purpose })
  })
})
