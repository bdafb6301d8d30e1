// Whose data it is: the patients that a search names, and those that resources are about or refer to.
import type { Piece } from '../lib/pieces.ts'
import type { Base } from './base.ts'
import { isId } from './ids.ts'
import type { Hit } from './search/hit.ts'
import { type Criterion, type ParamCriterion, partsOf } from './search/request.ts'

const mark = 'Patient/'
const quote = 0x22

/** True for what ids are made of (https://hl7.org/fhir/R4/datatypes.html#id). */
const isIdCode = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 45 || code === 46

/**
 * Ids of the patients among the resources, of those that they refer to, and of those named already, each once.
 * Bodies are text as stored, and looked through as text: parsing them would cost more than reading them did.
 */
export function patientsIn(hits: readonly Hit[], base: Base, named: readonly string[]): string[] {
  const found = new Set(named)
  for (const { type, id, body } of hits) {
    if (type === 'Patient') found.add(id)
    for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + mark.length)) {
      const isReference = body.charCodeAt(at - 1) === quote || base.own(textTo(body, at)) !== undefined
      if (isReference) add(found, body, at + mark.length)
    }
  }
  return [...found]
}

/** Longest address of a server. */
const longest = 300

/** The text within quotation marks that ends there, as far as an address is long. */
function textTo(body: Piece, end: number): string {
  const before = body.slice(Math.max(0, end - longest), end)
  return before.slice(before.lastIndexOf('"') + 1)
}

function add(found: Set<string>, body: Piece, start: number): void {
  let end = start
  while (end - start < 64 && isIdCode(body.charCodeAt(end))) end++
  if (end > start) found.add(body.slice(start, end))
}

/** Ids of the patients that a search is about in so many words. */
export function patientsNamed(criteria: readonly Criterion[]): string[] {
  return [...new Set(criteria.flatMap(namedBy))]
}

function namedBy(criterion: Criterion): string[] {
  if (criterion.kind === 'compartment') return criterion.of === 'Patient' ? [criterion.id] : []
  if (criterion.kind === 'param') return namedByParam(criterion)
  return partsOf(criterion).flatMap(namedBy)
}

function namedByParam({ types, param, modifier, values }: ParamCriterion): string[] {
  if (param.code === '_id')
    return types.length === 1 && types[0] === 'Patient' ? values.filter(value => isId(value)) : []
  if (param.type !== 'reference') return []
  const isPatient = modifier === 'Patient' || param.code === 'patient'
  return values.flatMap(value => {
    const at = value.lastIndexOf(mark)
    const id = at >= 0 ? value.slice(at + mark.length) : isPatient ? value : ''
    return isId(id) ? [id] : []
  })
}
