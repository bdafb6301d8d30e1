// What becomes of two patients who are one.
import { describe, expect, test } from 'vitest'
import { linked, obstacle, replaced, replacesLink, survivor } from '../../../src/mpi/register/merge.ts'
import { addressesOf } from '../../../src/mpi/register/patient.ts'
import { baseOf } from '../../support/base.ts'

const addresses = addressesOf(baseOf('http://localhost'))
const healthId = (value: string, more: object = {}) => ({ system: addresses.healthIds, value, ...more })
const number = (system: string, value: string, more: object = {}) => ({ system, value, ...more })
const patient = (id: string, more: object = {}) => ({ resourceType: 'Patient', id, ...more })
const link = (type: string, id: string) => ({ other: { reference: `Patient/${id}` }, type })

describe('what keeps two from being merged', () => {
  const merged = { link: [link('replaced-by', 'c')] }
  test.each<[string, object, object, string | undefined]>([
    ['nothing', patient('a'), patient('b'), undefined],
    [
      'nothing, if only the source is inactive',
      patient('a', { active: false }),
      patient('b', { active: true }),
      undefined,
    ],
    [
      'the target was merged into what has a long name',
      patient('a'),
      patient('b', { link: [link('replaced-by', 'c'.repeat(70))] }),
      `Patient/b was already merged into Patient/${'c'.repeat(64)}: use that one instead.`,
    ],
    ['they are the same', patient('a'), patient('a'), 'The source and the target are the same Patient.'],
    [
      'the source was merged',
      patient('a', merged),
      patient('b'),
      'Patient/a was already merged into Patient/c: use that one instead.',
    ],
    [
      'the target was merged',
      patient('a'),
      patient('b', merged),
      'Patient/b was already merged into Patient/c: use that one instead.',
    ],
    [
      'the target is inactive',
      patient('a'),
      patient('b', { active: false }),
      'Patient/b is not active, so no patient can be merged into it.',
    ],
  ])('%s', (_what, source, target, expected) =>
    expect(obstacle(source as never, target as never, addresses)).toBe(expected),
  )
})

describe('numbers', () => {
  test('of the source that the target has not are its old ones; the same one of another system is another', () => {
    const own = [healthId('B'), number('ward', '1')]
    const source = patient('a', {
      identifier: [healthId('A'), number('ward', '1'), number('ward', '2'), number('card', '1')],
    })
    expect(survivor(source, patient('b', { identifier: own }), addresses)).toEqual(
      patient('b', {
        identifier: [
          ...own,
          healthId('A', { use: 'old' }),
          number('ward', '2', { use: 'old' }),
          number('card', '1', { use: 'old' }),
        ],
        link: [link('replaces', 'a')],
      }),
    )
    expect(replaced(source, patient('b', { identifier: own }), addresses)).toEqual({
      ...source,
      active: false,
      link: [link('replaced-by', 'b')],
    })
  })

  test('go over with the Health ID if the target has none; the source keeps it as an old one', () => {
    const source = patient('a', {
      identifier: [healthId('A', { use: 'official' }), healthId('Z', { use: 'old' }), number('ward', '2')],
    })
    const target = patient('b', { identifier: [healthId('Y', { use: 'old' })] })
    expect(survivor(source, target, addresses)['identifier']).toEqual([
      healthId('Y', { use: 'old' }),
      healthId('A', { use: 'official' }),
      healthId('Z', { use: 'old' }),
      number('ward', '2', { use: 'old' }),
    ])
    expect(replaced(source, target, addresses)['identifier']).toEqual([
      healthId('A', { use: 'old' }),
      healthId('Z', { use: 'old' }),
      number('ward', '2'),
    ])
  })

  test('are none where neither has one', () => {
    expect(survivor(patient('a'), patient('b'), addresses)).toEqual(patient('b', { link: [link('replaces', 'a')] }))
  })
})

test('a link is there once', () => {
  const once = linked(patient('b'), replacesLink(patient('a')))
  expect(once).toEqual(patient('b', { link: [link('replaces', 'a')] }))
  expect(linked(once, replacesLink(patient('a')))).toEqual(once)
  expect(linked(once, replacesLink(patient('c')))['link']).toEqual([link('replaces', 'a'), link('replaces', 'c')])
})
