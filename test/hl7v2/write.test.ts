// Messages out: trees as text, and acknowledgements.

import { expect, test } from 'vitest'
import { acknowledge } from '../../src/hl7v2/acknowledge.ts'
import { delimitersOf } from '../../src/hl7v2/delimiters.ts'
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

const options = { now: new Date('2026-03-14T09:42:07Z'), controlId: 'A1' }

test('a message without a problem is accepted', () => {
  expect(acknowledge(message(...lines), undefined, options)).toBe(
    'MSH|^~\\&|INTEROP|HI|LAB|CLINIC|20260314094207+0000||ACK^R01^ACK|A1|P|2.5.1\rMSA|AA|00042\r',
  )
})

test('a problem is named by segment, its number, field and code', () => {
  const problem = { segment: 'OBX', occurrence: 2, field: 14, code: 102, message: 'there is no such date' } as const
  const [, msa, err] = acknowledge(message(...lines), problem, options).split('\r')
  expect(msa).toBe('MSA|AE|00042')
  expect(err).toBe('ERR||OBX^2^14|102^Data type error^HL70357|E||||OBX[2]-14: there is no such date')
})

test('a message that is refused as such has AR, and before version 2.5 the reason in MSA-3', () => {
  const old = header('ADT^Z99').replace('2.5.1', '2.3')
  const problem = { code: 201, message: 'ADT^Z99 is not supported', isRejection: true } as const
  expect(acknowledge(old, problem, options)).toContain('\rMSA|AR|00042|ADT\\S\\Z99 is not supported\rERR|||201^')
})

test('a text that is no message is answered too', () => {
  const problem = { code: 100, message: 'the message does not begin with MSH', isRejection: true } as const
  expect(acknowledge('hello', problem, options)).toMatch(/^MSH\|.*\|ACK\|A1\|P\|2.5.1\rMSA\|AR\r/)
})
