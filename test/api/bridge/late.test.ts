// Items that were refused and come again after later ones: what the later ones said stays.
import { beforeAll, expect, test } from 'vitest'
import { fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { agentOf, type TestAgent } from './support.ts'

let service: Service
let agent: TestAgent
const fhir = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
  await fhir('PUT', 'Organization/etoudi', { body: { resourceType: 'Organization', id: 'etoudi', name: 'Etoudi' } })
  agent = await agentOf(service, 'etoudi')
})

const found = async (query: string) =>
  ((await fhir('GET', query)).body.entry ?? []).map((each: { resource: object }) => each.resource)
const accepted = async (...items: readonly object[]) => {
  const { body } = await agent.sync(items)
  expect(body, JSON.stringify(body)).toMatchObject({ accepted: items.length, rejected: [] })
}
/** Sends items that are refused, under the names under which they come again. */
const refused = async (...names: readonly string[]) => {
  const { body } = await agent.sync(names.map(item_id => ({ item_id, type: 'hl7v2', payload: { message: 'MSH|' } })))
  expect(body.rejected.map((each: { item_id: string }) => each.item_id)).toEqual(names)
}

let control = 0
const message = (type: string, ...segments: readonly string[]) => ({
  type: 'hl7v2',
  payload: {
    message: [`MSH|^~\\&|HIS|ETOUDI|HI|HI|20260314104207||${type}|L${++control}|P|2.5.1`, ...segments].join('\r'),
  },
})
const placed = (name: string, fields: Record<number, string>) =>
  `${name}${Array.from({ length: 45 }, (_, index) => `|${fields[index + 1] ?? ''}`).join('')}`
const person = (number: string, more: Record<number, string> = {}) =>
  placed('PID', { 1: '1', 3: `${number}^^^ETOUDI^MR`, 5: `NGONO^${number}`, 7: '19900412', 8: 'F', ...more })
const result = (number: string, value: string, status: string, range = '') =>
  message(
    'ORU^R01^ORU_R01',
    person(number),
    `ORC|RE|P-${number}^HIS|F-${number}^LABO`,
    `OBR|1|P-${number}^HIS|F-${number}^LABO|58410-2^CBC panel^LN|||20260314091500|||||||||||||||20260314104000||HM|${status}`,
    `OBX|1|NM|718-7^Hemoglobin^LN||${value}|g/dL|${range}||||${status}|||20260314103000`,
  )

const results = (number: string) => found(`Observation?code=718-7&subject.identifier=${number}`)

test('a preliminary result that comes late does not replace the final one', async () => {
  await refused('early')
  await accepted(result('r1', '9.8', 'F'))
  const before = await results('r1')
  await accepted({ item_id: 'early', ...result('r1', '7.1', 'P', '12-16') })
  expect(await results('r1')).toEqual(before)
  expect(before).toMatchObject([{ status: 'final', valueQuantity: { value: 9.8 } }])
  await accepted(result('r1', '9.9', 'C'))
  expect(await results('r1')).toMatchObject([{ status: 'corrected', valueQuantity: { value: 9.9 } }])
})

test.each([
  ['in their order', ['first', 'second']],
  ['in reverse', ['second', 'first']],
])('of two results that come late %s, the one that was sent last holds', async (_, order) => {
  const number = `o-${order[0]}`
  const names = order.map(each => `${number}-${each}`)
  await refused(`${number}-first`, `${number}-second`)
  const sent = { first: result(number, '7.1', 'P'), second: result(number, '9.8', 'F') }
  await accepted(...order.map((each, at) => ({ item_id: names[at], ...sent[each as 'first'] })))
  expect(await results(number)).toMatchObject([{ status: 'final', valueQuantity: { value: 9.8 } }])
})

test('one that comes late twice is measured by its first place, also against what is in the same batch', async () => {
  await refused('again')
  const { body } = await agent.sync([{ item_id: 'again', type: 'hl7v2', payload: { message: 'MSH|' } }])
  expect(body.rejected).toHaveLength(1)
  await accepted(result('a1', '9.8', 'F'), { item_id: 'again', ...result('a1', '7.1', 'P') })
  expect(await results('a1')).toMatchObject([{ status: 'final', valueQuantity: { value: 9.8 } }])
})

test('a late admission says what the discharge did not, and does not bring the patient back into the ward', async () => {
  const pv1 = (more: Record<number, string>) => placed('PV1', { 1: '1', 2: 'I', 19: 'V-77', ...more })
  await refused('admission')
  await accepted(message('ADT^A03^ADT_A03', 'EVN|A03|20260316104200', person('v1'), pv1({ 45: '20260316120000' })))
  await accepted({
    item_id: 'admission',
    ...message(
      'ADT^A01^ADT_A01',
      'EVN|A01|20260314104200',
      person('v1'),
      pv1({ 3: 'MED^12^B', 7: '77^Mbida^Rose', 44: '20260314103000' }),
    ),
  })
  const [visit, ...more] = await found('Encounter?subject.identifier=v1')
  expect(more).toEqual([])
  expect(visit.status).toBe('finished')
  expect(visit.period.start).toMatch(/^2026-03-14/)
  expect(visit.period.end).toMatch(/^2026-03-16/)
  expect(JSON.stringify(visit.participant)).toContain('77')
})

test('a late message about a person leaves the newer address, and takes no one back from or to the dead; its number is added', async () => {
  const about = (more: Record<number, string>) =>
    message('ADT^A08^ADT_A01', 'EVN|A08|20260314104200', person('p1', more), 'PV1|1|N')
  await accepted(about({ 11: 'Etoudi^^Yaounde', 29: '20260301', 30: 'Y' }))
  await refused('moved')
  await accepted(about({ 11: 'Akwa^^Douala', 29: '""', 30: '""' }))
  const patient = async () => (await found('Patient?identifier=p1'))[0]
  const before = await patient()
  expect(before).toMatchObject({ address: [{ city: 'Douala' }] })
  expect(before).not.toHaveProperty('deceasedDateTime')
  const late = about({ 3: 'p1^^^ETOUDI^MR~p1-more^^^LABO^MR', 11: 'Etoudi^^Yaounde', 29: '20260301', 30: 'Y' })
  await accepted({ item_id: 'moved', ...late })
  const after = await patient()
  expect(after).toEqual({ ...before, identifier: expect.anything(), meta: expect.anything() })
  expect(after.meta.source).toBe(before.meta.source)
  expect(after.identifier).toHaveLength(before.identifier.length + 1)
})

test('a late merge of two patients is done', async () => {
  for (const number of ['m1', 'm2'])
    await accepted(message('ADT^A08^ADT_A01', 'EVN|A08|20260314104200', person(number), 'PV1|1|N'))
  await refused('merge')
  for (const number of ['m1', 'm2'])
    await accepted(
      message('ADT^A08^ADT_A01', 'EVN|A08|20260314104200', person(number, { 11: 'Akwa^^Douala' }), 'PV1|1|N'),
    )
  const a40 = message('ADT^A40^ADT_A39', 'EVN|A40|20260314104200', person('m1'), 'MRG|m2^^^ETOUDI^MR')
  await accepted({ item_id: 'merge', ...a40 })
  expect(await found('Patient?identifier=m2&active=false')).toMatchObject([{ link: [{ type: 'replaced-by' }] }])
})

test('a late resource, a late unit of blood and a late deletion leave what is newer as it is', async () => {
  const weight = (status: string) => ({
    type: 'fhir',
    payload: {
      resourceType: 'Observation',
      identifier: [{ system: 'urn:clinic:obs', value: 'w1' }],
      status,
      code: { text: 'Weight' },
      valueQuantity: { value: 61, unit: 'kg' },
    },
  })
  const blood = (status: string) => ({
    type: 'blood_unit',
    payload: {
      ...{ id: 'bag-9', facility_id: 'etoudi', donation_number: 'C00262600123400', component: 'packed_red_cells' },
      ...{ blood_group: 'O+', status, expires_at: '2127-01-01T00:00:00Z' },
    },
  })
  await refused('weight', 'blood', 'weight-gone', 'blood-gone')
  await accepted(weight('final'), blood('transfused'))
  const read = async () => [
    ...(await found('Observation?identifier=urn:clinic:obs|w1')),
    ...(await found('BiologicallyDerivedProduct')),
  ]
  const before = await read()
  expect(before).toHaveLength(2)
  await accepted({ item_id: 'weight', ...weight('preliminary') }, { item_id: 'blood', ...blood('available') })
  expect(await read()).toEqual(before)
  const { body } = await agent.sync([
    { item_id: 'weight-gone', ...weight('final'), op: 'delete' },
    { item_id: 'blood-gone', type: 'blood_unit', op: 'delete', payload: { id: 'bag-9' } },
  ])
  expect(body.rejected.map((each: { error_code: string }) => each.error_code)).toEqual([
    'VALIDATION_FAILED',
    'VALIDATION_FAILED',
  ])
  expect(await read()).toEqual(before)
})
