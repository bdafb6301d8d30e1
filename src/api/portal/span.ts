// Spans of time in forms of pages: minutes of a day by the clocks of the service's time zone.

import { isMinute, momentOf } from '../../lib/day.ts'
import { Failure } from '../../lib/failure.ts'
import { Type } from '../../lib/schema.ts'

/** A field of a form: `<input type="datetime-local">`, or empty. */
export const minuteField = Type.Optional(Type.String({ maxLength: 16 }))

/** Reads such a field; undefined: it is empty. @throws Failure VALIDATION_FAILED for a time that there is not */
export function readMinute(text: string | undefined, field: string, timeZone: string): Date | undefined {
  const minute = text?.trim() ?? ''
  if (minute === '') return undefined
  if (isMinute(minute)) return momentOf(timeZone, minute)
  const message = 'must be a minute, such as 2026-01-31T08:30'
  throw new Failure('VALIDATION_FAILED', 'The time span is not valid.', {
    details: [{ field, code: 'format', message }],
  })
}
