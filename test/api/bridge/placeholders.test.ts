// What systems write in HL7 v2 messages where they know nothing, and signs that they do not escape, are not taken for facts.
import { beforeAll, expect, test } from 'vitest'
import { fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { agentOf, type TestAgent } from './support.ts'

let service: Service
let agent: TestAgent
let control = 0
const fhir = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
  agent = await agentOf(service, 'etoudi')
})

const sent = (type: string, ...segments: readonly string[]) => {
  const header = `MSH|^~\\&|HIS|ETOUDI|HI|HI|20260314104207||${type}|C${++control}|P|2.5.1`
  return agent.sync([{ type: 'hl7v2', payload: { message: [header, ...segments].join('\r') } }])
}
const stored = async (type: string, ...segments: readonly string[]) => {
  const { body } = await sent(type, ...segments)
  expect(body, JSON.stringify(body)).toMatchObject({ accepted: 1, rejected: [] })
}
const found = async (query: string) =>
  ((await fhir('GET', query)).body.entry ?? []).map((each: { resource: object }) => each.resource)
const fields = (name: string, values: Record<number, string>) =>
  [name, ...Array.from({ length: 45 }, (_, index) => values[index + 1] ?? '')].join('|')

const person = 'PID|1||L-1^^^ETOUDI^MR||NANA^Rose||19800101|F'
const panel = (number: string) =>
  `OBR|1|${number}^HIS|F-${number}^LABO|58410-2^CBC panel^LN|||20260314091500|||||||||||||||20260314104000||HM|F`

test.each(['99991231', '99991231235959', '19000101', '18991230', 'N/A', '00010101000000', '17530101'])(
  'who is born, dies and goes home on %s is alive, in hospital, and was born when it was said before',
  async none => {
    const pid = (more: Record<number, string>) =>
      fields('PID', { 1: '1', 3: `N-${none}^^^ETOUDI^MR`, 5: `ABENA^Paul`, 7: '19700412', 8: 'M', ...more })
    const pv1 = (more: Record<number, string>) =>
      fields('PV1', { 1: '1', 2: 'I', 19: `V-${none}`, 44: '20260313', ...more })
    await stored('ADT^A01^ADT_A01', 'EVN|A01|20260314104200', pid({ 5: `ABENA${none}^Paul` }), pv1({}))
    await stored(
      'ADT^A08^ADT_A01',
      `EVN|A08|${none}`,
      pid({ 5: `ABENA${none}^Paul`, 7: none, 29: none, 30: 'N' }),
      pv1({ 45: none }),
    )
    const [patient, ...more] = await found(`Patient?family=ABENA${none}`)
    expect(more).toEqual([])
    expect(patient).toMatchObject({ birthDate: '1970-04-12', deceasedBoolean: false })
    expect(patient.deceasedDateTime).toBeUndefined()
    const [visit] = await found(`Encounter?patient=${patient.id}`)
    expect(visit).toMatchObject({ status: 'in-progress', period: { start: '2026-03-13' } })
    expect(visit.period.end).toBeUndefined()
  },
)

test('a result of 9999-12-31 is not the latest one forever: it has the time of its order', async () => {
  await stored('ORU^R01^ORU_R01', person, panel('P-1'), 'OBX|1|NM|2823-3^Potassium^LN||4.1|mmol/L|||||F|||99991231')
  expect(await found('Observation?code=2823-3')).toMatchObject([{ effectiveDateTime: '2026-03-14T09:15:00+01:00' }])
})

test('a value whose code is an explicit null is not lost: it is a result of something unknown', async () => {
  const values = ['9', '11'].map((value, index) => `OBX|${index + 1}|NM|""||${value}|mmol/L|||||F`)
  await stored('ORU^R01^ORU_R01', person, panel('P-2'), ...values)
  const results: { code: unknown; valueQuantity: { value: number } }[] = await found('Observation?code=unknown')
  expect(results.map(each => each.valueQuantity.value).sort()).toEqual([11, 9])
})

test.each([
  ['10^9/L', '10^9/L'],
  ['x10^12/L', 'x10^12/L'],
  ['10\\S\\3/uL', '10^3/uL'],
  ['10*9/L^Giga/L^UCUM', 'Giga/L'],
])('the power of a unit belongs to it, escaped or not: %s', async (unit, words) => {
  const code = `U-${++control}`
  await stored('ORU^R01^ORU_R01', person, panel(code), `OBX|1|NM|${code}^Cells^L||9|${unit}|4-10||||F`)
  expect(await found(`Observation?code=${code}`)).toMatchObject([
    { valueQuantity: { value: 9, unit: words }, referenceRange: [{ low: { value: 4, unit: words } }] },
  ])
})

test.each(['999999999', '99-999-999', '123456789', 'N.R.'])(
  'people of whom a system only knows the file number %s stay apart',
  async none => {
    const code = `N-${++control}`
    for (const value of ['9', '11']) {
      const unknown = `PID|1||${none}^^^ETOUDI^MR||-^-||19000101|U`
      await stored('ORU^R01^ORU_R01', unknown, panel(`${code}-${value}`), `OBX|1|NM|${code}^Cells^L||${value}||||||F`)
    }
    const results: { subject: { reference: string } }[] = await found(`Observation?code=${code}`)
    expect(new Set(results.map(each => each.subject.reference)).size).toBe(2)
  },
)

test.each(['-', '0', 'N/A', 'UNKNOWN', '9999999'])(
  'results of two days whose order has the number %s are two results, each in its visit',
  async none => {
    const code = `O-${++control}`
    for (const day of ['10', '11'])
      await stored(
        'ORU^R01^ORU_R01',
        person,
        fields('PV1', { 1: '1', 2: 'O', 19: none, 44: `202603${day}` }),
        `OBR|1|${none}|${none}^LABO|58410-2^CBC panel^LN|||202603${day}091500||||||||||||||||||F`,
        `OBX|1|NM|${code}^Cells^L||${day}||||||F`,
      )
    const results: { valueQuantity: { value: number }; encounter: { reference: string } }[] = await found(
      `Observation?code=${code}&_sort=date`,
    )
    expect(results.map(each => each.valueQuantity.value)).toEqual([10, 11])
    expect(new Set(results.map(each => each.encounter.reference)).size).toBe(2)
  },
)

test('a device that begins its control ids anew replaces no result of another time, and a message that comes again adds none', async () => {
  const reading = (time: string, value: string, status = 'F') =>
    agent.sync([
      {
        type: 'hl7v2',
        payload: {
          message: [
            'MSH|^~\\&|METER|ETOUDI|HI|HI|20260314104207||ORU^R01^ORU_R01|1|P|2.5.1',
            person,
            `OBR|1|||15074-8^Glucose^LN|||${time}||||||||||||||||||${status}`,
            `OBX|1|NM|15074-8^Glucose^LN||${value}|mmol/L|||||${status}`,
          ].join('\r'),
        },
      },
    ])
  for (const [time, value] of [
    ['20260310080000', '14'],
    ['20260310120000', '3'],
    ['20260310120000', '3'],
  ] as const)
    expect((await reading(time, value)).body.rejected).toEqual([])
  await reading('20260310120000', '3.5', 'C')
  const results: { valueQuantity: { value: number } }[] = await found('Observation?code=15074-8&_sort=date')
  expect(results.map(each => each.valueQuantity.value)).toEqual([14, 3.5])
})

test.each(['-^-', 'UNKNOWN^UNKNOWN', 'INCONNU', '.'])(
  'a known name and sex stay where a message says %s',
  async none => {
    const number = `K-${++control}`
    const pid = (name: string, sex: string, city: string) =>
      `PID|1||${number}^^^ETOUDI^MR||${name}||00000000|${sex}|||^^${city}`
    await stored('ADT^A08^ADT_A01', 'EVN|A08|20260314104200', pid(`OWONA${number}^Luc`, 'M', 'Kribi'), 'PV1|1|N')
    await stored('ADT^A08^ADT_A01', 'EVN|A08|20260314104200', pid(none, 'U', 'Edea'), 'PV1|1|N')
    expect(await found(`Patient?address-city=Edea&family=OWONA${number}`)).toMatchObject([
      { gender: 'male', name: [{ given: ['Luc'] }] },
    ])
  },
)

test('a correction of one of several results of one code replaces none that could be another; a correction of all replaces all', async () => {
  const code = `S-${++control}`
  const report = (status: string, ...values: readonly string[]) =>
    sent(
      'ORU^R01^ORU_R01',
      person,
      panel(code),
      ...values.map((value, index) => `OBX|${index + 1}|NM|${code}^Glucose^L||${value}|mmol/L|||||${status}`),
    )
  const values = async (): Promise<number[]> =>
    (await found(`Observation?code=${code}`)).map(
      (each: { valueQuantity: { value: number } }) => each.valueQuantity.value,
    )
  expect((await report('F', '9', '10', '11')).body.rejected).toEqual([])
  for (const partial of [['10.5'], ['9', '10.5']])
    expect((await report('C', ...partial)).body.rejected).toMatchObject([
      { error_code: 'VALIDATION_FAILED', field: 'OBX-4' },
    ])
  expect((await values()).sort()).toEqual([10, 11, 9])
  expect((await report('C', '9', '10.5', '11')).body.rejected).toEqual([])
  expect((await values()).sort()).toEqual([10.5, 11, 9])
})
