// Whom a message is about, where it says little: newborns, people nobody knows, corrections of a name.
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

let control = 0
const sent = (pid: string) => {
  const header = `MSH|^~\\&|HIS|ETOUDI|HI|HI|20260314104207||ADT^A01^ADT_A01|P${++control}|P|2.5.1`
  const message = [header, 'EVN|A01|20260314104200', pid, 'PV1|1|I|MED^12^B'].join('\r')
  return agent.sync([{ type: 'hl7v2', payload: { message } }])
}
const admitted = async (pid: string) => {
  const { body } = await sent(pid)
  expect(body, JSON.stringify(body)).toMatchObject({ accepted: 1, rejected: [] })
}
const numbered = async (value: string) => {
  const { body } = await fhir('GET', `Patient?identifier=${value}`)
  return (body.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource)
}
const people = async () => (await fhir('GET', 'Patient?_summary=count')).body.total

test.each([
  ['a newborn without a name of its own', 'PID|1||n-1^^^ETOUDI^MR||NGO BIH^Baby Boy||20260314|M', 'n-1'],
  ['a person nobody knows', 'PID|1||n-2^^^ETOUDI^MR||Inconnu^X|||M', 'n-2'],
  ['a person without a birth date', 'PID|1||n-3^^^ETOUDI^MR||MBARGA^Claire|||F', 'n-3'],
  ['a person without a name', 'PID|1||n-4^^^ETOUDI^MR||||19800412|F', 'n-4'],
  ['a person of whom only the number is known', 'PID|1||n-5^^^ETOUDI^MR', 'n-5'],
])('%s stays one patient through all messages with their number', async (_, pid, value) => {
  await admitted(pid)
  const [{ id }] = await numbered(value)
  const before = await people()
  await admitted(pid)
  expect(await people()).toBe(before)
  expect(await numbered(value)).toMatchObject([{ id }])
})

test('a person is found by the number that stands beside one that states that there is none', async () => {
  const before = await people()
  for (const none of ['N/A', 'UNKNOWN', 'N/A'])
    await admitted(`PID|1||${none}^^^ETOUDI^MR~40771^^^ETOUDI^PI||Ebogo^Y|||F`)
  expect(await people()).toBe(before + 1)
})

test('people whose file number states that there is none are not one', async () => {
  const before = await people()
  await admitted('PID|1||UNKNOWN^^^ETOUDI^MR||Inconnu^X|||M')
  await admitted('PID|1||UNKNOWN^^^ETOUDI^MR||Inconnu^X|||M')
  expect(await people()).toBe(before + 2)
  await admitted('PID|1||N/A^^^ETOUDI^MR||BIYONG^Pascaline||19770302|F')
  await admitted('PID|1||N/A^^^ETOUDI^MR||BIYONG^Pascaline||19770302|F')
  expect(await people()).toBe(before + 3)
})

test('what a message states because it is not known replaces nothing that is known', async () => {
  await admitted('PID|1||p-1^^^ETOUDI^MR||NKOLO^Bernadette||19770302|F|||Rue 3^^DOUALA||^PRN^PH^^237^6^77112233')
  const [before] = await numbered('p-1')
  await admitted('PID|1||p-1^^^ETOUDI^MR||NKOLO^Bernadette||19000101|F|||||^PRN^PH^^237^6^00000000')
  const [after] = await numbered('p-1')
  expect(after.birthDate).toBe('1977-03-02')
  expect(after.telecom).toEqual(before.telecom)
  await admitted('PID|1||p-1^^^ETOUDI^MR||Inconnu^X||19770302|F')
  const [last] = await numbered('p-1')
  expect(last.name[0]).toMatchObject({ family: 'NKOLO', given: ['Bernadette'] })
})

test('a message that says little finds a person of whom more is known, and who was known otherwise before', async () => {
  await admitted('PID|1||k-1^^^ETOUDI^MR||ATEBA^Bebe||20260101|F')
  const [{ id }] = await numbered('k-1')
  const before = await people()
  await admitted('PID|1||k-1^^^ETOUDI^MR||ATEBA^Solange Marie||20260107|F')
  await admitted('PID|1||k-1^^^ETOUDI^MR||ATEBA^Solange')
  await admitted('PID|1||k-1^^^ETOUDI^MR||||2026|F')
  expect(await people()).toBe(before)
  expect(await numbered('k-1')).toMatchObject([{ id }])
})

test('a message under the number of another person is refused where it says too little to be found again', async () => {
  await admitted('PID|1||o-1^^^ETOUDI^MR||ONANA^Paul||19700301|M')
  const before = await people()
  const { body } = await sent('PID|1||o-1^^^ETOUDI^MR||FOUDA^Claire|||F')
  expect(body.rejected).toMatchObject([{ error_code: 'VALIDATION_FAILED', field: 'Patient.identifier' }])
  expect(JSON.stringify(body.rejected)).toContain('The number belongs to a person with another name')
  expect(await people()).toBe(before)
  await admitted('PID|1||o-1^^^ETOUDI^MR||FOUDA^Claire||19880301|F')
  await admitted('PID|1||o-1^^^ETOUDI^MR||FOUDA^Claire||19880301|F')
  expect(await people()).toBe(before + 1)
  expect(await numbered('o-1')).toMatchObject([{ name: [{ family: 'ONANA' }] }])
})

test('a number stays with one patient, whoever is found under it by name or by Health ID', async () => {
  await admitted('PID|1||u-1^^^ETOUDI^MR||TABI^Josephine||19650101|F')
  await admitted('PID|1||u-2^^^ETOUDI^MR||TABI^Bertrand||19930517|M')
  const [{ identifier }] = await numbered('u-2')
  const healthId = identifier[0].value
  await admitted('PID|1||u-1^^^ETOUDI^MR||TABI^Bertrand||19930517|M')
  await admitted(`PID|1||u-1^^^ETOUDI^MR~${healthId}^^^HEALTH-ID||TABI^Bertrand||19930517|M`)
  expect(await numbered('u-1')).toMatchObject([{ birthDate: '1965-01-01' }])
})

test('a further number of another patient is left out, one that nobody has is added', async () => {
  await admitted('PID|1||f-1^^^ETOUDI^MR||NANA^Ines||19710501|F')
  await admitted('PID|1||f-2^^^ETOUDI^MR~f-1^^^ETOUDI^MR||NANA^Leopold||19690501|M')
  await admitted('PID|1||f-2^^^ETOUDI^MR~f-1^^^ETOUDI^MR~f-3^^^LABO^MR||NANA^Leopold||19690501|M')
  expect(await numbered('f-1')).toMatchObject([{ birthDate: '1971-05-01' }])
  expect(await numbered('f-3')).toMatchObject([{ birthDate: '1969-05-01' }])
})

test('what later messages do not repeat stays, and a code that nobody knew goes with the one that is known', async () => {
  const pid = (more: Record<number, string>) => {
    const field = (number: number) =>
      ({ 1: '1', 3: 'e-1^^^ETOUDI^MR', 5: 'FOTSO^Mireille', 7: '19800102', ...more })[number] ?? ''
    return ['PID', ...Array.from({ length: 30 }, (_, index) => field(index + 1))].join('|')
  }
  await admitted(pid({ 6: 'MAKOUN', 8: 'T' }))
  const [before] = await numbered('e-1')
  expect(JSON.stringify(before.extension)).toMatch(/MAKOUN.*hl7v2-code/)
  await admitted(pid({ 8: 'F', 23: 'Bafoussam' }))
  const [after] = await numbered('e-1')
  expect(after).toMatchObject({ id: before.id, gender: 'female' })
  expect(JSON.stringify(after.extension)).toMatch(/MAKOUN.*Bafoussam/)
  expect(JSON.stringify(after.extension)).not.toContain('hl7v2-code')
  await admitted(pid({ 8: 'F', 23: 'Bafoussam' }))
  await admitted(pid({ 8: 'F' }))
  expect(await numbered('e-1')).toEqual([after])
})

test('a Health ID is not taken for a person of another given name, though no birth date is told', async () => {
  await admitted('PID|1||w-1^^^ETOUDI^MR||SIMO^Augustin||19500102|M')
  const [{ identifier }] = await numbered('w-1')
  const card = `${identifier[0].value}^^^HEALTH-ID`
  const { body } = await sent(`PID|1||${card}||SIMO^Clarisse`)
  expect(body.rejected).toMatchObject([{ error_code: 'VALIDATION_FAILED', field: 'Patient.identifier' }])
  const before = await people()
  await admitted(`PID|1||${card}||SIMO^Augustin`)
  await admitted(`PID|1||${card}`)
  expect(await people()).toBe(before)
})

test('two newborns of one day and one family name are two patients', async () => {
  await admitted('PID|1||t-1^^^ETOUDI^MR||EYENGA^Bebe 1||20260315|M|||Etoudi||677000111')
  await admitted('PID|1||t-2^^^ETOUDI^MR||EYENGA^Bebe 2||20260315|M|||Etoudi||677000111')
  const [[one], [other]] = [await numbered('t-1'), await numbered('t-2')]
  expect(one.id).not.toBe(other.id)
})

test('twins whose names a slip could explain are told apart by their birth order, and each is found again', async () => {
  const pid = (number: string, given: string, order: string) =>
    `PID|1||${number}^^^ETOUDI^MR||ABENA^${given}||20260316|F|||Etoudi||677000222|||||||||||Y|${order}`
  await admitted(pid('v-1', 'Christelle', '1'))
  await admitted(pid('v-2', 'Christella', '2'))
  const before = await people()
  await admitted(pid('v-1', 'Christelle', '1'))
  await admitted(pid('v-2', 'Christella', ''))
  expect(await people()).toBe(before)
  expect(await numbered('v-1')).toMatchObject([{ name: [{ given: ['Christelle'] }], multipleBirthInteger: 1 }])
  expect(await numbered('v-2')).toMatchObject([{ name: [{ given: ['Christella'] }], multipleBirthInteger: 2 }])
})

const placed = (fields: Record<number, string>) =>
  `PID${Array.from({ length: 30 }, (_, index) => `|${fields[index + 1] ?? ''}`).join('')}`

test('what says less than is known does not replace it, and what says otherwise does', async () => {
  const about = { 3: 'd-1^^^ETOUDI^MR', 5: 'MVONDO^Benedicte' }
  const state = async () => {
    const [{ birthDate, _birthDate, deceasedBoolean, deceasedDateTime, multipleBirthBoolean, multipleBirthInteger }] =
      await numbered('d-1')
    const time = _birthDate?.extension[0].valueDateTime
    return {
      born: [birthDate, time],
      died: deceasedDateTime ?? deceasedBoolean,
      order: multipleBirthInteger ?? multipleBirthBoolean,
    }
  }
  await admitted(placed({ ...about, 7: '19830512103000+0100', 24: 'Y', 25: '2', 29: '20260301', 30: 'Y' }))
  const first = { born: ['1983-05-12', '1983-05-12T10:30:00+01:00'], died: '2026-03-01', order: 2 }
  expect(await state()).toEqual(first)
  await admitted(placed({ ...about, 7: '1983', 24: 'Y', 30: 'Y' }))
  expect(await state()).toEqual(first)
  await admitted(placed({ ...about, 7: '19830513', 24: 'N', 30: 'N' }))
  expect(await state()).toEqual({ born: ['1983-05-13', undefined], died: false, order: false })
})

test('a death and a birth order that were stated by mistake are taken back', async () => {
  const about = { 3: 'd-2^^^ETOUDI^MR', 5: 'MVONDO^Barnabe', 7: '19810907' }
  await admitted(placed({ ...about, 25: '1', 29: '20260301', 30: 'Y' }))
  await admitted(placed({ ...about, 29: '""', 30: 'Y' }))
  const [dead] = await numbered('d-2')
  expect(dead).toMatchObject({ deceasedBoolean: true, multipleBirthInteger: 1 })
  expect(dead).not.toHaveProperty('deceasedDateTime')
  await admitted(placed({ ...about, 25: '""', 30: '""' }))
  const [alive] = await numbered('d-2')
  expect(Object.keys(alive).filter(key => /deceased|multipleBirth/.test(key))).toEqual([])
})

test('nobody is merged into a record that is registered for it, under a number that states that there is none', async () => {
  await admitted('PID|1||gone-1^^^ETOUDI^MR||FOUDA^Estelle||19830507|F')
  const before = await people()
  const header = `MSH|^~\\&|HIS|ETOUDI|HI|HI|20260314104207||ADT^A40^ADT_A39|P${++control}|P|2.5.1`
  const pid = 'PID|1||UNKNOWN^^^ETOUDI^MR||Inconnu^X|||F'
  const message = [header, 'EVN|A40|20260314104200', pid, 'MRG|gone-1^^^ETOUDI^MR'].join('\r')
  const { body } = await agent.sync([{ type: 'hl7v2', payload: { message } }])
  expect(body).toMatchObject({ accepted: 0, rejected: [{ error_code: 'VALIDATION_FAILED', field: 'PID-3' }] })
  expect(body.rejected[0].message).toContain('the number states that there is none')
  expect(await people()).toBe(before)
  expect(await numbered('gone-1')).toMatchObject([{ name: [{ family: 'FOUDA' }] }])
})

test('two people whose merge was undone are not merged by the same message once more', async () => {
  await admitted('PID|1||twin-1^^^ETOUDI^MR||NJOYA^Marie||19790102|F')
  await admitted('PID|1||twin-2^^^ETOUDI^MR||NJOYA^Mariette||19790102|F')
  const [[{ id: one }], [{ id: two }]] = [await numbered('twin-1'), await numbered('twin-2')]
  const merged = () => {
    const header = `MSH|^~\\&|HIS|ETOUDI|HI|HI|20260314104207||ADT^A40^ADT_A39|P${++control}|P|2.5.1`
    const pid = 'PID|1||twin-1^^^ETOUDI^MR||NJOYA^Marie||19790102|F'
    const message = [header, 'EVN|A40|20260314104200', pid, 'MRG|twin-2^^^ETOUDI^MR'].join('\r')
    return agent.sync([{ type: 'hl7v2', payload: { message } }])
  }
  expect((await merged()).body).toMatchObject({ accepted: 1, rejected: [] })
  const parameter = [
    { name: 'source-patient', valueReference: { reference: `Patient/${two}` } },
    { name: 'target-patient', valueReference: { reference: `Patient/${one}` } },
  ]
  const undone = await fhir('POST', 'Patient/$unmerge', { body: { resourceType: 'Parameters', parameter } })
  expect(undone.status, undone.text).toBe(200)
  const again = (await merged()).body
  expect(again).toMatchObject({ accepted: 0, rejected: [{ error_code: 'VALIDATION_FAILED' }] })
  expect((await numbered('twin-2')).map(({ id }: { id: string }) => id)).toEqual([two])
})
