// Messages out: trees as text, and acknowledgements.

import { expect, test } from 'vitest'
import { acknowledge } from '../../src/hl7v2/acknowledge.ts'
import { delimitersOf } from '../../src/hl7v2/delimiters.ts'
import { headerOf } from '../../src/hl7v2/header.ts'
import type { MessageProblem } from '../../src/hl7v2/problem.ts'
import { readMessage } from '../../src/hl7v2/read.ts'
import { treeOf } from '../../src/hl7v2/tree.ts'
import { writeMessage } from '../../src/hl7v2/write.ts'
import { douala, header, message, treeWith } from './support.ts'

const lines = [
  header('ORU^R01^ORU_R01'),
  'PID|1||7^^^A&1.2&ISO~8||Ngo&N^Amina||19900101|F',
  'OBR|1|p1|f1|K^Potassium|||202603141042',
  'NTE|1||Rue \\T\\ place \\F\\ 50\\E\\\\.br\\end',
  'OBX|1|NM|K||6.8|mmol/L',
  'OBX|2|CWE|C||A^B\\S\\b',
  'OBX|3|SN|D||<^0.5',
]

test('a tree that is written is the message that was read', () => {
  const { tree } = treeWith('ORU_R01', ...lines)
  const expected = lines
    .map(each => each.replace('20260314104207', '20260314104207+0100').replace(/202603141042$/, '20260314104200+0100'))
    .map(each => `${each}\r`)
    .join('')
  expect(writeMessage(tree, 'ORU_R01')).toBe(expected)
})

test('other delimiters escape other signs', () => {
  const { tree } = treeWith('ORU_R01', header('ORU^R01'), 'NTE|1||a\\F\\b*c')
  const text = writeMessage(tree, 'ORU_R01', delimitersOf('MSH*:;%$*'))
  expect(text).toContain('NTE*1**a|b%F%c\r')
  const again = treeOf(readMessage(text), { structure: 'ORU_R01', zone: douala }).tree
  expect(again['PATIENT_RESULT']).toEqual(tree['PATIENT_RESULT'])
})

/** The lines of the answer to a message. */
const answerTo = (text: string, problem?: MessageProblem): string[] =>
  acknowledge(headerOf(text), problem, { now: new Date('2026-03-14T09:42:07Z'), controlId: 'A1' })!.split('\r')

test('a message without a problem is accepted', () => {
  expect(answerTo(message(...lines))).toEqual([
    'MSH|^~\\&|INTEROP|HI|LAB|CLINIC|20260314094207+0000||ACK^R01^ACK|A1|P|2.5.1',
    'MSA|AA|00042',
    '',
  ])
})

test('a problem is named by segment, its number, field and code', () => {
  const problem = { segment: 'OBX', occurrence: 2, field: 14, code: 102, message: 'there is no such date' } as const
  const [, msa, err] = answerTo(message(...lines), problem)
  expect(msa).toBe('MSA|AE|00042|OBX[2]-14: there is no such date')
  expect(err).toBe('ERR||OBX^2^14|102^Data type error^HL70357|E||||OBX[2]-14: there is no such date')
  const part = { ...problem, component: 1 }
  expect(answerTo(message(...lines), part)[2]).toContain('ERR||OBX^2^14^1^1|')
})

test('from version 2.7 on MSA has no words, which ERR has', () => {
  const problem = { segment: 'PID', field: 3, code: 101, message: 'the field is missing' } as const
  const [, msa, err] = answerTo(header('ADT^A01').replace('2.5.1', '2.7'), problem)
  expect([msa, err]).toEqual([
    'MSA|AE|00042',
    'ERR||PID^1^3|101^Required field missing^HL70357|E||||PID-3: the field is missing',
  ])
})

test('a message that is refused as such has AR; before version 2.5 place and code are in the first field of ERR', () => {
  const old = header('ADT^Z99').replace('2.5.1', '2.3')
  const problem = { code: 201, message: 'ADT^Z99 is not supported', isRejection: true } as const
  expect(answerTo(old, problem).slice(1)).toEqual([
    'MSA|AR|00042|ADT\\S\\Z99 is not supported',
    'ERR|^^^201&Unsupported event code&HL70357',
    '',
  ])
  expect(answerTo(old, { ...problem, segment: 'MSH', occurrence: 1, field: 9 })[2]).toMatch(/^ERR\|MSH\^1\^9\^201&/)
})

test('a text that is no message is answered too', () => {
  const problem = { code: 100, message: 'the message does not begin with MSH', isRejection: true } as const
  const [msh, msa] = answerTo('hello', problem)
  expect([msh, msa]).toEqual([
    'MSH|^~\\&|||||20260314094207+0000||ACK|A1|P|2.5.1',
    'MSA|AR||the message does not begin with MSH',
  ])
})

test('a message without a control id is answered with an empty MSA-2', () => {
  expect(answerTo(header('ORU^R01').replace('00042', ''))[1]).toBe('MSA|AA|')
})

test('an answer with letters beyond ASCII says in MSH-18 that it is UTF-8', () => {
  const [msh] = answerTo(header('ORU^R01').replace('CLINIC', 'Étoudi'))
  expect(msh).toBe('MSH|^~\\&|INTEROP|HI|LAB|Étoudi|20260314094207+0000||ACK^R01^ACK|A1|P|2.5.1||||||UNICODE UTF-8')
})

test.each([
  ['MSH#*!?$#LAB', 'MSH#*!?$#'],
  ['MSH|^~\\\\&|LAB', 'MSH|^~\\&|'],
  ['MSH|^~|LAB', 'MSH|^~\\&|'],
  ['MSH#^^^^#LAB', 'MSH#^~\\&#'],
  ['MSH^^^^^^LAB', 'MSH|^~\\&|'],
])('the answer to %s begins with %s', (text, start) => {
  expect(answerTo(text)[0]!.slice(0, start.length)).toBe(start)
})

test.each([
  ['BHS', 'BHS|^~\\&|HIS|WARD|AGENT|CLINIC|20260301||||B-7'],
  ['FHS', 'FHS|^~\\&|HIS|WARD|AGENT|CLINIC|20260301||||B-7'],
])('a batch is answered with the control id of %s', (_, text) => {
  const [msh, msa] = answerTo(text)
  expect([msh, msa]).toEqual(['MSH|^~\\&|AGENT|CLINIC|HIS|WARD|20260314094207+0000||ACK|A1|P|2.5.1', 'MSA|AA|B-7'])
})
