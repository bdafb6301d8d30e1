// What goes wrong with a FHIRPath expression, and where in its text. http://hl7.org/fhirpath/N1/

import type { Position } from './ast.ts'

/** When the mistake shows: reading the text, checking it against the types, or evaluating it on data. */
export type Phase = 'syntax' | 'semantic' | 'execution'

/** An expression that cannot be read, makes no sense for its types, or cannot be evaluated on the data given. */
export class FhirPathError extends Error {
  override readonly name = 'FhirPathError'
  readonly phase: Phase
  readonly at: Position
  /** One-based. */
  readonly line: number
  /** One-based. */
  readonly column: number
  /** For syntax errors: what could have stood here. */
  readonly expected: string | undefined
  /** For semantic errors: the name that was probably meant by the one at `at`. */
  readonly meant: string | undefined

  constructor(phase: Phase, message: string, at: Position, more: { expected?: string; meant?: string } = {}) {
    super(`line ${at.line}, column ${at.column}: ${message}`)
    this.phase = phase
    this.at = at
    this.line = at.line
    this.column = at.column
    this.expected = more.expected
    this.meant = more.meant
  }
}

/** For errors that belong to no place in particular. */
const START: Position = { offset: 0, line: 1, column: 1 }

/** An evaluation that exceeds its budget of steps. */
export class TooCostly extends FhirPathError {}

export const tooCostly = (): TooCostly => new TooCostly('execution', 'the expression evaluates too many values', START)

/** The expression does not fit the types it is used on. */
export function semanticError(message: string, at: Position, meant?: string): FhirPathError {
  return new FhirPathError('semantic', message, at, { meant })
}

/** The expression cannot be evaluated on this data. */
export function executionError(message: string, at: Position): FhirPathError {
  return new FhirPathError('execution', message, at)
}
