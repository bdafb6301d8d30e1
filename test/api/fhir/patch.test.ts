// Patches over HTTP; what each operation does is proven in test/store/patch.test.ts. https://hl7.org/fhir/R4/http.html#patch
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fhirCaller, issueOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
let serial = 0
let path: string

beforeAll(async () => {
  service = await startService()
})

beforeEach(async () => {
  const id = `patch-${serial++}`
  path = `Patient/${id}`
  const body = { resourceType: 'Patient', id, name: [{ family: 'A' }], deceasedDateTime: '2015-02-07T13:28:17+02:00' }
  await call('PUT', path, { body })
})

const jsonPatch = (operations: unknown, headers: Record<string, string> = {}) =>
  call('PATCH', path, {
    body: JSON.stringify(operations),
    headers: { 'content-type': 'application/json-patch+json', ...headers },
  })

const fhirPatch = (...parts: [string, object][]) =>
  call('PATCH', path, {
    body: {
      resourceType: 'Parameters',
      parameter: [{ name: 'operation', part: parts.map(([name, value]) => ({ name, ...value })) }],
    },
  })

describe('a JSON Patch', () => {
  test('makes the next version and answers it', async () => {
    const { status, headers, body } = await jsonPatch([{ op: 'replace', path: '/name/0/family', value: 'B' }])
    expect(status).toBe(200)
    expect(body).toMatchObject({ name: [{ family: 'B' }], meta: { versionId: '2' } })
    expect(headers.get('etag')).toBe('W/"2"')
    expect((await call('GET', path)).body).toEqual(body)
    expect((await call('GET', `${path}/_history`)).body.entry[0].request.method).toBe('PATCH')
  })

  test('leaves the zone of a time as it was written', async () => {
    const { body } = await jsonPatch([{ op: 'add', path: '/active', value: true }])
    expect(body.deceasedDateTime).toBe('2015-02-07T13:28:17+02:00')
  })

  test('is taken as application/json too', async () => {
    const { status } = await jsonPatch([{ op: 'add', path: '/active', value: true }], {
      'content-type': 'application/json',
    })
    expect(status).toBe(200)
  })

  test('that changes nothing makes no version', async () => {
    expect((await jsonPatch([])).headers.get('etag')).toBe('W/"1"')
    const same = await jsonPatch([{ op: 'replace', path: '/name/0/family', value: 'A' }])
    expect(same.headers.get('etag')).toBe('W/"1"')
  })

  test('whose test holds goes on, and whose test fails changes nothing', async () => {
    const change = { op: 'add', path: '/active', value: true }
    const failed = await jsonPatch([change, { op: 'test', path: '/name/0/family', value: 'Z' }])
    expect(failed.status).toBe(422)
    expect(issueOf(failed.body).diagnostics).toContain('operation 2 (test at /name/0/family)')
    expect((await call('GET', path)).body.active).toBeUndefined()
    expect((await jsonPatch([{ op: 'test', path: '/name/0/family', value: 'A' }, change])).status).toBe(200)
  })

  test.each([
    ['a path that leads nowhere', [{ op: 'remove', path: '/photo' }], 422, '/photo'],
    ['a change of the id', [{ op: 'replace', path: '/id', value: 'other' }], 422, 'id'],
    ['a change of the type', [{ op: 'replace', path: '/resourceType', value: 'Device' }], 422, 'type'],
    ['a result that is not valid', [{ op: 'add', path: '/gender', value: 'x' }], 400, 'gender'],
    ['a result that is no resource', [{ op: 'replace', path: '', value: 5 }], 422, 'id or the type'],
    ['an unknown operation', [{ op: 'upsert', path: '/active' }], 400, 'op'],
    ['an operation without value', [{ op: 'add', path: '/active' }], 400, 'value'],
    ['a path that is no pointer', [{ op: 'add', path: 'active', value: true }], 400, 'JSON Pointer'],
    ['an operation that is no object', [5], 400, 'not an object'],
    ['an object instead of a list', {}, 400, 'array'],
    ['null', null, 400, 'array'],
  ])('with %s is refused', async (_what, operations, expected, said) => {
    const { status, body } = await jsonPatch(operations)
    expect(status).toBe(expected)
    expect(issueOf(body).diagnostics).toContain(said)
    expect((await call('GET', path)).headers.get('etag')).toBe('W/"1"')
  })

  test('without body is refused', async () => {
    const headers = { 'content-type': 'application/json-patch+json' }
    expect((await call('PATCH', path, { body: '', headers })).status).toBe(400)
  })

  test('goes by If-Match', async () => {
    const operations = [{ op: 'add', path: '/active', value: true }]
    const stale = await jsonPatch(operations, { 'if-match': 'W/"2"' })
    expect(stale.status).toBe(412)
    expect((await jsonPatch(operations, { 'if-match': 'W/"1"' })).status).toBe(200)
  })

  test('of what is not there answers 404, and of what was deleted 410', async () => {
    const operations = JSON.stringify([])
    const headers = { 'content-type': 'application/json-patch+json' }
    expect((await call('PATCH', 'Patient/nobody', { body: operations, headers })).status).toBe(404)
    await call('DELETE', path)
    expect((await jsonPatch([])).status).toBe(410)
  })

  test('by many at once loses none of them', async () => {
    const add = (n: number) => jsonPatch([{ op: 'add', path: '/name/-', value: { family: `N${n}` } }])
    const replies = await Promise.all(Array.from({ length: 20 }, (_, n) => add(n)))
    expect(replies.map(reply => reply.status)).toEqual(Array(20).fill(200))
    const { headers, body } = await call('GET', path)
    expect(headers.get('etag')).toBe('W/"21"')
    expect(new Set(body.name.map((name: { family: string }) => name.family)).size).toBe(21)
  })
})

describe('a FHIRPath Patch', () => {
  test('makes the next version and answers it', async () => {
    const { status, body } = await fhirPatch(
      ['type', { valueCode: 'add' }],
      ['path', { valueString: 'Patient' }],
      ['name', { valueString: 'birthDate' }],
      ['value', { valueDate: '1930-01-01' }],
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({ birthDate: '1930-01-01', meta: { versionId: '2' } })
  })

  test.each([
    ['that is no Parameters', { resourceType: 'Patient' }, 400],
    ['whose operations are no list', { resourceType: 'Parameters', parameter: 5 }, 400],
    ['that is null', null, 400],
  ])('%s is refused', async (_what, body, expected) => {
    const headers = { 'content-type': 'application/fhir+json' }
    expect((await call('PATCH', path, { body: JSON.stringify(body), headers })).status).toBe(expected)
  })

  test.each([
    ['a path that is no FHIRPath', 'delete', 'Patient.name.where((', 422],
    ['a path into the void', 'replace', 'Patient.photo.title', 422],
    ['deletion of the id', 'delete', 'Patient.id', 422],
    ['an unknown type', 'upsert', 'Patient.name', 400],
  ])('with %s is refused', async (_what, type, place, expected) => {
    const { status, body } = await fhirPatch(
      ['type', { valueCode: type }],
      ['path', { valueString: place }],
      ['value', { valueString: 'x' }],
    )
    expect(status).toBe(expected)
    expect(body.resourceType).toBe('OperationOutcome')
    expect((await call('GET', path)).headers.get('etag')).toBe('W/"1"')
  })

  const birthTime = 'http://hl7.org/fhir/StructureDefinition/patient-birthTime'
  const at = (url: string, value: object) => ({ url, ...value })
  const prefix = 'http://hl7.org/fhir/StructureDefinition/humanname-own-prefix'
  const qualifier = 'http://hl7.org/fhir/StructureDefinition/iso21090-EN-qualifier'
  const rich = () => ({
    resourceType: 'Patient',
    id: path.slice('Patient/'.length),
    birthDate: '1980-01-02',
    _birthDate: { id: 'b', extension: [at(birthTime, { valueDateTime: '1980-01-02T10:00:00Z' })] },
    name: [
      {
        family: 'van Berg',
        _family: { extension: [at(prefix, { valueString: 'van' })] },
        given: ['A', 'B'],
        _given: [null, { extension: [at(qualifier, { valueCode: 'IN' })] }],
      },
    ],
  })
  const time = (value: string) => [at(birthTime, { valueDateTime: value })]
  const bornOf = (_birthDate: object | undefined) => ({ birthDate: '1980-01-02', _birthDate })
  const namedBy = (more: object) => ({ name: [{ ...rich().name[0], ...more }] })

  test.each([
    ['delete', `Patient.birthDate.extension('${birthTime}')`, {}, () => bornOf({ id: 'b' })],
    ['delete', 'Patient.birthDate.extension[0]', {}, () => bornOf({ id: 'b' })],
    ['delete', 'Patient.birthDate.id', {}, () => bornOf({ extension: rich()._birthDate.extension })],
    [
      'replace',
      'Patient.birthDate.extension.value',
      { valueDateTime: '1980-01-02T11:00:00Z' },
      () => bornOf({ id: 'b', extension: time('1980-01-02T11:00:00Z') }),
    ],
    [
      'replace',
      'Patient.name.family.extension.value',
      { valueString: 'von' },
      () => namedBy({ _family: { extension: [at(prefix, { valueString: 'von' })] } }),
    ],
    [
      'replace',
      'Patient.name.given[1].extension.value',
      { valueCode: 'CL' },
      () => namedBy({ _given: [null, { extension: [at(qualifier, { valueCode: 'CL' })] }] }),
    ],
    ['delete', 'Patient.name.given[1].extension', {}, () => namedBy({ _given: undefined })],
    ['delete', 'Patient.name.given[1]', {}, () => namedBy({ given: ['A'], _given: undefined })],
    [
      'delete',
      'Patient.name.given[0]',
      {},
      () => namedBy({ given: ['B'], _given: [{ extension: [at(qualifier, { valueCode: 'IN' })] }] }),
    ],
    ['replace', 'Patient.name.family', { valueString: 'Berg' }, () => namedBy({ family: 'Berg' })],
  ] as const)('%s of %s acts beside the value and leaves the rest', async (type, place, value, expected) => {
    expect((await call('PUT', path, { body: rich() })).status).toBe(200)
    const parts: [string, object][] = [
      ['type', { valueCode: type }],
      ['path', { valueString: place }],
    ]
    const { status, body } = await fhirPatch(
      ...parts,
      ...(type === 'replace' ? [['value', value] as [string, object]] : []),
    )
    expect([status, body.issue]).toEqual([200, undefined])
    const { meta: _meta, text: _text, ...rest } = body
    expect(rest).toEqual(JSON.parse(JSON.stringify({ ...rich(), ...expected() })))
  })

  test('an extension is added to a primitive that has none', async () => {
    expect((await call('PUT', path, { body: { ...rich(), _birthDate: undefined } })).status).toBe(200)
    const { status, body } = await fhirPatch(
      ['type', { valueCode: 'add' }],
      ['path', { valueString: 'Patient.birthDate' }],
      ['name', { valueString: 'extension' }],
      ['value', { valueExtension: time('1980-01-02T12:00:00Z')[0] }],
    )
    expect([status, body.issue]).toEqual([200, undefined])
    expect(body).toMatchObject(bornOf({ extension: time('1980-01-02T12:00:00Z') }))
  })
})
