// Messages of HL7 v2 become bundles by the maps that are delivered, or are refused at their segment and field.

import { describe, expect, test } from 'vitest'
import type { Failure } from '../../src/lib/failure.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { SourceFile } from '../../src/mapping/files.ts'
import { messageProblem, translateMessage } from '../../src/mapping/messages.ts'
import { mappingSet } from '../../src/mapping/set.ts'
import { shapes } from '../../src/shapes/all.ts'
import { header, message } from '../hl7v2/support.ts'
import { deliveredSet, deliveredFiles as files, isOfOneMessage } from '../support/maps.ts'

const set = deliveredSet()
const clinic = (name: string) => ({
  base_url: 'https://interop.example',
  received_at: '2026-03-14T10:42:07+01:00',
  namespace: `https://interop.example/fhir/NamingSystem/facility/${name}`,
})

const translate = (text: string, context = clinic('one')) => translateMessage({ set: () => set }, text, context)
const entriesOf = (text: string, context = clinic('one')) => translate(text, context).bundle['entry'] as JsonObject[]

const typeOf = ({ resource }: JsonObject) => (resource as JsonObject)['resourceType']
const urlOf = ({ request }: JsonObject) => decodeURIComponent(String((request as JsonObject)['url']))

const pid = 'PID|1||1042^^^A^MR||NGO BIH^Amina||19900412|F'
const result = (more = '') => message(header('ORU^R01'), pid, 'OBR|1||F-1|K', `OBX|1|NM|K||4.1|mmol/L|||||F${more}`)

/** What a text is refused with: code, place, and whether it is refused as such. */
function refusal(text: string): unknown {
  try {
    translate(text)
  } catch (error) {
    const problem = messageProblem(error)
    const { details } = (error as Failure).options
    return [problem?.code, details?.[0]?.field, problem?.isRejection ? 'AR' : 'AE', problem?.message]
  }
  return 'translated'
}

test('the same message becomes the same bundle, to the last id', () => {
  expect(translate(result())).toEqual(translate(result()))
  expect(entriesOf(result())[0]!['fullUrl']).toMatch(
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-/,
  )
  expect(entriesOf(result())[0]!['fullUrl']).not.toBe(entriesOf(result('||'))[0]!['fullUrl'])
})

test('the numbers of two facilities are in different systems, though their authorities have one name', () => {
  const systems = (name: string) =>
    entriesOf(result(), clinic(name)).flatMap(({ resource }) =>
      ((resource as JsonObject)['identifier'] as JsonObject[]).map(({ system }) => String(system)),
    )
  expect(systems('one').filter(each => systems('two').includes(each))).toEqual([])
  expect(systems('one')).toContain('https://interop.example/fhir/NamingSystem/facility/one/patient/A')
})

describe('what cannot be translated is refused at its segment and field', () => {
  test.each<[string, string, unknown[]]>([
    ['an unknown type', header('ACK'), [200, 'MSH-9', 'AR', 'messages ACK^ are not supported']],
    ['an unknown event', header('ADT^Z99'), [201, 'MSH-9', 'AR', 'messages ADT^Z99 are not supported']],
    ['no type', header(''), [101, 'MSH-9', 'AR', 'the type of the message is missing']],
    ['version 3', header('ORU^R01').replace('2.5.1', '3.0'), [203, 'MSH-12', 'AR', 'only version 2 is supported']],
    ['no header', 'PID|1', [100, undefined, 'AR', 'the message does not begin with MSH']],
    ['no patient', header('ORU^R01'), [100, 'PID', 'AE', 'the segment is missing']],
    [
      'a result without a code',
      message(header('ORU^R01'), pid, 'OBX|1|ST|A||x', 'OBX|2|ST|^||y'),
      [101, 'OBX[2]-3', 'AE', 'the field is missing'],
    ],
    [
      'an impossible date',
      result('|||20260230'),
      [102, 'OBX-14', 'AE', 'there is no such date; its form is YYYY[MM[DD[HH[MM[SS[.S]]]]]][+ZZZZ]'],
    ],
  ])('%s', (_what, text, expected) => {
    expect(refusal(text)).toEqual(expected)
  })

  test('and the Failure says so in words', () => {
    expect(() => translate(result('|||20260230'))).toThrow(
      /^The message cannot be converted to FHIR: OBX-14: there is no such date/,
    )
  })
})

describe('what does not matter is a warning', () => {
  const warnings = (text: string) =>
    translate(text).warnings.map(({ segment, field, message }) => [segment, field, message])

  test('an impossible date of a field that the map does not read', () => {
    expect(warnings(result('|20261301'))).toEqual([
      ['OBX', 12, 'there is no such date; its form is YYYY[MM[DD[HH[MM[SS[.S]]]]]][+ZZZZ]'],
    ])
  })

  test('a message without a control id, which is known by its content', () => {
    const text = message(header('ORU^R01').replace('00042', ''), pid, 'OBX|1|ST|A||x')
    expect(warnings(text)).toEqual([['MSH', 10, 'the control id of the message is missing']])
    expect(translate(text)).toEqual(translate(text))
  })

  test('the same diagnosis twice, which is stored once', () => {
    const text = message(header('ADT^A08'), pid, 'DG1|1||B54||20260314|A', 'DG1|2||B54||20260314|F')
    expect(warnings(text)).toEqual([[undefined, undefined, 'the message has the same Condition twice']])
    expect(entriesOf(text).map(typeOf)).toEqual(['Patient', 'Condition'])
  })

  test('two medicines of one order number, which are told apart', () => {
    const order = (code: string) => `ORC|NW|P-1\rRXO|${code}`
    const text = message(header('OMP^O09'), pid, order('A'), order('B'))
    expect(warnings(text)).toEqual([
      [
        undefined,
        undefined,
        'the message has several MedicationRequest with one number: their order distinguishes them',
      ],
    ])
    expect(entriesOf(text).map(urlOf).slice(1)).toEqual([
      'MedicationRequest?identifier=https://interop.example/fhir/NamingSystem/facility/one/placer-order|P-1',
      'MedicationRequest?identifier=https://interop.example/fhir/NamingSystem/facility/one/placer-order|P-1#2',
    ])
  })

  test('segments that no rule of the map reads', () => {
    expect(warnings(message(result(), 'ZLB|1|x', 'ZLB|2|x'))).toEqual([
      ['ZLB', undefined, 'the map does not read this segment'],
    ])
  })
})

const keysOf = (text: string) =>
  entriesOf(text)
    .map(each => urlOf(each).split('|')[1])
    .filter(each => each !== undefined)

test('several panels with one number keep their results apart, in whatever message they come', () => {
  const panel = (code: string) => `OBR|1||F-1|${code}\rOBX|1|NM|K||4.1|mmol/L|||||F`
  expect(keysOf(message(header('ORU^R01'), pid, panel('A'), panel('B')))).toEqual([
    'F-1/A',
    'F-1/A/K/',
    'F-1/B',
    'F-1/B/K/',
  ])
  expect(keysOf(message(header('ORU^R01'), pid, panel('B')))).toEqual(['F-1/B', 'F-1/B/K/'])
})

test('the lines of a report are told apart by their order, without a warning', () => {
  const text = message(header('ORU^R01'), pid, 'OBR|1||F-1|A', 'OBX|1|TX|C||one', 'OBX|2|TX|C||two', 'OBX|3|TX|C||one')
  expect(translate(text).warnings).toEqual([])
  expect(keysOf(text)).toEqual(['F-1/A', 'F-1/A/C/', 'F-1/A/C/#2', 'F-1/A/C/#3'])
})

test('a message with three thousand results is translated within seconds', () => {
  const lines = Array.from({ length: 3_000 }, (_, index) => `OBX|${index}|NM|K${index}||4.1|mmol/L|||||F`)
  const before = performance.now()
  expect(entriesOf(message(header('ORU^R01'), pid, 'OBR|1||F-1|A', ...lines))).toHaveLength(3_002)
  expect(performance.now() - before).toBeLessThan(10_000)
})

describe('the list of messages', () => {
  const problemsWith = (text: string) => {
    const file: SourceFile = { path: 'hl7v2/messages.json', name: 'hl7v2/messages.json', text }
    const others = files.filter(({ name }) => name.endsWith('.fml') && isOfOneMessage(name))
    return mappingSet([...others, file], { shapes, before: set }).problems.map(each => each.message)
  }
  const one = { message: 'ORU^R01', structure: 'ORU_R01', map: 'hl7v2/oru-r01-to-fhir' }

  test.each<[unknown, string[]]>([
    [[one], []],
    [{}, ['the messages are a list: `[{ "message": "ORU^R01", … }]`']],
    [
      [{ ...one, message: 'ORU' }],
      ['message ORU: `message` is type and event, such as ORU^R01, or ADT^* for all other events'],
    ],
    [
      [{ ...one, map: 'hl7v2/oru-r1-to-fhir' }],
      ['message ORU^R01: there is no map hl7v2/oru-r1-to-fhir; did you mean hl7v2/oru-r01-to-fhir?'],
    ],
    [
      [{ ...one, structure: 'ADT_A01' }],
      ['message ORU^R01: the map hl7v2/oru-r01-to-fhir does not convert ADT_A01 to Bundle'],
    ],
    [
      [{ ...one, required: ['PID', 'OBX-99'] }],
      ['message ORU^R01: `required` lists segments and fields: ["PID", "OBX-3"]; "OBX-99" is neither'],
    ],
    [[{ ...one, required: 'PID' }], ['message ORU^R01: `required` lists segments and fields: ["PID", "OBX-3"]']],
    [
      [{ ...one, requires: [] }],
      ['message ORU^R01: there is no `requires` here; a message has message, profile, structure, map, required'],
    ],
  ])('%j', (list, expected) => {
    expect(problemsWith(JSON.stringify(list))).toEqual(expected)
  })

  test('can have a profile of its own', () => {
    const messages = [
      { ...one, required: [] },
      { ...one, profile: 'CLINIC-X', required: ['NTE'] },
    ]
    const text = message(header('ORU^R01', '|||||||||CLINIC-X'), pid, 'OBX|1|ST|A||x')
    const run = () => translateMessage({ set: () => ({ ...set, messages }) }, text, clinic('one'))
    expect(run).toThrow('NTE: the segment is missing')
  })
})
