// Messages as trees: fields by their types, explicit nulls, times, and groups that tolerate another order.

import { describe, expect, test } from 'vitest'
import { textOf } from '../../src/hl7v2/problem.ts'
import { readMessage } from '../../src/hl7v2/read.ts'
import { zoneOf } from '../../src/hl7v2/time.ts'
import { type Tree, treeOf } from '../../src/hl7v2/tree.ts'
import { header, message, plain, treeWith } from './support.ts'

const pid = (fields: string) => treeWith('ADT_A01', header('ADT^A01'), `PID|${fields}`)
const inPid = (fields: string) => plain(pid(fields).tree['PID']) as Record<string, unknown>

describe('a field', () => {
  test('has repetitions, components and subcomponents by its data type', () => {
    expect(inPid('||||Ngo Bih&Ngo&Bih^Amina^Marie^^Mme~Bella^^^^^^N')).toEqual({
      PID_5: [
        { XPN_1: { FN_1: 'Ngo Bih', FN_2: 'Ngo', FN_3: 'Bih' }, XPN_2: 'Amina', XPN_3: 'Marie', XPN_5: 'Mme' },
        { XPN_1: { FN_1: 'Bella' }, XPN_7: 'N' },
      ],
    })
  })

  test('may lack what follows, and may hold nothing but delimiters', () => {
    expect(inPid('1||^^^~|  |^')).toEqual({ PID_1: '1' })
  })

  test('that is an explicit null is told apart from one that is absent', () => {
    expect(inPid('||7||""||19900101|""|||Rue 1^""^Yaoundé')).toEqual({
      PID_3: [{ CX_1: '7' }],
      PID_7: '1990-01-01',
      PID_11: [{ XAD_1: { SAD_1: 'Rue 1' }, XAD_3: 'Yaoundé' }],
      deleted: ['PID-5', 'PID-8', 'PID-11.2'],
    })
  })

  test('that HL7 does not define is kept, and so are components', () => {
    expect(inPid(`||7^^^A&B&C&D^^^^^^^^^x${'|'.repeat(46)}late`)).toEqual({
      PID_3: [{ CX_1: '7', CX_4: { HD_1: 'A', HD_2: 'B', HD_3: 'C', more: ['D'] }, more: ['x'] }],
      more: [{ text: 'late' }],
    })
  })

  test('loses its control characters, with a warning', () => {
    const { tree, warnings } = pid('||7||A\u0000\u0007B\\X1B\\^C')
    expect(plain(tree['PID'])).toEqual({ PID_3: [{ CX_1: '7' }], PID_5: [{ XPN_1: { FN_1: 'AB' }, XPN_2: 'C' }] })
    expect(warnings.map(textOf)).toEqual(['PID-5.1: control characters are left out'])
  })

  test('that repeats although it must not gives its first value and a warning', () => {
    const { tree, warnings } = pid('|||||||F~M')
    expect(plain(tree['PID'])).toEqual({ PID_8: { CWE_1: 'F' } })
    expect(warnings.map(textOf)).toEqual(['PID-8: the field repeats; only its first value is used'])
  })
})

const recorded = (msh: string, evn: string) =>
  (treeWith('ADT_A01', msh, evn).tree['EVN'] as Record<string, unknown>)['EVN_2']

describe('a time', () => {
  test.each([
    ['2026', '2026'],
    ['202603', '2026-03'],
    ['20260314', '2026-03-14'],
    ['2026031410', '2026-03-14T10:00:00+01:00'],
    ['202603141042', '2026-03-14T10:42:00+01:00'],
    ['20260314104207.125-0330', '2026-03-14T10:42:07.125-03:30'],
    ['20240229', '2024-02-29'],
    ['20260314^D', '2026-03-14'],
    ['00000000', undefined],
  ])('%s is %s', (written, time) => {
    expect(inPid(`||||||${written}`)['PID_7']).toBe(time)
  })

  test.each(['20261301', '20260229', '2026031424', '202603141060', '14/03/2026', '202', '20260314104207+2500'])(
    '%s is an error of its field',
    written => {
      const { tree, faults } = pid(`||7||||${written}`)
      expect(plain(tree['PID'])).toEqual({ PID_3: [{ CX_1: '7' }] })
      expect(faults).toEqual([
        {
          segment: 'PID',
          occurrence: 1,
          field: 7,
          code: 102,
          message: 'there is no such date; its form is YYYY[MM[DD[HH[MM[SS[.S]]]]]][+ZZZZ]',
        },
      ])
    },
  )

  test('without an offset has that of MSH-7, if this has one', () => {
    const msh = header('ADT^A01').replace('20260314104207', '20260314104207-0500')
    expect(recorded(msh, 'EVN||20260314')).toBe('2026-03-14')
    expect(recorded(msh, 'EVN||202603141000')).toBe('2026-03-14T10:00:00-05:00')
  })

  test('follows daylight saving where the place has it', () => {
    const at = (time: string) => zoneOf('Europe/Paris')!(time)
    expect([at('2026-01-14T10:00:00'), at('2026-07-14T10:00:00')]).toEqual(['+01:00', '+02:00'])
    expect(zoneOf('Nowhere/City')).toBeUndefined()
  })
})

/** The segments of a tree with their groups: `PATIENT(PID)`. */
function outline(value: Tree): string {
  const parts = Object.entries(value).flatMap(([name, held]) =>
    ([held].flat() as Tree[]).map(each =>
      each.segment ? (name === 'other' ? `other:${each.segment}` : name) : `${name}(${outline(each)})`,
    ),
  )
  return parts.join(' ')
}

const groups = (structure: string, segments: string) => {
  const lines = segments.split(' ').map(id => (id === 'MSH' ? header('ORU^R01') : `${id}|1`))
  const { tree, warnings } = treeWith(structure, ...lines)
  return [outline(tree), ...warnings.map(textOf)]
}

describe('groups', () => {
  test.each([
    [
      'MSH PID PV1 ORC OBR NTE OBX NTE OBX OBR OBX SPM',
      [
        'MSH PATIENT_RESULT(PATIENT(PID VISIT(PV1)) ORDER_OBSERVATION(ORC OBR NTE OBSERVATION(OBX NTE) OBSERVATION(OBX)) ORDER_OBSERVATION(OBR OBSERVATION(OBX) SPECIMEN(SPM)))',
      ],
    ],
    ['MSH OBX', ['MSH PATIENT_RESULT(ORDER_OBSERVATION(OBSERVATION(OBX)))']],
    [
      'MSH PID OBR OBX PV1',
      [
        'MSH PATIENT_RESULT(PATIENT(PID VISIT(PV1)) ORDER_OBSERVATION(OBR OBSERVATION(OBX)))',
        'PV1: the segment is not at its place',
      ],
    ],
    ['MSH PV1 PID OBR OBX', ['MSH PATIENT_RESULT(PATIENT(VISIT(PV1) PID) ORDER_OBSERVATION(OBR OBSERVATION(OBX)))']],
    [
      'MSH PID OBX PID OBX',
      [
        'MSH PATIENT_RESULT(PATIENT(PID) ORDER_OBSERVATION(OBSERVATION(OBX))) PATIENT_RESULT(PATIENT(PID) ORDER_OBSERVATION(OBSERVATION(OBX)))',
      ],
    ],
    [
      'MSH PID ZPI RXA XYZ OBX',
      [
        'MSH PATIENT_RESULT(PATIENT(PID) ORDER_OBSERVATION(OBSERVATION(OBX))) other:ZPI other:RXA other:XYZ',
        'RXA: the message has no place for it',
        'XYZ: the segment is not known',
      ],
    ],
  ])('%s', (segments, expected) => {
    expect(groups('ORU_R01', segments)).toEqual(expected)
  })

  test('a second segment of a kind that does not repeat is kept beside', () => {
    expect(groups('ADT_A01', 'MSH PID PV1 PV1')).toEqual([
      'MSH PID PV1 other:PV1',
      'PV1[2]: there is one already, and it does not repeat',
    ])
  })
})

test('Z-segments keep their fields, unescaped', () => {
  const { tree, warnings } = treeWith('ADT_A01', header('ADT^A01'), 'ZPI|1||a\\T\\b^c')
  expect(tree['other']).toEqual([
    {
      segment: 'ZPI',
      number: 2,
      occurrence: 1,
      field: [
        { number: 1, text: '1' },
        { number: 3, text: 'a&b^c' },
      ],
    },
  ])
  expect(warnings).toEqual([])
})

describe('the value of an observation', () => {
  const obx = (fields: string) => {
    const raw = readMessage(message(header('ADT^A01'), `OBX|${fields}`))
    return plain((treeOf(raw, { structure: 'ADT_A01', zone: () => '+01:00' }).tree['OBX'] as unknown[])[0])
  }

  test.each([
    ['1|NM|a||7.10', { OBX_5: ['7.10'] }],
    ['1|CE|a||A^B^L', { OBX_5: ['A^B^L'], OBX_5_CWE: [{ CWE_1: 'A', CWE_2: 'B', CWE_3: 'L' }] }],
    ['1|SN|a||<^0.5', { OBX_5: ['<^0.5'], OBX_5_SN: [{ SN_1: '<', SN_2: '0.5' }] }],
    ['1|SN|a||~^5', { OBX_5: ['~^5'], OBX_5_SN: [{ SN_1: '~', SN_2: '5' }] }],
    [
      '1|SN|a||~^5~<^6',
      {
        OBX_5: ['~^5', '<^6'],
        OBX_5_SN: [
          { SN_1: '~', SN_2: '5' },
          { SN_1: '<', SN_2: '6' },
        ],
      },
    ],
    ['1|SN|a||<^5~^6', { OBX_5: ['<^5', '^6'], OBX_5_SN: [{ SN_1: '<', SN_2: '5' }, { SN_2: '6' }] }],
    ['1|CWE|a||~^A', { OBX_5: ['^A'], OBX_5_CWE: [{ CWE_2: 'A' }] }],
    ['1|TS|a||202603141042', { OBX_5: ['202603141042'], OBX_5_DTM: ['2026-03-14T10:42:00+01:00'] }],
    ['1|TX|a||one~two', { OBX_5: ['one', 'two'] }],
    ['1||a||plain', { OBX_5: ['plain'] }],
    ['1|NM|a||""', { deleted: ['OBX-5'] }],
  ])('%s', (fields, value) => {
    const { OBX_1: _id, OBX_2: _type, OBX_3: _code, ...rest } = obx(fields) as Record<string, unknown>
    expect(rest).toEqual(value)
  })
})
