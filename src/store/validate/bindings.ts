// Required bindings: in R4 they bind codes and CodeableConcepts (https://hl7.org/fhir/R4/terminologies.html#required).

import { valueSetCodes, valueSetHas } from '../../definitions/r4.ts'
import { nameOf, quoted, report, type Walk } from './issues.ts'

/** A check of codes against a value set; undefined when the set is not known here, so anything goes. */
export function codeCheck(url: string): ((value: unknown, walk: Walk) => void) | undefined {
  const list = valueSetCodes(url)
  if (!list) return undefined
  const codes = new Set(list)
  const allowed = listed(list)
  return (value, walk) => {
    if (typeof value === 'string' && !codes.has(value))
      report(walk, 'code-invalid', `${nameOf(walk)} cannot be ${quoted(value)}; ${allowed}`)
  }
}

/** A check that one of a concept's codings is in a value set. */
export function conceptCheck(url: string): ((value: Record<string, unknown>, walk: Walk) => void) | undefined {
  const list = valueSetCodes(url)
  if (!list) return undefined
  const allowed = listed(list)
  return (value, walk) => {
    const codings = Array.isArray(value.coding) ? value.coding : []
    if (codings.some(it => isIn(url, it)) || (codings.length === 0 && value.text === undefined)) return
    report(walk, 'code-invalid', `${nameOf(walk)} has no coding of the value set ${url}; ${allowed}`)
  }
}

function isIn(url: string, coding: unknown): boolean {
  const { code, system } = (coding ?? {}) as Record<string, unknown>
  return typeof code === 'string' && typeof system === 'string' && valueSetHas(url, code, system) === true
}

function listed(codes: readonly string[]): string {
  return codes.length > 20 ? `it is one of ${codes.length} codes` : `it is one of ${codes.join(', ')}`
}
