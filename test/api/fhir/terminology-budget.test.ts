// What one question about codes may cost: definitions are small, and what they ask for may be millions of times larger.
import { beforeAll, describe, expect, test } from 'vitest'
import { creatorBy, fhirCaller, issueOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const store = creatorBy(call)

const system = 'http://budget/large'
const size = 30_000

const times = <Made>(count: number, make: (index: number) => Made): Made[] =>
  Array.from({ length: count }, (_, index) => make(index))

const isA = (value: string) => ({ property: 'concept', op: 'is-a', value })
const part = (...filter: object[]) => ({ system, filter })
const set = (include: object[], exclude: object[] = []) => ({
  name: 'valueSet',
  resource: { resourceType: 'ValueSet', status: 'active', compose: { include, exclude } },
})
const coding = (code: string) => ({ system, code })
const codings = (codes: string[]) => ({
  name: 'codeableConcept',
  valueCodeableConcept: { coding: codes.map(coding) },
})
const asked = (operation: string, ...parameter: object[]) =>
  call('POST', operation, { body: { resourceType: 'Parameters', parameter } })

beforeAll(async () => {
  service = await startService()
  const concept = [{ code: 'root', concept: times(size, index => ({ code: `c${index}` })) }]
  await store({ resourceType: 'CodeSystem', id: 'large', url: system, status: 'active', content: 'complete', concept })
})

describe('a value set', () => {
  const nothing = part(...times(9, () => isA('root')), { property: 'concept', op: '=', value: 'absent' })

  test('of many parts that each go through a large system is too costly to expand', async () => {
    for (const parameter of [
      set(times(500, () => nothing)),
      set(
        [part(isA('c1'))],
        times(499, () => nothing),
      ),
    ]) {
      const { status, body } = await asked('ValueSet/$expand', parameter)
      expect([status, issueOf(body).code]).toEqual([422, 'too-costly'])
      expect(issueOf(body).diagnostics).toMatch(/^The operation looks at codes more than 5000000 times/)
    }
  })

  test('of as many is too costly to ask for a code', async () => {
    const include = times(500, () => part(...times(10, () => isA('root'))))
    const { status, body } = await asked('ValueSet/$validate-code', set(include), codings(['absent']))
    expect([status, issueOf(body).code]).toEqual([422, 'too-costly'])
  })

  test('is asked for a hundred codes at the cost of reading its filters once', async () => {
    const few = set(times(10, () => part(...times(10, () => isA('root')))))
    const codes = times(99, index => `absent-${index}`)
    const nobody = await asked('ValueSet/$validate-code', few, codings(codes))
    expect([nobody.status, nobody.body.parameter[0].valueBoolean]).toEqual([200, false])
    const one = await asked('ValueSet/$validate-code', few, codings([...codes, `c${size - 1}`]))
    expect([one.status, one.body.parameter[0].valueBoolean]).toEqual([200, true])
  })

  test('of one part with several filters is expanded from a large system', async () => {
    const found = { property: 'concept', op: 'in', value: 'c7,c29999' }
    const { status, body } = await asked('ValueSet/$expand', set([part(isA('root'), found)]))
    expect([status, body.expansion.contains.map((each: { code: string }) => each.code)]).toEqual([
      200,
      ['c7', 'c29999'],
    ])
  })
})

test('concept maps that lead to each other from many groups are too costly to follow', async () => {
  const url = (index: number) => `http://budget/map-${index}`
  const group = (index: number) =>
    times(300, () => ({
      source: system,
      target: 'http://elsewhere',
      element: [{ code: 'other' }],
      unmapped: { mode: 'other-map', url: url(index + 1) },
    }))
  const map = (index: number, more: object) => ({
    ...{ resourceType: 'ConceptMap', id: `map-${index}`, url: url(index), status: 'active', ...more },
  })
  for (const index of times(4, each => each)) await store(map(index, { group: group(index) }))
  await store(map(4, { group: [{ source: system, element: [{ code: 'other' }] }] }))
  const { status, body } = await call('GET', `ConceptMap/map-0/$translate?system=${system}&code=c1`)
  expect([status, issueOf(body).code]).toEqual([422, 'too-costly'])
})
