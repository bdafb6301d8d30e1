// Required bindings: in R4 they bind codes and CodeableConcepts (https://hl7.org/fhir/R4/terminologies.html#required).

import { valueSetCodes, valueSetHas } from '../../definitions/r4.ts'
import { nameOf, quoted, report, type Walk, warn } from './issues.ts'
import { judgeOf, systemOfSet, UNITS } from './outside.ts'

/**
 * Returns a check of codes against a value set, with `others` allowed as well; undefined when the set is not known here, so
 * anything is valid.
 */
export function codeCheck(url: string, others: readonly string[]): ((value: unknown, walk: Walk) => void) | undefined {
  const list = valueSetCodes(url)
  if (!list) return outsideCheck(url, others)
  const codes = new Set(list)
  const allowed = listed(list)
  return (value, walk) => {
    if (typeof value === 'string' && !codes.has(value))
      report(walk, 'code-invalid', `${nameOf(walk)} cannot be ${quoted(value)}; ${allowed}`)
  }
}

function outsideCheck(url: string, others: readonly string[]): ((value: unknown, walk: Walk) => void) | undefined {
  const judge = judgeOf(systemOfSet(url) ?? '')
  if (!judge) return undefined
  return (value, walk) => {
    const problem = typeof value === 'string' && !others.includes(value) ? judge(value) : undefined
    if (problem) report(walk, 'code-invalid', () => `${nameOf(walk)} ${problem()}`)
  }
}

/** A check that one of a concept's codings is in a value set. */
export function conceptCheck(url: string): ((value: Record<string, unknown>, walk: Walk) => void) | undefined {
  const list = valueSetCodes(url)
  const system = systemOfSet(url)
  if (!list && system === undefined) return undefined
  const allowed = list ? listed(list) : `it has codes of ${system}`
  const holds = (coding: unknown) => (list ? isIn(url, coding) : isOf(system!, coding))
  return (value, walk) => {
    const codings = Array.isArray(value.coding) ? value.coding : []
    if (codings.some(holds) || (codings.length === 0 && value.text === undefined)) return
    report(walk, 'code-invalid', `${nameOf(walk)} has no coding of the value set ${url}; ${allowed}`)
  }
}

function isIn(url: string, coding: unknown): boolean {
  const { code, system } = (coding ?? {}) as Record<string, unknown>
  return typeof code === 'string' && typeof system === 'string' && valueSetHas(url, code, system) === true
}

// Whether the code is one of the system is seen at the coding itself.
function isOf(wanted: string, coding: unknown): boolean {
  const { code, system } = (coding ?? {}) as Record<string, unknown>
  return typeof code === 'string' && system === wanted
}

/**
 * Checks a Coding or Quantity whose system is defined outside of FHIR. A unit that UCUM does not have is a warning: the system
 * gives no more than the intended meaning, and published data is full of `(score)`.
 */
export function checkOutside({ system, code }: Record<string, unknown>, walk: Walk): void {
  if (typeof system !== 'string' || typeof code !== 'string') return
  const problem = judgeOf(system)?.(code)
  if (!problem) return
  const say = system === UNITS ? warn : report
  say(walk, 'code-invalid', () => `\`code\` ${problem()}`, 'code')
}

function listed(codes: readonly string[]): string {
  return codes.length > 20 ? `it is one of ${codes.length} codes` : `it is one of ${codes.join(', ')}`
}
