// Resources become messages that are read again as the same.

import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { composeMessage } from '../../src/mapping/message-out.ts'
import { translateMessage } from '../../src/mapping/messages.ts'
import { roundTrip } from '../../src/mapping/round-trip.ts'
import { header } from '../hl7v2/support.ts'
import { deliveredSet } from '../support/maps.ts'

const set = deliveredSet()
const mappings = { set: () => set, program: (name: string) => set.mappings.get(name)!.program! }
const context = {
  base_url: 'https://interop.example',
  received_at: '2026-03-14T10:42:07+01:00',
  namespace: 'https://interop.example/fhir/NamingSystem/facility/one',
}
const to = {
  controlId: 'OUT-1',
  sentAt: '2026-03-14T10:42:07+01:00',
  sendingApplication: 'INTEROP',
  sendingFacility: 'HI',
  receivingApplication: 'LAB|1',
  receivingFacility: 'CLINIC',
}

const asCollection = ({ entry, ...bundle }: JsonObject): JsonObject => ({
  ...bundle,
  type: 'collection',
  entry: (entry as JsonObject[]).map(({ request: _request, ...each }) => each),
})

const resources = ({ entry }: JsonObject): unknown[] =>
  (entry as JsonObject[]).map(({ resource }) => JSON.parse(JSON.stringify(resource)))

test('the header says who sends to whom, escaped, in UTF-8', () => {
  const patient = { resourceType: 'Patient', name: [{ family: 'Ébodé' }] }
  expect(composeMessage(mappings, 'hl7v2/adt-a08-from-fhir', patient, context, to).split('\r')[0]).toBe(
    'MSH|^~\\&|INTEROP|HI|LAB\\F\\1|CLINIC|20260314104207+0100||ADT^A08^ADT_A01|OUT-1|P|2.5.1||||||UNICODE UTF-8',
  )
})

test('a result that goes out and comes in again is the same', () => {
  const lines = [
    header('ORU^R01'),
    'PID|1||1042^^^A^MR||NGO BIH^Amina||19900412|F',
    'OBR|1|P-1^HIS|F-1^LAB|2345-7^Glucose^LN|||20260314103000+0100|||||||||||||||||CH|F',
    'OBX|1|NM|2345-7^Glucose^LN||1.26|g/L^g/L^UCUM|0.70 - 1.10|H|||F|||20260314110000+0100',
    'NTE|1||À jeun',
    'OBX|2|CWE|X^Aspect^LAB||L^Limpide^LAB||||||C',
  ]
  const { bundle } = translateMessage(mappings, lines.join('\r'), context)
  const out = composeMessage(mappings, 'hl7v2/oru-r01-from-fhir', asCollection(bundle), context, to)
  const again = translateMessage(mappings, out, context).bundle
  const plain = (each: JsonObject) =>
    JSON.parse(JSON.stringify(resources(each)).replaceAll(/urn:uuid:[0-9a-f-]+/g, 'urn'))
  expect(plain(again)).toEqual(plain(bundle))
  expect(out).toContain('\rOBX|2|CWE|')
})

test('what a message loses there and back is named by segment and field', () => {
  const from = [
    header('ORU^R01^ORU_R01'),
    'PID|1||1042^^^A^MR||NGO BIH^Amina||19900412|F',
    'OBR|1|P-1^HIS|F-1^LAB|2345-7^Glucose^LN|||20260314103000+0100|||||||||||||||||CH|F',
    'OBX|1|NM|2345-7^Glucose^LN||1.26|g/L^g/L^UCUM|0.70 - 1.10|H|0.9||F|||20260314110000+0100',
    'SPM|1|S-1||SER',
  ]
  const [there, back] = ['hl7v2/oru-r01-to-fhir', 'hl7v2/oru-r01-from-fhir'].map(name => set.mappings.get(name)!)
  const example = { name: 'a result', file: '', line: 1, from, context, to: {} }
  const { lost, changed, added, errors } = roundTrip(there!, back!, [example], undefined)
  expect([[...lost.keys()], [...changed.keys()], [...added.keys()], errors]).toEqual([['OBX-9', 'SPM'], [], [], []])
})

test('a map that makes no message is an error of the caller', () => {
  expect(() => composeMessage(mappings, 'hl7v2/oru-r01-to-fhir', {}, context, to)).toThrow('makes no message')
})
