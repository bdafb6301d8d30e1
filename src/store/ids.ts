// Logical ids: 1 to 64 letters, digits, hyphens and dots. https://hl7.org/fhir/R4/datatypes.html#id
import { Failure } from '../lib/failure.ts'

const shape = /^[A-Za-z0-9.-]{1,64}$/

/** True if the value is a FHIR id. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && shape.test(value)
}

/** @throws Failure MALFORMED_REQUEST if the text is no FHIR id. */
export function mustBeId(id: string): void {
  if (!isId(id))
    throw new Failure('MALFORMED_REQUEST', 'An id must have 1 to 64 letters, digits, hyphens and dots.', {
      issue: 'value',
    })
}
