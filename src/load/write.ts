// Writes units of a load: many in one transaction, and where that fails each by itself, so that only what is wrong stays out.
import { Failure, isOutage } from '../lib/failure.ts'
import type { Store } from '../store/store.ts'
import type { Written } from '../store/write/next-version.ts'
import type { LoadUnit } from './entries.ts'
import type { SourceLocation } from './read.ts'

export interface Problem extends SourceLocation {
  /** Of https://hl7.org/fhir/R4/valueset-issue-type.html */
  readonly code: string
  readonly message: string
}

export type WriteOutcome = Exclude<Written['outcome'], 'absent'>

/** Receives the outcome of each unit. */
export interface Outcomes {
  readonly stored: (type: string, outcome: WriteOutcome) => void
  readonly failed: (problem: Problem) => void
  /** Keeps a unit for the end, because what it refers to may come later; undefined when this is the end. */
  readonly postpone: ((unit: LoadUnit) => void) | undefined
}

/** Single resources that share a trip to the database. */
export const batchSize = 200

/**
 * Writes units in one transaction; if one of several is at fault, each is tried by itself.
 * @throws Failure UNAVAILABLE or UNCONFIRMED if the database goes away; anything that is no Failure.
 */
export async function writeUnits(store: Store, units: readonly LoadUnit[], outcomes: Outcomes): Promise<void> {
  const entries = units.flatMap(unit => unit.entries)
  try {
    const results = await retried(() => store.transaction(entries, () => Promise.resolve(undefined)))
    results.forEach((result, index) => {
      const outcome = 'written' in result ? result.written?.outcome : undefined
      if (outcome !== undefined && outcome !== 'absent') outcomes.stored(entries[index]!.type, outcome)
    })
  } catch (error) {
    if (!(error instanceof Failure) || isOutage(error)) throw error
    const [unit] = units
    if (units.length > 1) for (const each of units) await writeUnits(store, [each], outcomes)
    else if (outcomes.postpone && error.issue === 'not-found') outcomes.postpone(unit!)
    else outcomes.failed({ file: unit!.file, line: unit!.line, code: codeOf(error), message: messageOf(error) })
  }
}

/** Two transactions that touch the same resources may have to be run one after the other. */
async function retried<T>(work: () => Promise<T>, tries = 5): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (tries > 1 && error instanceof Failure && error.code === 'CONFLICT') return retried(work, tries - 1)
    throw error
  }
}

const codeOf = (failure: Failure): string => failure.options.details?.[0]?.code ?? failure.issue

function messageOf(failure: Failure): string {
  const details = failure.options.details ?? []
  if (details.length === 0) return failure.message
  const shown = details.slice(0, 3).map(detail => `${detail.field ?? ''}: ${detail.message}`)
  return `${shown.join(' · ')}${details.length > 3 ? ` · and ${details.length - 3} more` : ''}`
}
