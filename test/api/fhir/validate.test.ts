// $validate. https://hl7.org/fhir/R4/resource-operation-validate.html
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const post = (path: string, body: unknown, token?: string) =>
  call('POST', path, token === undefined ? { body } : { body, token })

const good = { resourceType: 'Patient', id: 'ada', active: true }
const bad = { resourceType: 'Patient', gender: 'femme', birthDate: '1980-13-01', nickname: 'x' }
const wrapped = (resource: unknown, ...more: object[]) => ({
  resourceType: 'Parameters',
  parameter: [{ name: 'resource', resource }, ...more],
})

beforeAll(async () => {
  service = await startService()
  await call('PUT', 'Patient/ada', { body: good })
})

const issues = ({ status, body }: Answer): [string, string, string?][] => {
  expect([status, body.resourceType]).toEqual([200, 'OperationOutcome'])
  return body.issue.map((each: { severity: string; code: string; expression?: string[] }) =>
    each.expression ? [each.severity, each.code, each.expression[0]] : [each.severity, each.code],
  )
}
const fine = [['information', 'informational']]

describe('[type]/$validate', () => {
  test('of a good resource says that all is well', async () => {
    const answer = await post('Patient/$validate', good)
    expect(issues(answer)).toEqual(fine)
    expect(answer.body.issue[0].diagnostics).toMatch(/^No issues detected/)
    expect(issues(await post('Patient/$validate', wrapped(good)))).toEqual(fine)
  })

  test('of a bad resource lists every problem with its place, and succeeds', async () => {
    for (const body of [bad, wrapped(bad)]) {
      const found = issues(await post('Patient/$validate', body))
      expect(found.map(([, , place]) => place).sort()).toEqual([
        'Patient.birthDate',
        'Patient.gender',
        'Patient.nickname',
      ])
      expect(new Set(found.map(([severity]) => severity))).toEqual(new Set(['error']))
    }
  })

  test('finds a broken invariant', async () => {
    const contact = { resourceType: 'Patient', contact: [{ gender: 'female' }] }
    expect(issues(await post('Patient/$validate', contact))).toEqual([['error', 'invariant', 'Patient.contact[0]']])
  })

  test('warns of a unit that UCUM does not have, and stores the resource', async () => {
    const valueQuantity = { value: 120, system: 'http://unitsofmeasure.org', code: 'mmHg' }
    const pressure = { resourceType: 'Observation', status: 'final', code: { text: 'a' }, valueQuantity }
    const answer = await post('Observation/$validate', pressure)
    expect(issues(answer)).toEqual([['warning', 'code-invalid', 'Observation.value.code']])
    expect(answer.body.issue[0].diagnostics).toContain('did you mean "mm[Hg]"?')
    expect((await post('Observation', pressure)).status).toBe(201)
  })

  test('stores nothing', async () => {
    const before = await call('GET', 'Patient?_total=accurate&_summary=count')
    await post('Patient/$validate', good)
    await post('Patient/ada/$validate', { ...good, active: false })
    expect((await call('GET', 'Patient?_total=accurate&_summary=count')).body.total).toBe(before.body.total)
    expect((await call('GET', 'Patient/ada')).body).toMatchObject({ active: true, meta: { versionId: '1' } })
  })

  test('of another type, of no resource and of nothing at all says so', async () => {
    expect(issues(await post('Observation/$validate', good))).toEqual([['error', 'structure', 'Patient']])
    expect(issues(await post('Patient/$validate', [1]))[0]![0]).toBe('error')
    expect(issues(await post('Patient/$validate', { resourceType: 'Parameters', parameter: [] }))[0]![0]).toBe('error')
    expect(issues(await call('POST', 'Patient/$validate'))[0]![0]).toBe('error')
  })

  test('of Parameters takes them as they are, unless they carry a resource', async () => {
    const parameters = { resourceType: 'Parameters', parameter: [{ name: 'a', valueString: 'b' }] }
    expect(issues(await post('Parameters/$validate', parameters))).toEqual(fine)
    expect(issues(await post('Parameters/$validate', wrapped(parameters)))).toEqual(fine)
    const broken = { resourceType: 'Parameters', parameter: [{ valueString: 'b' }] }
    expect(issues(await post('Parameters/$validate', broken))[0]![0]).toBe('error')
    expect(issues(await post('Parameters/$validate', wrapped(broken)))[0]![0]).toBe('error')
  })

  test('of a body that is no JSON is refused', async () => {
    const headers = { 'content-type': 'application/fhir+json' }
    expect((await call('POST', 'Patient/$validate', { body: '{', headers })).status).toBe(400)
  })
})

describe('a mode', () => {
  const mode = (valueCode: string) => ({ name: 'mode', valueCode })
  const noId = { resourceType: 'Patient', active: true }

  test('create needs no id, update needs that of the address', async () => {
    expect(issues(await post('Patient/$validate', wrapped(noId, mode('create'))))).toEqual(fine)
    expect(issues(await post('Patient/$validate?mode=create', noId))).toEqual(fine)
    expect(issues(await post('Patient/$validate', wrapped(noId, mode('update'))))).toEqual([
      ['error', 'required', 'Patient.id'],
    ])
    expect(issues(await post('Patient/ada/$validate', wrapped(good, mode('update'))))).toEqual(fine)
    expect(issues(await post('Patient/bea/$validate', wrapped(good, mode('update'))))).toEqual([
      ['error', 'value', 'Patient.id'],
    ])
  })

  test('delete looks at the resource that is stored, and at what the caller may', async () => {
    expect(
      issues(await post('Patient/ada/$validate', { resourceType: 'Parameters', parameter: [mode('delete')] })),
    ).toEqual(fine)
    expect(issues(await call('GET', 'Patient/ada/$validate?mode=delete'))).toEqual(fine)
    expect(issues(await call('GET', 'Patient/nobody/$validate?mode=delete'))).toEqual([['error', 'not-found']])
    expect(issues(await post('Patient/$validate?mode=delete', good))).toEqual([['error', 'required']])
    const token = await mint('system/Patient.r')
    expect(issues(await call('GET', 'Patient/ada/$validate?mode=delete', { token }))).toEqual([['error', 'forbidden']])
  })

  test('of another name is refused', async () => {
    expect((await post('Patient/$validate?mode=destroy', good)).status).toBe(400)
  })
})

describe('a profile', () => {
  const profile = (valueUri: string) => ({ name: 'profile', valueUri })

  test('that is not known gives a warning that says so', async () => {
    const unknown = 'http://example.org/fhir/StructureDefinition/patient|1.0.0'
    const answer = await post('Patient/$validate', wrapped(good, profile(unknown)))
    expect(issues(answer)).toEqual([['warning', 'not-supported']])
    expect(answer.body.issue[0].diagnostics).toContain('http://example.org/fhir/StructureDefinition/patient')
    expect(issues(await post(`Patient/$validate?profile=${encodeURIComponent(unknown)}`, good))[0]![0]).toBe('warning')
  })

  test('of R4 itself is what is checked anyway', async () => {
    const known = profile('http://hl7.org/fhir/StructureDefinition/Patient')
    expect(issues(await post('Patient/$validate', wrapped(good, known)))).toEqual(fine)
    const other = profile('http://hl7.org/fhir/StructureDefinition/Observation')
    expect(issues(await post('Patient/$validate', wrapped(good, other)))).toEqual([['error', 'structure', 'Patient']])
  })

  test('stands beside what is wrong otherwise', async () => {
    const found = issues(await post('Patient/$validate', wrapped(bad, profile('http://example.org/p'))))
    expect(found).toHaveLength(4)
  })
})

describe('[type]/{id}/$validate', () => {
  test('by GET looks at the resource that is stored', async () => {
    expect(issues(await call('GET', 'Patient/ada/$validate'))).toEqual(fine)
    expect((await call('GET', 'Patient/nobody/$validate')).status).toBe(404)
    expect((await call('GET', 'Patient/$validate')).status).toBe(405)
  })

  test('by POST looks at the resource that is sent', async () => {
    expect(issues(await post('Patient/ada/$validate', bad))).toHaveLength(3)
    expect(issues(await call('POST', 'Patient/ada/$validate'))).toEqual(fine)
  })

  test('works as an entry of a batch and of a transaction', async () => {
    const read = { request: { method: 'GET', url: 'Patient/ada/$validate' } }
    for (const type of ['batch', 'transaction']) {
      const { body } = await post('', { resourceType: 'Bundle', type, entry: [read] })
      expect(body.entry[0].resource.issue[0].severity).toBe('information')
    }
    const sent = { request: { method: 'POST', url: 'Patient/$validate' }, resource: bad }
    const { body } = await post('', { resourceType: 'Bundle', type: 'batch', entry: [sent] })
    expect(body.entry[0].resource.issue).toHaveLength(3)
  })
})

const mint = (...scopes: string[]) =>
  service.application.identity.tokens.mint({ clientId: 'demo', organizationId: 'demo', consentExempt: true }, scopes)

test('validation is refused to callers that may do nothing with the type', async () => {
  const token = await mint('system/Observation.cruds')
  expect((await post('Patient/$validate', good, token)).status).toBe(403)
  expect((await post('Patient/ada/$validate', good, token)).status).toBe(403)
  expect((await post('Patient/$validate', good, await mint('system/Patient.c'))).status).toBe(200)
  expect((await call('GET', 'Patient/ada/$validate', { token: await mint('system/Patient.c') })).status).toBe(403)
})

test('the CapabilityStatement names the operation on every type', async () => {
  const { body } = await call('GET', 'metadata')
  const operation = { name: 'validate', definition: 'http://hl7.org/fhir/OperationDefinition/Resource-validate' }
  for (const resource of body.rest[0].resource) expect(resource.operation).toContainEqual(operation)
})
