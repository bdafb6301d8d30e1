// What scopes are, which of them lies within which, and what a list of them opens on FHIR.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  covers,
  grants,
  isScope,
  nearestScope,
  riskOf,
  scopes,
  typesOpenedBy,
  unknownScopes,
} from '../../src/access/scopes.ts'
import { resourceTypes } from '../../src/definitions/r4.ts'

describe('a scope', () => {
  test.each([
    ['labs:read', true],
    ['patients:profile:read', true],
    ['system/*.cruds', true],
    ['system/Observation.rs', true],
    ['system/Observation.read', true],
    ['system/*.*', true],
    ['system/Observation.', false],
    ['system/Observation.sr', false],
    ['system/Nothing.rs', false],
    ['patient/Observation.rs', false],
    ['x system/Observation.rs', false],
    ['system/Observation.rs x', false],
    ['constructor', false],
    ['', false],
  ])('%s: %s', (name, expected) => expect(isScope(name)).toBe(expected))

  test('that there is none like is named with the one that was probably meant', () => {
    expect(unknownScopes(['labs:read', 'system/Patient.r'])).toBeUndefined()
    expect(unknownScopes(['labs:reed', 'labs:read', 'quite:different:thing'])).toBe(
      'There is no scope labs:reed; did you mean `labs:read`? There is no scope quite:different:thing.',
    )
    expect(nearestScope('patients:profil:read')).toBe('patients:profile:read')
    expect(nearestScope('system/Observatoin.rs')).toBe('system/Observation.rs')
    expect(nearestScope('a system/Observatoin.rs')).toBeUndefined()
    expect(nearestScope('system/Observatoin.rs2')).toBeUndefined()
    expect(nearestScope('system/Observation.sr')).toBeUndefined()
    expect(nearestScope('system/Qwertyuiopasdf.rs')).toBeUndefined()
  })
})

describe('the risk of a scope', () => {
  test.each([
    ['consents:read', 'Low'],
    ['patients:profile:read', 'Medium'],
    ['labs:write', 'High'],
    ['emergency:access', 'Critical'],
    ['system/Observation.rs', 'Medium'],
    ['system/Observation.read', 'Medium'],
    ['system/Observation.u', 'High'],
    ['system/Observation.write', 'High'],
    ['system/Observation.*', 'High'],
    ['system/*.rs', 'High'],
    ['system/AuditEvent.rs', 'High'],
    ['system/AuditEvent.read', 'High'],
    ['constructor', 'High'],
  ])('%s: %s', (scope, risk) => expect(riskOf(scope)).toBe(risk))
})

describe('what is held covers what is asked for', () => {
  test.each([
    [['labs:read'], 'labs:read', true],
    [['labs:read'], 'labs:write', false],
    [['labs:read'], 'system/Observation.r', false],
    [['system/*.cruds'], 'labs:read', false],
    [['system/*.cruds'], 'system/Observation.rs', true],
    [['system/*.rs'], 'system/Observation.cr', false],
    [['system/Observation.rs'], 'system/Observation.r', true],
    [['system/Observation.rs'], 'system/Patient.r', false],
    [['system/Observation.rs'], 'system/*.r', false],
    [['labs:read', 'system/Observation.r', 'system/Observation.s'], 'system/Observation.rs', true],
    [['system/Observation.r', 'system/Patient.s'], 'system/Observation.rs', false],
    [['system/Observation.read'], 'system/Observation.rs', true],
    [['system/Observation.write'], 'system/Observation.cud', true],
    [['system/Observation.write'], 'system/Observation.r', false],
    [['system/*.*'], 'system/Observation.cruds', true],
  ] as const)('%j, %s: %s', (held, wanted, expected) => expect(covers(held, wanted)).toBe(expected))
})

/** What each scope opens, as the interface tells its meaning: nobody sees a type more because a list here has grown. */
const meant: Readonly<Record<string, readonly [risk: string, interactions?: string, types?: string]>> = {
  'health_id:verify': ['Low'],
  'patients:read': [
    ...(['Medium', 'rs'] as const),
    'AllergyIntolerance CarePlan Condition Consent Coverage Encounter Immunization MedicationRequest Patient Procedure',
  ],
  'patient:profile:read': ['Medium'],
  'patient:diagnostics:read': ['Medium'],
  'consents:read': ['Low'],
  'consents:write': ['Low'],
  'encounters:write': ['High', 'cu', 'Encounter'],
  'labs:read': ['Medium', 'rs', 'DiagnosticReport Observation ServiceRequest'],
  'labs:write': ['High', 'cu', 'DiagnosticReport Observation ServiceRequest'],
  'prescriptions:read': ['Medium', 'rs', 'MedicationDispense MedicationRequest'],
  'prescriptions:write': ['High', 'cu', 'MedicationDispense MedicationRequest'],
  'documents:read': ['Medium', 'rs', 'Binary Composition DocumentReference'],
  'documents:write': ['High', 'cu', 'Binary Composition DocumentReference'],
  'appointments:read': ['Medium', 'rs', 'Appointment Schedule Slot'],
  'appointments:write': ['Medium', 'cu', 'Appointment Schedule Slot'],
  'pharmacy:write': ['Medium'],
  'pharmacy:stock:read': ['Low'],
  'blood:inventory:read': ['Low'],
  'payments:reconciliation:read': ['Medium'],
  'webhooks:manage': ['Medium'],
  'bridge_agent:sync': ['High'],
  'emergency:access': ['Critical'],
}

const all = ['c', 'r', 'u', 'd', 's'] as const
const sorted = (letters: string): string => [...letters].sort().join('')

describe('on FHIR', () => {
  test.each(Object.entries(meant))(
    '%s opens what it means, and nothing else',
    (name, [risk, letters = '', types = '']) => {
      const may = grants([name, randomUUID()])
      const opened = resourceTypes.filter(type => all.some(interaction => may(type, interaction)))
      expect([scopes[name]!.risk, opened.join(' ')]).toEqual([risk, types])
      for (const type of opened)
        expect(sorted(all.filter(interaction => may(type, interaction)).join('')), type).toBe(sorted(letters))
    },
  )

  test('there are no others', () => {
    expect(Object.keys(scopes).sort()).toEqual(Object.keys(meant).sort())
  })

  test('equal lists share what is known of them, until a thousand others have been asked for', () => {
    const held = [randomUUID(), 'labs:read']
    const first = grants(held)
    grants([randomUUID()])
    expect(grants([...held])).toBe(first)
    for (let count = 0; count < 1001; count++) grants([randomUUID()])
    expect(grants(held)).not.toBe(first)
  })
})

describe('a list of scopes opens on FHIR', () => {
  test.each([
    [['labs:read'], 'Observation', 'rs'],
    [['labs:write'], 'Observation', 'cu'],
    [['labs:read', 'labs:write'], 'Observation', 'crus'],
    [['labs:read', 'system/Observation.d'], 'Observation', 'rds'],
    [['labs:read'], 'Patient', ''],
    [['system/*.r', 'labs:read'], 'Patient', 'r'],
    [['system/*.r', 'system/Patient.s'], 'Patient', 'rs'],
    [['constructor', 'patient:profile:read'], 'Patient', ''],
    [[], 'Patient', ''],
  ] as const)('%j, %s: "%s"', (held, type, expected) => {
    // A list that nobody has asked for before.
    const may = grants([...held, randomUUID()])
    const opened = all.filter(interaction => may(type, interaction)).join('')
    expect(opened).toBe(expected)
  })
})

describe('consent to a list of scopes opens for reading', () => {
  test.each([
    [['labs:write', 'system/Patient.cud'], []],
    [['system/Patient.s'], ['Patient']],
    [['system/Patient.r', 'patients:profile:read'], ['Patient']],
    [['patient:profile:read'], ['Patient']],
    [['patient:diagnostics:read'], ['Condition', 'MedicationRequest', 'Observation', 'DiagnosticReport']],
    [['labs:read', 'system/*.s'], [...resourceTypes]],
    [['constructor'], []],
  ])('%j: %j', (held, expected) => expect(typesOpenedBy(held)).toEqual(expected))
})
