// HL7 v2's segments and data types: the names, types and repetition of their fields and components, up to version 2.9, which keeps those of the versions before.

import segmentRows from './segments.json' with { type: 'json' }
import typeRows from './types.json' with { type: 'json' }

/** One field of a segment, or one component of a data type. */
export interface Part {
  /** `PID_3`, `CX_1`: as maps name it. */
  readonly element: string
  /** From 1. */
  readonly number: number
  /** `Patient Identifier List` */
  readonly name: string
  /** A data type of HL7 v2: `CX`, `DTM`. */
  readonly type: string
  readonly repeats: boolean
}

/** The segments by name, each with its fields in order. */
export const segments: ReadonlyMap<string, readonly Part[]> = partsIn(segmentRows)

/** The data types that have components. */
export const dataTypes: ReadonlyMap<string, readonly Part[]> = partsIn(typeRows)

/** A row is `CX* Patient Identifier List`: type, `*` if it repeats, name. */
function partsIn(rows: Readonly<Record<string, readonly string[]>>): Map<string, readonly Part[]> {
  return new Map(
    Object.entries(rows).map(([id, fields]) => [id, fields.map((row, index) => partOf(id, index + 1, row))]),
  )
}

function partOf(id: string, number: number, row: string): Part {
  const [, type, star, name] = /^(\w+)(\*?) (.*)$/.exec(row)!
  return { element: `${id}_${number}`, number, name: name!, type: type!, repeats: star === '*' }
}

/** The FHIR primitives that hold HL7's; all others are texts, since numbers must keep their digits and senders do not keep to them. */
const primitives: Readonly<Record<string, string>> = { DTM: 'dateTime', DT: 'date', TM: 'time' }

/** The type of a part in the logical model: the data type itself, or a primitive of FHIR. */
export function modelType(type: string): string {
  return dataTypes.has(type) ? type : (primitives[type] ?? 'string')
}

/** What OBX-2 can say that OBX-5 is, and the element that holds it in addition to `OBX_5`, the text: codes of any version are a CWE. */
export const valueElements: ReadonlyMap<string, { readonly element: string; readonly type: string }> = new Map(
  [
    ...[...['CWE', 'CE', 'CNE', 'CF'].map(each => [each, 'CWE'] as const)],
    ...[...['DTM', 'TS'].map(each => [each, 'DTM'] as const)],
    ...[
      'DT',
      'TM',
      'SN',
      'CQ',
      'ED',
      'RP',
      'NA',
      'NR',
      'MO',
      'EI',
      'CX',
      'DR',
      'XCN',
      'XPN',
      'XAD',
      'XTN',
      'XON',
      'PL',
      'HD',
    ].map(each => [each, each] as const),
  ].map(([code, type]) => [code, { element: `OBX_5_${type}`, type }]),
)
