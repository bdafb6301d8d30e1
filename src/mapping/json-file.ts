// JSON files next to maps, and the places of values in them.

import type { Span } from '../fml/ast.ts'
import { NOWHERE, type Problem } from '../fml/problem.ts'
import { parseJson } from '../lib/json.ts'
import { faultIn, placeIn } from '../lib/json-tokens.ts'
import type { SourceFile } from './files.ts'

/** Returns the value of a file, or its problems. The message quotes nothing: examples may be private. */
export function jsonOf({ path, text }: SourceFile): { value: unknown } | { problem: Problem } {
  try {
    return { value: parseJson(text) }
  } catch {
    return { problem: { message: 'invalid JSON from here on', span: spanAt(text, faultIn(text)), file: path } }
  }
}

/** A problem of a file as a whole. */
export function problemIn({ path }: SourceFile, message: string, span: Span = NOWHERE): Problem {
  return { message, span, file: path }
}

/** Where a property first has this value in a file. */
export function placeOf({ text }: SourceFile, property: string, value: string): Span {
  const [name, quoted] = [property, value].map(each => JSON.stringify(each).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  const offset = text.search(new RegExp(`${name}\\s*:\\s*${quoted}`))
  return offset < 0 ? NOWHERE : spanAt(text, offset)
}

/** The place in a text. */
const spanAt = (text: string, offset: number): Span => ({ offset, length: 1, ...placeIn(text, offset) })
