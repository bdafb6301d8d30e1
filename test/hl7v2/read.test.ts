// Messages as text: delimiters, escapes, character sets, batches, bounds.

import { describe, expect, test } from 'vitest'
import { decodeMessage } from '../../src/hl7v2/charset.ts'
import { MessageError } from '../../src/hl7v2/problem.ts'
import { isMessage, readMessage, splitMessages } from '../../src/hl7v2/read.ts'
import { header, message, plain, treeWith } from './support.ts'

/** NTE-3 of a message with this note. */
function notes(note: string, msh = header('ORU^R01')): unknown {
  const { tree } = treeWith('ADT_A01', msh, `NTE|1||${note}`)
  return (tree['NTE'] as Record<string, unknown>[])[0]!['NTE_3']
}

/** The place and code that a text is refused with. */
function refusal(text: string): unknown {
  try {
    readMessage(text)
  } catch (error) {
    if (error instanceof MessageError) return error.message
    throw error
  }
  return 'read'
}

test.each(['\r', '\n', '\r\n', '\r\r\n'])('segments may end with %j', end => {
  const { segments } = readMessage([header('ORU^R01'), 'PID|1||7', ''].join(end))
  expect(segments.map(({ id, number }) => [id, number])).toEqual([
    ['MSH', 1],
    ['PID', 2],
  ])
})

test('any delimiters are taken from MSH-1 and MSH-2', () => {
  const { tree } = treeWith('ADT_A01', 'MSH*:;%$*LAB*CLINIC', 'PID*1**7:::A$1.2$ISO;8*')
  expect(plain(tree['PID'])).toEqual({
    PID_1: '1',
    PID_3: [{ CX_1: '7', CX_4: { HD_1: 'A', HD_2: '1.2', HD_3: 'ISO' } }, { CX_1: '8' }],
  })
})

test.each([
  ['MSH|^~^&|', 'MSH-2: the encoding characters must differ from each other'],
  ['MSH|^~a&|', 'MSH-2: the encoding characters must be signs, not letters or digits'],
  ['MSHX^~', 'MSH-1: the field separator is missing'],
  ['PID|1', 'the message does not begin with MSH'],
  ['', 'the message does not begin with MSH'],
  [`${header('ORU^R01')}\rpid|1`, 'MSH: behind this segment, line 2 does not begin with the name of a segment'],
  [`${header('ORU^R01')}\rPIDX|1`, 'MSH: behind this segment, line 2 does not begin with the name of a segment'],
  [
    `${header('ORU^R01')}\rOBX|1\rOBX|2\rO`,
    'OBX[2]: behind this segment, line 4 does not begin with the name of a segment',
  ],
  [`${header('ORU^R01')}\rMSH|^~\\&|`, 'MSH: behind this segment a second MSH is within the message'],
  [`${header('ORU^R01')}\rPID${'|'.repeat(501)}`, 'PID has more than 500 fields'],
  [`${header('ORU^R01')}\rPID|1||${'1~'.repeat(5001)}`, 'PID[1]-3 has more than 5000 repetitions'],
  [header('ORU^R01') + '\rNTE|1'.repeat(20_000), 'the message has more than 20000 segments'],
])('%j is refused: %s', (text, reason) => {
  expect(refusal(text)).toBe(reason)
})

test('an escape character that is doubled in MSH-2 counts once', () => {
  expect(notes('a\\T\\b', header('ORU^R01').replace('\\', '\\\\'))).toEqual(['a&b'])
})

describe('escapes', () => {
  test.each([
    ['a\\F\\b\\S\\c\\T\\d\\R\\e\\E\\f', 'a|b^c&d~e\\f'],
    ['first\\.br\\second', 'first\nsecond'],
    ['\\H\\high\\N\\ est', 'high est'],
    ['\\XC3A9\\t\\XE9\\', 'été'],
    ['\\Zlocal\\ stays', '\\Zlocal\\ stays'],
    ['50\\%', '50\\%'],
    ['C:\\dir\\F\\x', 'C:\\dir|x'],
    ['a^b&c', 'a^b&c'],
  ])('%s is %j', (written, text) => {
    expect(notes(written)).toEqual([text])
  })

  test('stay as they are where MSH-2 has no escape character', () => {
    expect(notes('a\\T\\b', 'MSH|^~|LAB')).toEqual(['a\\T\\b'])
  })
})

describe('a batch', () => {
  const one = message(header('ADT^A01'), 'PID|1||7')

  test('is split into its messages', () => {
    const batch = ['FHS|^~\\&|LAB', 'BHS|^~\\&', one, one.replace('7', '8'), 'BTS|2', 'FTS|1'].join('\r\n')
    expect(splitMessages(batch)).toEqual([`${one}\r`, `${one.replace('7', '8')}\r`])
  })

  test('needs no headers, nor does MLLP’s frame disturb', () => {
    expect(splitMessages(`\v${one}\r\x1c\r\v${one}\r\x1c\r`)).toEqual([`${one}\r`, `${one}\r`])
  })

  test('is refused where something stands before its first message, so that nothing is left out', () => {
    expect(() => splitMessages(`PV1|1\r${one}`)).toThrow('the message does not begin with MSH')
  })

  test('is told from other texts', () => {
    expect(['FHS|^~\\&', one, `\v${one}`, '{"a":1}', 'MSHED', 'PID|1'].map(isMessage)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ])
  })
})

describe('bytes', () => {
  const bytes = (set: string, encoding: BufferEncoding) =>
    Buffer.from(message(header('ADT^A01', `||||||${set}`), 'PID|1||7||Étoudi'), encoding)

  test.each([
    ['UNICODE UTF-8', 'utf8'],
    ['8859/1', 'latin1'],
    ['ASCII', 'utf8'],
    ['ASCII', 'latin1'],
    ['', 'utf8'],
    ['8859/1~UNICODE UTF-8', 'latin1'],
  ] as const)('in %j are decoded (%s)', (set, encoding) => {
    expect(decodeMessage(bytes(set, encoding))).toContain('Étoudi')
  })

  test.each([
    ['8859/5', [0xb8], 'И'],
    ['8859/7', [0xd9], 'Ω'],
    ['8859/9', [0xdd], 'İ'],
    ['8859/15', [0xa4], '€'],
    ['8859/1', [0x92], '’'],
    ['GB 18030-2000', [0xa5, 0xe9], 'ラ'],
  ])('in %s have the letters of that set', (set, sign, letter) => {
    const whole = Buffer.concat([bytes(set, 'utf8'), Buffer.from(sign)])
    expect(decodeMessage(whole)).toMatch(new RegExp(`${letter}$`))
  })

  test.each([
    ['ISO IR87', 'MSH-18: the character set is not known; UNICODE UTF-8 and 8859/1 are'],
    ['8859/12', 'MSH-18: the character set is not known; UNICODE UTF-8 and 8859/1 are'],
    ['UTF-16', 'MSH-18: the character set is not known; UNICODE UTF-8 and 8859/1 are'],
    ['UNICODE UTF-8', 'MSH-18: the bytes of the message are not in the character set that it declares'],
  ])('that %s does not cover are refused with the reason', (set, reason) => {
    expect(() => decodeMessage(bytes(set, 'latin1'))).toThrow(reason)
  })

  test('of a set that has no such letter are refused, not replaced', () => {
    const whole = Buffer.concat([bytes('8859/3', 'utf8'), Buffer.from([0xa5])])
    expect(() => decodeMessage(whole)).toThrow('are not in the character set that it declares')
  })

  test('are read in the set that the caller names, whatever MSH-18 says', () => {
    expect(decodeMessage(bytes('UNICODE UTF-8', 'latin1'), 'iso-8859-1')).toContain('Étoudi')
  })

  test('may begin with the mark of UTF-8, also in another set, and the set is that of the first message of a batch', () => {
    const mark = Buffer.from('\uFEFF')
    const batch = Buffer.from('BHS|^~\\&|MSH|\r')
    for (const start of [mark, batch, Buffer.concat([mark, batch])]) {
      const text = decodeMessage(Buffer.concat([start, bytes('8859/5', 'latin1'), Buffer.from([0xb8])]))
      expect(text).toMatch(/^(?:BHS|MSH).*И$/s)
    }
  })
})
