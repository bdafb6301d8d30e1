// What scopes are, which of them lies within which, and what a list of them opens on FHIR.
import { describe, expect, test } from 'vitest'
import { covers, grants, isScope, nearestScope, typesOpenedBy, unknownScopes } from '../../src/policy/scopes.ts'

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
    expect(unknownScopes(['labs:reed', 'labs:read', 'quite:different:thing'])).toMatch(
      /^There is no scope labs:reed.*labs:read.*There is no scope quite:different:thing\.?$/,
    )
    expect(nearestScope('patients:profil:read')).toBe('patients:profile:read')
    expect(nearestScope('system/Observatoin.rs')).toBe('system/Observation.rs')
    expect(nearestScope('system/Observation.sr')).toBeUndefined()
    expect(nearestScope('system/Qwertyuiopasdf.rs')).toBeUndefined()
  })
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
    const may = grants(held)
    const opened = (['c', 'r', 'u', 'd', 's'] as const).filter(interaction => may(type, interaction)).join('')
    expect(opened).toBe(expected)
  })
})

describe('consent to a list of scopes opens for reading', () => {
  test.each([
    [['labs:write', 'system/Patient.cud'], []],
    [['system/Patient.s'], ['Patient']],
    [['system/Patient.r', 'patients:profile:read'], ['Patient']],
    [['constructor'], []],
  ])('%j: %j', (held, expected) => expect(typesOpenedBy(held)).toEqual(expected))
})
