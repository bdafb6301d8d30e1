// HL7 v2 messages by POST bridge/sync: people go through the register, visits and results are found again, merges are done.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { terminology } from '../../support/consents.ts'
import { fhirCaller } from '../../support/fhir.ts'
import { portalUser } from '../../support/portal.ts'
import { type Service, startService } from '../../support/service.ts'
import { agentOf, type TestAgent } from './support.ts'

let service: Service
let agent: TestAgent
const fhir = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
  for (const id of ['etoudi', 'bastos'])
    await fhir('PUT', `Organization/${id}`, { body: { resourceType: 'Organization', id, name: id } })
  agent = await agentOf(service, 'etoudi')
})

let control = 0
const header = (type: string) => `MSH|^~\\&|HIS|ETOUDI|HI|HI|20260314104207||${type}|C${++control}|P|2.5.1`
const send = (segments: readonly string[], by = agent) =>
  by.sync([{ type: 'hl7v2', payload: { message: segments.join('\r') } }])
const stored = async (segments: readonly string[], by = agent) => {
  const { body } = await send(segments, by)
  expect(body, JSON.stringify(body)).toMatchObject({ accepted: 1, rejected: [] })
}
const found = async (query: string) =>
  ((await fhir('GET', query)).body.entry ?? []).map((each: { resource: object }) => each.resource)

const amina = 'PID|1||1042^^^ETOUDI^MR||NGO BIH^Amina^Marie||19900412|F|||Etoudi^^Yaounde'
const pv1 = (more: Record<number, string>) =>
  [
    'PV1',
    ...Array.from(
      { length: 45 },
      (_, field) => ({ 1: '1', 2: 'I', 3: 'MED^12^B', 19: 'V-8831', ...more })[field + 1] ?? '',
    ),
  ].join('|')
const visit = pv1({ 44: '20260314103000' })

test('an admission registers the person once, and every later message finds them by the number of the facility', async () => {
  await stored([header('ADT^A01^ADT_A01'), 'EVN|A01|20260314104200', amina, visit])
  const [patient, ...more] = await found('Patient?family=NGO BIH')
  expect(more).toEqual([])
  expect(patient.identifier[0].value).toMatch(/^CM-/)
  expect(patient.managingOrganization).toEqual({ reference: 'Organization/etoudi' })
  const [encounter] = await found(`Encounter?subject=Patient/${patient.id}`)
  expect(encounter).toMatchObject({ status: 'in-progress', class: { code: 'IMP' } })
  await stored([header('ADT^A08^ADT_A01'), 'EVN|A08|20260315104200', amina.replace('Yaounde', 'Douala'), visit])
  expect(await found('Patient?family=NGO BIH')).toMatchObject([{ id: patient.id, address: [{ city: 'Douala' }] }])
  await stored([
    header('ADT^A03^ADT_A03'),
    'EVN|A03|20260316104200',
    amina,
    pv1({ 44: '20260314103000', 45: '20260316120000' }),
  ])
  expect(await found(`Encounter?subject=Patient/${patient.id}`)).toMatchObject([
    { id: encounter.id, status: 'finished' },
  ])
})

test('results are stored with their report, and a correction replaces them', async () => {
  const report = (value: string, status: string) => [
    header('ORU^R01^ORU_R01'),
    amina,
    'ORC|RE|P-77^HIS|F-9001^LABO',
    `OBR|1|P-77^HIS|F-9001^LABO|58410-2^CBC panel^LN|||20260314091500|||||||||||||||20260314104000||HM|${status}`,
    `OBX|1|NM|718-7^Hemoglobin^LN||${value}|g/dL|12.0 - 16.0|L|||${status}|||20260314103000`,
  ]
  await stored(report('9.8', 'F'))
  const before = await found('Observation?code=718-7')
  expect(before).toMatchObject([{ status: 'final', valueQuantity: { value: 9.8 } }])
  await stored(report('10.8', 'C'))
  expect(await found('Observation?code=718-7')).toMatchObject([
    { id: before[0].id, status: 'corrected', valueQuantity: { value: 10.8 } },
  ])
})

test('a number of an order and of a visit that another patient had before is another order and visit', async () => {
  const report = (who: string, value: string, status = 'F') => [
    header('ORU^R01^ORU_R01'),
    `PID|1||${who}^^^ETOUDI^MR||ESSOMBA^${who}||19800101|M`,
    'PV1|1|O|||||||||||||||||V-0001',
    'ORC|RE|P-0001^HIS|F-0001^LABO',
    `OBR|1|P-0001^HIS|F-0001^LABO|58410-2^CBC panel^LN|||20260314091500|||||||||||||||20260314104000||HM|${status}`,
    `OBX|1|NM|789-8^Erythrocytes^LN||${value}|10*9/L|||||${status}|||20260314103000`,
  ]
  await stored(report('Remy', '240'))
  await stored(report('Ulrich', '90'))
  const results = async (who: string) =>
    found(`Observation?code=789-8&subject:Patient.given=${who}&_include=Observation:encounter`)
  const [ofRemy, visit] = await results('Remy')
  expect([ofRemy.valueQuantity.value, visit.subject]).toEqual([240, ofRemy.subject])
  const [ofUlrich, other] = await results('Ulrich')
  expect([ofUlrich.valueQuantity.value, other.subject]).toEqual([90, ofUlrich.subject])
  expect(
    await found(`DiagnosticReport?subject=${ofRemy.subject.reference},${ofUlrich.subject.reference}`),
  ).toHaveLength(2)
  // A merge makes two patients one person, whose results are found again under either number.
  const older = 'PID|1||Remi^^^ETOUDI^MR||ESSOMBA^Jean Remi||19600101|M'
  await stored([header('ADT^A08^ADT_A01'), 'EVN|A08|20260316104200', older, 'PV1|1|N'])
  await stored([header('ADT^A40^ADT_A39'), 'EVN|A40|20260316104200', older, 'MRG|Remy^^^ETOUDI^MR'])
  await stored([...report('Remi', '241', 'C').toSpliced(1, 1, older)])
  expect(await found('Observation?code=789-8&value-quantity=241')).toMatchObject([
    { id: ofRemy.id, status: 'corrected' },
  ])
})

test('a correction leaves nothing of what was said of the former value: no alarm, no range, no note', async () => {
  const report = (...results: readonly string[]) => [
    header('ORU^R01^ORU_R01'),
    amina,
    'OBR|1|P-79^HIS|F-9003^LABO|24326-1^Electrolytes^LN|||20260314091500|||||||||||||||20260314104000||CH|C',
    ...results,
  ]
  await stored(
    report(
      'OBX|1|NM|2823-3^Potassium^LN||7.8|mmol/L|3.5-5.1|HH|||F',
      'NTE|1||critical, phoned',
      'OBX|2|NM|2951-2^Sodium^LN||160|mmol/L|135-145|HH|||F',
      'OBX|3|NM|2075-0^Chloride^LN||160|mmol/L|95-105|HH|||F',
    ),
  )
  expect(await found('Observation?code=2823-3')).toMatchObject([{ interpretation: [{ coding: [{ code: 'HH' }] }] }])
  await stored(
    report(
      'OBX|1|NM|2823-3^Potassium^LN||4.8|mmol/L|3.5-5.1||||C',
      'OBX|2|NM|2951-2^Sodium^LN||||||||X',
      'OBX|3|NM|2075-0^Chloride^LN||""|mmol/L|95-105|""|||C',
    ),
  )
  const [potassium] = await found('Observation?code=2823-3')
  expect(potassium).toMatchObject({
    status: 'corrected',
    valueQuantity: { value: 4.8 },
    referenceRange: [{ text: '3.5-5.1' }],
  })
  expect(Object.keys(potassium)).not.toContain('interpretation')
  expect(Object.keys(potassium)).not.toContain('note')
  const [sodium] = await found('Observation?code=2951-2')
  expect(sodium.status).toBe('cancelled')
  const [chloride] = await found('Observation?code=2075-0')
  expect(chloride).toMatchObject({ status: 'corrected', dataAbsentReason: { coding: [{ code: 'unknown' }] } })
  for (const each of [sodium, chloride])
    expect(Object.keys(each).filter(key => /^(value|interpretation)/.test(key))).toEqual([])
})

test.each([
  ['SN', '<^5', { valueQuantity: { value: 5, comparator: '<' } }],
  ['SN', '^<5', { valueQuantity: { value: 5, comparator: '<' } }],
  ['SN', '=^5', { valueQuantity: { value: 5 } }],
  ['SN', '<>^5', { valueString: '<>5 g/L' }],
  ['SN', 'GT^5', { valueString: 'GT5 g/L' }],
  ['SN', '^1^:^128', { valueRatio: { numerator: { value: 1 }, denominator: { value: 128 } } }],
  ['SN', '>^1^:^128', { valueString: '>1:128 g/L' }],
  ['SN', '>^10^-^20', { valueString: '>10-20 g/L' }],
  ['SN', '~^5', { valueString: '~5 g/L' }],
  ['SN', '<^5~>^9', { valueString: '<5 g/L\n>9 g/L' }],
  ['NM', '5~6', { valueString: '5 g/L\n6 g/L' }],
  ['CQ', '5', { valueQuantity: { value: 5, unit: 'g/L' } }],
  ['CQ', 'traces^mg', { valueString: 'traces mg' }],
  ['CQ', '5^mg~6^mg', { valueString: '5 mg\n6 mg' }],
  ['DT', '20260301~20260308', { valueString: '2026-03-01\n2026-03-08' }],
  ['TM', '0830~1600', { valueString: '08:30:00\n16:00:00' }],
  ['TS', '20260301~20260308', { valueString: '2026-03-01\n2026-03-08' }],
  ['DR', '20260301^20260308', { valuePeriod: { start: '2026-03-01', end: '2026-03-08' } }],
  ['RP', '^PACS', { valueString: '^PACS' }],
  [
    'CWE',
    'ECO^E. coli~KPN^Klebsiella',
    {
      valueString: 'E. coli\nKlebsiella',
      _valueString: { extension: [{ valueCoding: { code: 'ECO' } }, { valueCoding: { code: 'KPN' } }] },
    },
  ],
])('a result of type %s, %s, is stored as it was sent', async (type, value, expected) => {
  const order = randomUUID()
  await stored([
    header('ORU^R01^ORU_R01'),
    amina,
    `OBR|1|${order}^HIS|${order}^LABO|58410-2^CBC panel^LN|||20260314091500|||||||||||||||20260314104000||HM|F`,
    `OBX|1|${type}|x-${order}^Any^LOCAL||${value}|g/L|||||F`,
  ])
  const [one, ...more] = await found(`Observation?code=x-${order}`)
  expect([one, more]).toMatchObject([expected, []])
})

test('a correction without a value, one that was not obtained, and who found it where: nothing of the former result stays', async () => {
  const report = (...results: readonly string[]) => [
    header('ORU^R01^ORU_R01'),
    amina,
    'OBR|1|P-80^HIS|F-9004^LABO|24326-1^Electrolytes^LN|||20260314091500',
    ...results,
  ]
  const former = 'HH|||F|||20260314090000||D17^MBARGA||||BRAS^Bras gauche'
  const ids = ['48345-3', '48346-1', '48347-9']
  await stored(report(...ids.map((id, index) => `OBX|${index}|NM|${id}^Any^LN||7.8|mmol/L||${former}`)))
  const all = async () => Promise.all(ids.map(async id => (await found(`Observation?code=${id}`))[0]))
  for (const each of await all()) expect(Object.keys(each)).toEqual(expect.arrayContaining(['performer', 'bodySite']))
  await stored(
    report(
      `OBX|1|NM|${ids[0]}^Any^LN|||mmol/L|||||C`,
      `OBX|2|NM|${ids[1]}^Any^LN|||mmol/L|||||P`,
      `OBX|3|NM|${ids[2]}^Any^LN||7.8|mmol/L||HH|||X`,
    ),
  )
  const results = await all()
  expect(results).toMatchObject([
    { status: 'corrected', dataAbsentReason: { coding: [{ code: 'unknown' }] } },
    { status: 'preliminary', dataAbsentReason: { coding: [{ code: 'unknown' }] } },
    { status: 'cancelled', note: [{ text: 'Not a result: 7.8 mmol/L, HH' }] },
  ])
  for (const each of results) {
    const stale = Object.keys(each).filter(key => /^(value|interpretation|performer|bodySite)/.test(key))
    expect(stale).toEqual([])
  }
})

test('a status that comes without the value leaves the value that was sent before', async () => {
  const result = (obx: string) =>
    stored([header('ORU^R01^ORU_R01'), amina, 'OBR|1|P-81^HIS|F-9006^LABO', `OBX|1|NM|2345-7^Glucose^LN||${obx}`])
  await result('1.26|g/L||H|||P')
  await result('||||||U')
  expect(await found('Observation?code=2345-7')).toMatchObject([
    { status: 'final', valueQuantity: { value: 1.26 }, interpretation: [{ coding: [{ code: 'H' }] }] },
  ])
})

test('a discharge keeps when and how the visit began, and one that is cancelled leaves no end', async () => {
  const visit = (event: string, admission: string, discharge: string) =>
    stored([header(`ADT^${event}^ADT_A01`), amina, `PV1|1|I|MED|||||||||||${admission}|||||V-901${discharge}`])
  const of = async () => {
    const [one, ...more] = await found('Encounter?identifier=V-901')
    expect(more).toEqual([])
    return one
  }
  const days = (from: string, until: string) => `${'|'.repeat(25)}${from}|${until}`
  await visit('A01', '7', days('202603140800', ''))
  await visit('A03', '', `${'|'.repeat(17)}01${'|'.repeat(9)}202603160900`)
  expect(await of()).toMatchObject({
    status: 'finished',
    period: { start: '2026-03-14T08:00:00+01:00', end: '2026-03-16T09:00:00+01:00' },
    hospitalization: {
      admitSource: { coding: [{ code: '7' }] },
      dischargeDisposition: { coding: [{ code: '01' }] },
    },
  })
  await visit('A13', '', days('202603140800', ''))
  const open = await of()
  expect(open).toMatchObject({ status: 'in-progress', hospitalization: { admitSource: { coding: [{ code: '7' }] } } })
  expect(open.period).toEqual({ start: '2026-03-14T08:00:00+01:00' })
  expect(Object.keys(open.hospitalization)).toEqual(['admitSource'])
})

test('a vaccination that was refused and then given has a dose and no refusal', async () => {
  const vaccination = (amount: string, status: string) =>
    stored([
      header('VXU^V04^VXU_V04'),
      amina,
      'ORC|RE||V-902^VACC',
      `RXA|0|1|20260314||05^Measles^CVX|${amount}|mL|||||||||||||${status}|A`,
    ])
  const of = async () => (await found('Immunization?identifier=V-902/05/2026-03-14'))[0]
  await vaccination('0.5', 'RE')
  expect(await of()).toMatchObject({ status: 'not-done', statusReason: { coding: [{ code: 'RE' }] } })
  await vaccination('0.3', 'PA')
  expect(await of()).toMatchObject({ status: 'completed', isSubpotent: true, doseQuantity: { value: 0.3 } })
  expect(Object.keys(await of())).not.toContain('statusReason')
  await vaccination('0.5', 'CP')
  const given = await of()
  expect(given).toMatchObject({ status: 'completed', doseQuantity: { value: 0.5 } })
  expect(Object.keys(given).filter(key => key.startsWith('isSub') || key.startsWith('subpotent'))).toEqual([])
})

test('a correction may be a text where a number was, and a result may come after the reason why there was none', async () => {
  const report = (type: string, value: string, status: string) => [
    header('ORU^R01^ORU_R01'),
    amina,
    'OBR|1|P-78^HIS|F-9002^LABO|58410-2^CBC panel^LN|||20260314091500|||||||||||||||20260314104000||HM|F',
    `OBX|1|${type}|777-3^Platelets^LN||${value}|||||||${status}|||20260314103000`,
  ]
  const platelets = async () => {
    const [one, ...more] = await found('Observation?code=777-3')
    expect(more).toEqual([])
    return Object.keys(one).filter(key => /^(value|dataAbsent)/.test(key))
  }
  await stored(report('NM', '212', 'P'))
  expect(await platelets()).toEqual(['valueQuantity'])
  await stored(report('ST', 'agrégats, non dénombrables', 'C'))
  expect(await platelets()).toEqual(['valueString'])
  await stored(report('', '', 'X'))
  await stored(report('NM', '198', 'C'))
  expect(await platelets()).toEqual(['valueQuantity'])
})

test('a problem that was resolved and is active again has no end, and one with an end is not active', async () => {
  const problem = (fields: string) => [
    header('PPR^PC1^PPR_PC1'),
    amina,
    `PRB|UP|20260401|E11^Diabète de type 2^I10|PB-77|||||${fields}`,
  ]
  const diabetes = async () => {
    const [one, ...more] = await found('Condition?code=E11')
    expect(more).toEqual([])
    const { clinicalStatus, abatementDateTime, onsetDateTime, onsetString } = one
    return [clinicalStatus?.coding[0].code, abatementDateTime, onsetDateTime ?? onsetString]
  }
  await stored(problem('20260330|||||resolved|||depuis 2 ans'))
  expect(await diabetes()).toEqual(['resolved', '2026-03-30', 'depuis 2 ans'])
  await stored(problem('|||||active||20240105'))
  expect(await diabetes()).toEqual(['active', undefined, '2024-01-05'])
})

test('the same message again, as a sender repeats it that saw no acknowledgement, stores nothing', async () => {
  const message = [
    header('ORU^R01^ORU_R01'),
    amina,
    'OBR|1||F-1^LABO|24323-8^CMP^LN|||20260314091500',
    'OBX|1|NM|2345-7^Glucose^LN||5.1|mmol/L|||||F',
  ]
  await stored(message)
  const { body } = await send(message)
  expect(body).toMatchObject({ accepted: 0, duplicates: 1 })
})

test('a message that cannot be read is refused with segment and field, and leaves nothing behind', async () => {
  const answers = [
    await send([header('ORU^R01^ORU_R01'), 'PID|1||1^^^ETOUDI^MR||X^Y||19909999|F', 'OBR|1||F-2^LABO|1^a']),
    await send(['PID|1||1']),
    await send([header('ZZZ^Z01'), amina]),
  ]
  expect(answers.map(({ body }) => [body.rejected[0]?.error_code, body.rejected[0]?.field])).toEqual([
    ['VALIDATION_FAILED', expect.stringContaining('PID')],
    ['VALIDATION_FAILED', undefined],
    ['VALIDATION_FAILED', expect.stringContaining('MSH')],
  ])
  expect(await found('Patient?family=X')).toEqual([])
})

test('two numbers of one facility become one person, and a repetition changes nothing', async () => {
  await stored([
    header('ADT^A04^ADT_A01'),
    'EVN|A04|20260314104200',
    'PID|1||2077^^^ETOUDI^MR||NGO BI^Amina||19910412|F',
  ])
  const merge = () => [header('ADT^A40^ADT_A39'), 'EVN|A40|20260314104200', amina, 'MRG|2077^^^ETOUDI^MR']
  await stored(merge())
  const [former] = await found('Patient?family=NGO BI&family:exact=NGO BI')
  expect(former).toMatchObject({ active: false, link: [{ type: 'replaced-by' }] })
  await stored(merge())
})

test('two numbers, one of a record that another organisation manages, are reviewed by a person, and asked about once', async () => {
  const other = await agentOf(service, 'bastos')
  const ofKamga = (number: string) => `PID|1||${number}^^^ETOUDI^MR||KAMGA^Pauline||19620718|F|||||699112244`
  const admission = (pid: string) => [header('ADT^A04^ADT_A01'), 'EVN|A04|20260314104200', pid]
  await stored(admission(ofKamga('B-1')), other)
  await stored(admission(ofKamga('3050')))
  await stored(admission('PID|1||3077^^^ETOUDI^MR||ATEBA^Pauline||19620719|F'))
  const [kamga] = await found('Patient?family=KAMGA')
  const [ateba] = await found('Patient?family=ATEBA')
  expect(kamga.managingOrganization).toEqual({ reference: 'Organization/bastos' })
  const merge = () =>
    stored([header('ADT^A40^ADT_A39'), 'EVN|A40|20260314104200', ofKamga('3050'), 'MRG|3077^^^ETOUDI^MR'])
  const tasks = () => found(`Task?code=possible-duplicate&focus=Patient/${kamga.id},Patient/${ateba.id}`)
  const before = (await tasks()).length
  await merge()
  await merge()
  const [task, ...more] = (await tasks()).filter(
    ({ focus }: { focus: { reference: string } }) => focus.reference === `Patient/${ateba.id}`,
  )
  expect([before, task.status, more]).toEqual([0, 'requested', []])
  const administrator = await portalUser(service, ['administrator'])
  const path = `/portal/duplicates/${task.id}`
  const { text } = await administrator.get(path)
  const hidden = [...text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)]
  const fields = Object.fromEntries(hidden.map(([, name, value]) => [name!, value!]))
  const { with: _with, ...asked } = fields
  expect((await administrator.post(`${path}/apart`, { ...asked, note: 'Two people.' })).status).toBe(303)
  await merge()
  expect((await tasks()).map(({ status }: { status: string }) => status)).toEqual(['completed'])
})

test('the numbers of two facilities never meet, though they are written alike', async () => {
  const other = await agentOf(service, 'bastos')
  await stored(
    [header('ADT^A04^ADT_A01'), 'EVN|A04|20260314104200', 'PID|1||1042^^^ETOUDI^MR||MBALLA^Jean||19550101|M'],
    other,
  )
  expect(await found('Patient?family=MBALLA')).toMatchObject([
    { managingOrganization: { reference: 'Organization/bastos' } },
  ])
})

test('the Health ID of another person is refused, and the number of another organisation', async () => {
  const [patient] = await found('Patient?family=NGO BIH&active:not=false')
  const healthId = patient.identifier[0].value
  const { body } = await send([
    header('ADT^A04^ADT_A01'),
    'EVN|A04|20260314104200',
    `PID|1||9^^^ETOUDI^MR~${healthId}^^^HEALTH-ID||ESSOMBA^Pierre||19480730|M`,
  ])
  expect(body.rejected).toMatchObject([{ error_code: 'VALIDATION_FAILED', field: 'Patient.identifier' }])
  const system = patient.identifier.find(({ system }: { system: string }) =>
    system.includes('external-reference'),
  ).system
  const other = await agentOf(service, 'bastos')
  const forged = await other.sync([
    {
      type: 'fhir',
      item_id: randomUUID(),
      payload: { resourceType: 'Patient', identifier: [{ system, value: '1042' }], name: [{ family: 'Forged' }] },
    },
  ])
  expect(forged.body.rejected).toMatchObject([{ error_code: 'FORBIDDEN', field: 'payload.identifier' }])
})

test('what a facility wrote is not replaced by another, under whichever identifier', async () => {
  const other = await agentOf(service, 'bastos')
  const weight = (value: number) => ({
    type: 'fhir',
    payload: {
      resourceType: 'Observation',
      identifier: [{ system: 'urn:shared', value: '1' }],
      status: 'final',
      code: { text: 'Weight' },
      subject: { reference: 'Patient/amina' },
      valueQuantity: { value, unit: 'kg' },
    },
  })
  await agent.sync([weight(50)])
  await other.sync([weight(90)])
  expect(await found('Observation?identifier=urn:shared|1&_sort=_lastUpdated')).toMatchObject([
    { valueQuantity: { value: 50 } },
    { valueQuantity: { value: 90 } },
  ])
})

test('messages of one visit in one batch become one visit, whichever of its numbers each names', async () => {
  const person = 'PID|1||5005^^^ETOUDI^MR||KAMGA^Luc||19800101|M'
  const times = { 19: '', 44: '20260401080000' }
  const { body } = await agent.sync(
    [
      [header('ADT^A01^ADT_A01'), 'EVN|A01|20260401080000', person, pv1({ ...times, 19: 'V-9' })],
      [header('ADT^A08^ADT_A01'), 'EVN|A08|20260401090000', person, pv1(times)],
      [header('ADT^A03^ADT_A03'), 'EVN|A03|20260401100000', person, pv1({ ...times, 19: 'V-9', 45: '20260401100000' })],
    ].map(segments => ({ type: 'hl7v2', payload: { message: segments.join('\r') } })),
  )
  expect(body, JSON.stringify(body)).toMatchObject({ accepted: 3, rejected: [] })
  const [patient] = await found('Patient?family=KAMGA')
  expect(await found(`Encounter?subject=Patient/${patient.id}`)).toHaveLength(1)
})

test('a result with a document of several megabytes is stored: agents take messages of up to 4,000,000 bytes', async () => {
  const pages = 'QUJD'.repeat(875_000)
  await stored([
    header('ORU^R01^ORU_R01'),
    'PID|1||6006^^^ETOUDI^MR||FOTSO^Rose||19700101|F',
    'OBR|1||F-6006^LABO|11502-2^Laboratory report^LN|||20260314091500|||||||||||||||20260314104000||HM|F',
    `OBX|1|ED|11502-2^Laboratory report^LN||^application^pdf^Base64^${pages}||||||F|||20260314103000`,
  ])
  const [patient] = await found('Patient?family=FOTSO')
  expect(await found(`DiagnosticReport?subject=Patient/${patient.id}`)).toHaveLength(1)
})

test('what was deleted and is stated again holds again', async () => {
  const about = (...segments: string[]) => [
    header('ADT^A08^ADT_A01'),
    'EVN|A08|20260316104200',
    'PID|1||back-1^^^ETOUDI^MR||ETOA^Back||19700101|M',
    'PV1|1|N',
    ...segments,
  ]
  const diagnosis = (action: string) => `DG1|1||B54^Paludisme^I10||20260314|A${'|'.repeat(15)}${action}`
  const allergy = (action: string) => `IAM|1|DA|7980^Penicillin^RXNORM|SV|Rash~Swelling|${action}`
  const states = async () =>
    (await found('Patient?identifier=back-1&_revinclude=Condition:patient&_revinclude=AllergyIntolerance:patient'))
      .slice(1)
      .map(({ resourceType, clinicalStatus, verificationStatus }: Record<string, { coding: { code: string }[] }>) => [
        resourceType,
        clinicalStatus?.coding[0]?.code,
        verificationStatus?.coding[0]?.code,
      ])
      .sort()
  const active = [
    ['AllergyIntolerance', 'active', undefined],
    ['Condition', 'active', undefined],
  ]
  await stored(about(diagnosis('A'), allergy('A')))
  expect(await states()).toEqual(active)
  await stored(about(diagnosis('D'), allergy('D')))
  expect(await states()).toEqual(active.map(([type]) => [type, undefined, 'entered-in-error']))
  await stored(about(diagnosis('A'), allergy('A')))
  expect(await states()).toEqual(active)
})

test('a visit goes on leave, ends, and is opened again without an end; messages about no visit make none', async () => {
  const pid = 'PID|1||leave-1^^^ETOUDI^MR||ETOA^Leave||19700101|M'
  const event = (name: string, more: Record<number, string>) =>
    stored([header(`ADT^${name}`), `EVN|${name}|20260316104200`, pid, pv1({ 19: 'V-leave', ...more })])
  const visits = () => found('Encounter?subject:Patient.family=ETOA&subject:Patient.given=Leave')
  await event('A01', { 44: '20260314103000' })
  for (const [name, more, status] of [
    ['A21', {}, 'onleave'],
    ['A22', {}, 'in-progress'],
    ['A03', { 45: '20260316120000' }, 'finished'],
    ['A13', {}, 'in-progress'],
    ['A23', {}, 'entered-in-error'],
  ] as const) {
    await event(name, more)
    expect(await visits()).toMatchObject([{ status }])
    const [{ period }] = await visits()
    expect([period.start.slice(0, 10), 'end' in period]).toEqual(['2026-03-14', status === 'finished'])
  }
  for (const segment of ['PV1|1|N', 'PV1|1|O|MED'])
    await stored([header('ADT^A08^ADT_A01'), 'EVN|A08|20260316104200', pid, segment])
  expect(await visits()).toHaveLength(1)
})

test('ORC alone cancels the order of a medicine, or of a service, and changes nothing else of it', async () => {
  const order = (control: string, number: string, ...segments: string[]) => [
    `MSH|^~\\&|HIS|ETOUDI|HI|HI|20260314104207||ORM^O01|R${number}${control}|P|2.3`,
    'PID|1||orc-1^^^ETOUDI^MR||ETOA^Orc||19700101|M',
    `ORC|${control}|${number}^HIS`,
    ...segments,
  ]
  const kinds = async (number: string) => [
    ...(await found(`MedicationRequest?identifier=${number}`)),
    ...(await found(`ServiceRequest?identifier=${number}`)),
  ]
  const medicine = 'RXO|723^Amoxicillin^RXNORM|500||mg\rRXR|PO'
  await stored(order('NW', 'M-5', medicine))
  const [before] = await kinds('M-5')
  expect(before.dosageInstruction[0].route.coding).toEqual([{ system: `${terminology}/v2-0162`, code: 'PO' }])
  await stored(order('CA', 'M-5'))
  expect(await kinds('M-5')).toEqual([{ ...before, status: 'cancelled', meta: expect.anything() }])
  await stored(order('NW', 'S-5', 'OBR|1|S-5^HIS||58410-2^CBC panel^LN'))
  await stored(order('CA', 'S-5'))
  expect(await kinds('S-5')).toMatchObject([{ resourceType: 'ServiceRequest', status: 'revoked', code: {} }])
  // Both in one batch; and an order that nobody knows.
  const both = [order('NW', 'M-6', medicine), order('CA', 'M-6'), order('CA', 'N-6')]
  const { body } = await agent.sync(
    both.map(segments => ({ type: 'hl7v2', payload: { message: segments.join('\r') } })),
  )
  expect(body).toMatchObject({ accepted: 3, rejected: [] })
  expect(await kinds('M-6')).toMatchObject([{ resourceType: 'MedicationRequest', status: 'cancelled' }])
  expect(await kinds('N-6')).toMatchObject([{ resourceType: 'ServiceRequest', status: 'revoked' }])
})

test('a result refers to its order, though both come in one batch; a number of another patient is no order of this one', async () => {
  const pid = (who: string) => `PID|1||${who}^^^ETOUDI^MR||ETOA^${who}||19700101|M`
  const order = (who: string) => [
    `MSH|^~\\&|HIS|ETOUDI|HI|HI|20260314104207||OML^O21^OML_O21|O${who}|P|2.5.1`,
    ...[pid(who), 'ORC|NW|B-1^HIS', 'OBR|1|B-1^HIS||1988-5^CRP^LN'],
  ]
  const result = (who: string) => [
    `MSH|^~\\&|LIS|ETOUDI|HI|HI|20260314104207||ORU^R01^ORU_R01|U${who}|P|2.5.1`,
    ...[pid(who), 'ORC|RE|B-1^HIS|C-1^LIS', 'OBR|1|B-1^HIS|C-1^LIS|1988-5^CRP^LN|||20260314091500||||||||||||||||||F'],
    'OBX|1|NM|1988-5^CRP^LN||12|mg/L|||||F',
  ]
  const batch = [order('Basile'), result('Basile'), result('Berthe')]
  const { body } = await agent.sync(
    batch.map(segments => ({ type: 'hl7v2', payload: { message: segments.join('\r') } })),
  )
  expect(body, JSON.stringify(body)).toMatchObject({ accepted: 3, rejected: [] })
  const [request] = await found('ServiceRequest?code=1988-5')
  const basedOn = async (who: string) =>
    (await found(`Observation?code=1988-5&subject:Patient.given=${who}`)).map(
      ({ basedOn: [first] }: { basedOn: { reference?: string }[] }) => first!.reference,
    )
  expect(await basedOn('Basile')).toEqual([`ServiceRequest/${request.id}`])
  expect(await basedOn('Berthe')).toEqual([undefined])
  // Where the order comes after its result, the next message about the result refers to it.
  await stored(order('Berthe'))
  await stored(result('Berthe').map(each => each.replace('|UBerthe|', '|U2|').replace('||F', '||C')))
  const [own] = await found('ServiceRequest?code=1988-5&subject:Patient.given=Berthe')
  const [report] = await found('DiagnosticReport?code=1988-5&subject:Patient.given=Berthe')
  expect(report.basedOn).toMatchObject([{ reference: `ServiceRequest/${own.id}`, identifier: { value: 'B-1' } }])
})
