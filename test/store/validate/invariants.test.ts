import { expect, test } from 'vitest'
import { createValidator, type InvariantEvaluator } from '../../../src/store/validate.ts'

const failing =
  (...keys: string[]): InvariantEvaluator =>
  ({ key }) =>
    keys.includes(key) ? () => false : undefined
const observation = { resourceType: 'Observation', status: 'final', code: { text: 'a' } }

test('an invariant that does not hold is told in the words of the specification', () => {
  const validate = createValidator({ invariants: failing('obs-6', 'obs-3') })
  expect(validate({ ...observation, referenceRange: [{ text: 'a' }] })).toEqual([
    {
      severity: 'error',
      code: 'invariant',
      diagnostics: 'Must have at least a low or a high or text (obs-3)',
      expression: 'Observation.referenceRange[0]',
    },
    {
      severity: 'error',
      code: 'invariant',
      diagnostics: 'dataAbsentReason SHALL only be present if Observation.value[x] is not present (obs-6)',
      expression: 'Observation',
    },
  ])
})

test('an invariant takes the node, its resource and the container', () => {
  const seen: unknown[] = []
  const evaluator: InvariantEvaluator = ({ key }) => (key === 'pat-1' ? (...nodes) => seen.push(nodes) > 0 : undefined)
  const contact = { name: { text: 'A' } }
  const patient = { resourceType: 'Patient', id: 'p', contact: [contact] }
  const container = { ...observation, subject: { reference: '#p' }, contained: [patient] }
  expect(createValidator({ invariants: evaluator })(container)).toEqual([])
  expect(seen).toEqual([[contact, patient, container]])
})

test('an invariant of an element takes each of its values', () => {
  const seen: unknown[] = []
  const evaluator: InvariantEvaluator = ({ key }) => (key === 'org-3' ? node => seen.push(node) > 1 : undefined)
  const telecom = [{ value: '1' }, { value: '2' }]
  const issues = createValidator({ invariants: evaluator })({ resourceType: 'Organization', telecom })
  expect(seen).toEqual(telecom)
  expect(issues.map(it => it.expression)).toEqual(['Organization.telecom'])
})

test('an invariant that cannot be evaluated is told, not thrown', () => {
  const evaluator: InvariantEvaluator = ({ key }) =>
    key === 'obs-7'
      ? () => {
          throw new Error('no such function')
        }
      : undefined
  const [issue] = createValidator({ invariants: evaluator })(observation)
  expect(issue).toMatchObject({ severity: 'error', diagnostics: 'obs-7 could not be evaluated: no such function' })
})

test('invariants are not run on an object whose structure is broken', () => {
  const validate = createValidator({ invariants: failing('obs-6') })
  expect(validate({ ...observation, statuss: 'final' }).map(it => it.code)).toEqual(['structure'])
})

test('what is checked by hand, and advice on narrative, is not asked of the evaluator', () => {
  const asked = new Set<string>()
  const evaluator: InvariantEvaluator = ({ key }) => void asked.add(key)
  createValidator({ invariants: evaluator })({
    ...observation,
    text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">a</div>' },
  })
  expect([...asked].sort()).toEqual(['obs-6', 'obs-7'])
})

test('very many warnings do not become an error, nor do they hide one', () => {
  const validate = createValidator({ invariants: failing('csd-0') })
  const warned = { resource: { resourceType: 'CodeSystem', status: 'draft', content: 'complete' } }
  const bundle = (...rest: object[]) => ({
    resourceType: 'Bundle',
    type: 'collection',
    entry: [...Array(150).fill(warned), ...rest],
  })
  expect(new Set(validate(bundle()).map(it => it.severity))).toEqual(new Set(['warning']))
  expect(validate(bundle({ resource: { resourceType: 'Nothing' } })).at(-1)).toMatchObject({
    severity: 'error',
    code: 'too-costly',
  })
})
