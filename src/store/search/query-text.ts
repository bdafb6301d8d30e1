// The text of a query: escapes, separators, and how to say that something in it makes no sense.
import { Failure } from '../../lib/failure.ts'

/** A search that cannot be understood: the parameter's name, and whether its shape is wrong or only its value. */
export function malformed(name: string, message: string, code: 'invalid' | 'value' = 'invalid'): Failure {
  return new Failure('MALFORMED_REQUEST', message, { details: [{ field: name, code, message }] })
}

/** A search that would cost more than one may: `message` names the bound. */
export const tooCostly = (name: string, message: string): Failure =>
  new Failure('MALFORMED_REQUEST', message, {
    issue: 'too-costly',
    details: [{ field: name, code: 'too-costly', message }],
  })

/** A piece of the caller's own text for a message, short. */
export function shown(value: string): string {
  return value.length > 60 ? `${value.slice(0, 60)}…` : value
}

/** Splits at commas that are not escaped; the escapes stay for the reader of the value. */
export function splitOr(value: string): string[] {
  return splitEscaped(value, ',').filter(part => part !== '')
}

/** Splits at a separator that is not preceded by a backslash. */
export function splitEscaped(value: string, separator: string): string[] {
  if (!value.includes('\\')) return value.split(separator)
  const parts = ['']
  for (let at = 0; at < value.length; at++) {
    if (value[at] === '\\' && at + 1 < value.length) parts[parts.length - 1] += value[at]! + value[++at]!
    else if (value[at] === separator) parts.push('')
    else parts[parts.length - 1] += value[at]!
  }
  return parts
}

/** Takes the backslashes off `\,` `\|` `\$` and `\\` (search.html#escaping). */
export function unescaped(value: string): string {
  return value.includes('\\') ? value.replace(/\\([,|$\\])/g, '$1') : value
}
