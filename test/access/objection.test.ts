// What a client that sees by consent may not write, as a table.
import { describe, expect, test } from 'vitest'
import { objectionTo } from '../../src/access/consent/objection.ts'
import { baseOf } from '../support/base.ts'
import { consentOf } from '../support/consents.ts'

const base = baseOf('http://localhost')
const refused = (type: string, former: object | undefined, resource: object | undefined): string | undefined => {
  const failure = objectionTo({ type, former, resource } as never, 'clinic', base)
  return failure && `${failure.code}: ${failure.message}`
}

const healthId = (value: string, use?: string) => ({ system: base.naming('health-id'), value, use })
const number = (organization: string, value: string, use?: string) => ({
  system: base.naming(`external-reference/${organization}`),
  value,
  use,
})
const identified = (...identifier: object[]) => ({ identifier })
const linked = (...links: [type: string, id: string][]) => ({
  link: links.map(([type, id]) => ({ type, other: { reference: `Patient/${id}` } })),
})

describe('a Patient', () => {
  test.each<[string, object | undefined, object | undefined, RegExp | undefined]>([
    ['is registered without numbers', undefined, {}, undefined],
    ['is registered with the own number', undefined, identified(number('clinic', '7')), undefined],
    ['is registered with a Health ID', undefined, identified(healthId('A')), undefined],
    [
      'is registered with the number of others',
      undefined,
      identified(number('other', '7')),
      /^FORBIDDEN: .*own organisation/,
    ],
    ['is deleted that has no Health ID', {}, undefined, undefined],
    [
      'is deleted that has one',
      identified(healthId('A')),
      undefined,
      /^FORBIDDEN: Only the record-keeping system can change a Health ID/,
    ],
    ['is given a Health ID', {}, identified(healthId('A')), undefined],
    [
      'is given another Health ID',
      identified(healthId('A')),
      identified(healthId('B')),
      /^FORBIDDEN: Only the record-keeping system can change a Health ID/,
    ],
    [
      'is given a second Health ID',
      identified(healthId('A')),
      identified(healthId('A'), healthId('B')),
      /^FORBIDDEN: Only the record-keeping system can change a Health ID/,
    ],
    [
      'has its Health ID made an old one',
      identified(healthId('A')),
      identified(healthId('A', 'old')),
      /^FORBIDDEN: Only the record-keeping system can change a Health ID/,
    ],
    ['has its Health ID made official', identified(healthId('A')), identified(healthId('A', 'official')), undefined],
    [
      'has its identifiers in another order',
      identified(healthId('A'), healthId('B', 'old'), number('other', '7'), number('other', '8')),
      identified(number('other', '8'), healthId('B', 'old'), number('other', '7'), healthId('A')),
      undefined,
    ],
    ['is given another own number', identified(number('clinic', '7')), identified(number('clinic', '8')), undefined],
    ['loses the number of others', identified(number('other', '7')), {}, /^FORBIDDEN: .*own organisation/],
    [
      'has the number of others made old',
      identified(number('other', '7')),
      identified(number('other', '7', 'old')),
      /own/,
    ],
    ['is given a number of no organisation', {}, identified({ system: 'http://x', value: '7' }), undefined],
    ['is merged', {}, linked(['replaced-by', 'b']), /^FORBIDDEN: Only the record-keeping system can merge patients/],
    [
      'replaces another',
      {},
      linked(['replaces', 'b']),
      /^FORBIDDEN: Only the record-keeping system can merge patients/,
    ],
    [
      'replaces another than before',
      linked(['replaces', 'b']),
      linked(['replaces', 'c']),
      /^FORBIDDEN: Only the record-keeping system can merge patients/,
    ],
    [
      'is merged no more',
      linked(['replaced-by', 'b']),
      undefined,
      /^FORBIDDEN: Only the record-keeping system can merge patients/,
    ],
    [
      'has its links in another order',
      linked(['replaces', 'b'], ['replaces', 'a']),
      linked(['replaces', 'a'], ['replaces', 'b']),
      undefined,
    ],
    ['is linked to see also another', {}, linked(['seealso', 'b']), undefined],
  ])('%s', (_name, former, resource, message) => {
    const told = refused('Patient', former, resource)
    if (message) expect(told).toMatch(message)
    else expect(told).toBeUndefined()
  })
})

describe('a Consent', () => {
  const denying = { policy: [{ uri: 'https://profiles.ihe.net/ITI/PCF/Policy-deny' }] }
  test.each<[string, object | undefined, RegExp | undefined]>([
    ['is recorded for the own organisation', consentOf('c', 'ada', 'clinic'), undefined],
    ['is recorded for another one', consentOf('c', 'ada', 'other'), /^FORBIDDEN: This client can record consents/],
    [
      'is recorded for everybody',
      consentOf('c', 'ada', 'x', { type: 'deny', actor: undefined }),
      /^FORBIDDEN: This client can record/,
    ],
    [
      'closes the record in emergencies',
      consentOf('c', 'ada', 'clinic', {}, denying),
      /^FORBIDDEN: Only the record-keeping system can record a refusal of emergency access/,
    ],
    [
      'is recorded for the own organisation and another one',
      consentOf('c', 'ada', 'x', {
        actor: ['clinic', 'other'].map(id => ({ reference: { reference: `Organization/${id}` } })),
      }),
      /^FORBIDDEN: This client can record consents/,
    ],
    ['is deleted', undefined, undefined],
  ])('%s', (_name, resource, message) => {
    const told = refused('Consent', undefined, resource)
    if (message) expect(told).toMatch(message)
    else expect(told).toBeUndefined()
  })
})

test('of what else is written nothing is asked here', () => {
  expect(refused('Person', {}, { ...identified(number('other', '7')), ...linked(['replaces', 'b']) })).toBeUndefined()
})
