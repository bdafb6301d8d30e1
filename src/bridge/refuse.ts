// Refusals of what agents send.
import { Failure, type FailureCode } from '../lib/failure.ts'

/** A refusal that names the field that is wrong. */
export const refuse = (code: FailureCode, message: string, field?: string): Failure =>
  new Failure(code, message, {
    details: [{ ...(field === undefined ? {} : { field }), code: 'business-rule', message }],
  })

/** A refusal of what cannot be stored as it is. */
export const refused = (message: string, field?: string): Failure => refuse('VALIDATION_FAILED', message, field)
