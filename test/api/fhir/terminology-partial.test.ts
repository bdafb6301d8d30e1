// What is stored only in part: code systems without all their codes, expansions that leave codes out, and codes that only group others.
import { beforeAll, describe, expect, test } from 'vitest'
import { creatorBy, fhirCaller, issueOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const url = 'http://plants'
const system = (id: string, content: string, more: object = {}) => ({
  resourceType: 'CodeSystem',
  id,
  url: `${url}/${id}`,
  status: 'active',
  content,
  concept: [
    { code: 'tree', property: [{ code: 'notSelectable', valueBoolean: true }], concept: [{ code: 'oak' }] },
    { code: 'herb' },
  ],
  ...more,
})
const set = (id: string, of: string, more: object = {}) => ({
  resourceType: 'ValueSet',
  id,
  url: `${url}/sets/${id}`,
  status: 'active',
  compose: { include: [{ system: `${url}/${of}` }] },
  ...more,
})
const expansion = (more: object) => ({
  expansion: {
    timestamp: '2026-01-01T00:00:00Z',
    contains: [{ system: `${url}/whole`, code: 'oak' }],
    ...more,
  },
})

beforeAll(async () => {
  service = await startService()
  await creatorBy(call)(
    system('whole', 'complete'),
    system('part', 'fragment'),
    system('names', 'supplement', { supplements: `${url}/whole` }),
    set('whole', 'whole'),
    set('part', 'part'),
    set('second-page', 'whole', expansion({ offset: 1 })),
    set('filtered', 'whole', expansion({ total: 1, parameter: [{ name: 'filter', valueString: 'oak' }] })),
    set('counted', 'whole', expansion({ total: 1, parameter: [{ name: 'count', valueInteger: 10 }] })),
    set('only-active', 'whole', expansion({ parameter: [{ name: 'activeOnly', valueBoolean: true }] })),
    { ...set('page-alone', 'whole', expansion({ offset: 1 })), compose: undefined },
  )
})

/** The answer of $validate-code: whether the code is there, or the status of a refusal, and the words. */
async function validated(path: string): Promise<[result: boolean | number, said: string | undefined]> {
  const { status, body } = await call('GET', path)
  if (status !== 200) return [status, issueOf(body).diagnostics]
  const part = (name: string) => body.parameter.find((each: { name: string }) => each.name === name)
  return [part('result').valueBoolean, part('message')?.valueString]
}

const ofSystem = (id: string, code: string) => `CodeSystem/${id}/$validate-code?code=${code}`
const ofSet = (id: string, of: string, code: string) => `ValueSet/${id}/$validate-code?system=${url}/${of}&code=${code}`

describe('of a code system that is stored with some of its codes', () => {
  test.each([ofSystem('part', 'herb'), ofSet('part', 'part', 'herb')])('a stored code is there: %s', async path => {
    expect(await validated(path)).toEqual([true, undefined])
  })

  test.each([ofSystem('part', 'fern'), ofSet('part', 'part', 'fern')])(
    'nobody can tell of another code, and the answer is not no: %s',
    async path => {
      expect(await validated(path)).toEqual([422, expect.stringContaining('(content: fragment)')])
    },
  )

  test('a supplement has no codes of its own', async () => {
    expect(await validated(ofSystem('names', 'oak'))).toEqual([422, expect.stringContaining('(content: supplement)')])
  })

  test('of a whole one the answer is no', async () => {
    expect((await validated(ofSystem('whole', 'fern')))[0]).toBe(false)
  })
})

describe('an expansion that leaves codes out does not stand for the definition', () => {
  test.each([
    ['second-page', true],
    ['filtered', true],
    ['only-active', true],
    ['counted', false],
  ])('%s: the definition has the code: %s', async (id, isThere) => {
    expect((await validated(ofSet(id, 'whole', 'herb')))[0]).toBe(isThere)
  })

  test('without a definition, nobody can tell', async () => {
    expect((await validated(ofSet('page-alone', 'whole', 'herb')))[0]).toBe(422)
  })
})

describe('a code that only groups others', () => {
  test('is not valid for a record', async () => {
    const no = [false, expect.stringContaining('abstract=true')]
    expect(await validated(ofSet('whole', 'whole', 'tree'))).toEqual(no)
    expect(await validated(ofSystem('whole', 'tree'))).toEqual(no)
    expect(await validated(`${ofSystem('whole', 'tree')}&abstract=false`)).toEqual(no)
  })

  test('is valid where the request says that groups are wanted', async () => {
    expect(await validated(`${ofSet('whole', 'whole', 'tree')}&abstract=true`)).toEqual([true, undefined])
    expect(await validated(`${ofSystem('whole', 'tree')}&abstract=true`)).toEqual([true, undefined])
  })
})
