// Patient/$match. https://hl7.org/fhir/R4/patient-operation-match.html
import { beforeAll, expect, test } from 'vitest'
import { mint } from '../../../src/lib/health-id.ts'
import { creatorBy, fhirCaller, issueOf } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const healthId = mint('CM')

const person = (id: string, family: string, given: string, birthDate: string, more: object = {}) => ({
  resourceType: 'Patient',
  id,
  name: [{ family, given: [given] }],
  gender: 'female',
  birthDate,
  ...more,
})

beforeAll(async () => {
  service = await startService()
  await creatorBy(call)(
    person('aissatou', 'Njoya', 'Aïssatou', '1990-05-17', { telecom: [{ system: 'phone', value: '+237677000111' }] }),
    person('sister', 'Njoya', 'Mariama', '1990-05-17', { telecom: [{ system: 'phone', value: '+237677000111' }] }),
    person('holder', 'Tchoupo', 'Chantal', '1962-12-01', {
      identifier: [{ system: `${service.url}/fhir/NamingSystem/health-id`, value: healthId }],
    }),
  )
})

const parameters = (resource: unknown, more: object[] = []) => ({
  resourceType: 'Parameters',
  parameter: [{ name: 'resource', resource }, ...more],
})
const asked = (resource: object, more: object[] = [], token?: string) =>
  call('POST', 'Patient/$match', { body: parameters({ resourceType: 'Patient', ...resource }, more), token })
const grades = (body: { entry?: { resource: { id: string }; search: { extension: { valueCode: string }[] } }[] }) =>
  (body.entry ?? []).map(({ resource, search }) => [resource.id, search.extension[0]!.valueCode])

const aissatou = { name: [{ family: 'NJOYA', given: ['Aissatou'] }], birthDate: '1990-05-17', gender: 'female' }
const phone = { telecom: [{ system: 'phone', value: '677 00 01 11' }] }

test('who it certainly is comes first, and who it could be after, each with score and grade', async () => {
  const { status, body } = await asked({ ...aissatou, ...phone })
  expect(status).toBe(200)
  expect(body).toMatchObject({ resourceType: 'Bundle', type: 'searchset', total: 2 })
  expect(grades(body)).toEqual([
    ['aissatou', 'certain'],
    ['sister', 'possible'],
  ])
  const [first, second] = body.entry
  expect(first).toMatchObject({
    fullUrl: `${service.url}/api/fhir/R4/Patient/aissatou`,
    resource: { resourceType: 'Patient', birthDate: '1990-05-17' },
    search: { mode: 'match', extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/match-grade' }] },
  })
  expect(first.search.score).toBeGreaterThan(0.99)
  expect(first.search.score).toBeLessThanOrEqual(1)
  expect(second.search.score).toBeLessThan(first.search.score)
})

test('onlyCertainMatches leaves out who it may be, and count the less likely', async () => {
  const certain = { name: 'onlyCertainMatches', valueBoolean: true }
  expect(grades((await asked({ ...aissatou, ...phone }, [certain])).body)).toEqual([['aissatou', 'certain']])
  const vague = { name: [{ family: 'Njoya', given: ['A.'] }], birthDate: '1990-05-17', ...phone }
  expect((await asked(vague, [certain])).body.total).toBe(0)
  expect(grades((await asked({ ...aissatou, ...phone }, [{ name: 'count', valueInteger: 1 }])).body)).toHaveLength(1)
})

test('nobody like that gives an empty bundle', async () => {
  const { body } = await asked({ name: [{ family: 'Unheard', given: ['Of'] }], birthDate: '1950-01-02' })
  expect([body.total, body.entry]).toEqual([0, undefined])
})

test('a Health ID alone is certain; with demographics that disagree it is not', async () => {
  const identifier = [{ system: `${service.url}/fhir/NamingSystem/health-id`, value: healthId }]
  expect(grades((await asked({ identifier })).body)).toEqual([['holder', 'certain']])
  expect(grades((await asked({ identifier, ...aissatou })).body)).toEqual([
    ['aissatou', 'certain'],
    ['holder', 'possible'],
    ['sister', 'possible'],
  ])
})

test('what cannot be compared is told, and so is what the operation does not take', async () => {
  for (const body of [undefined, { resourceType: 'Parameters' }, parameters(7), parameters({ resourceType: 'Device' })])
    expect((await call('POST', 'Patient/$match', { body })).status).toBe(400)
  const wrong = await asked({ name: 'Njoya', birthDate: 'yesterday' })
  expect([wrong.status, wrong.body.issue.length]).toEqual([400, 2])
  const unknown = await asked(aissatou, [{ name: 'threshold', valueDecimal: 0.5 }])
  expect([unknown.status, issueOf(unknown.body).diagnostics]).toEqual([400, expect.stringContaining('threshold')])
})

test('it takes the right to search Patient', async () => {
  const mint = (...scopes: string[]) =>
    service.application.identity.tokens.mint(
      { clientId: 'demo-client', organizationId: 'clinic', consentExempt: true },
      scopes,
    )
  const refused = await asked(aissatou, [], await mint('system/Patient.cru'))
  expect([refused.status, issueOf(refused.body).code]).toEqual([403, 'forbidden'])
  expect((await asked(aissatou, [], await mint('system/Patient.s'))).status).toBe(200)
})
