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

/** What is wrong with a file whose bytes are not UTF-8: what its letters are is unknown, whatever can be read of it. */
export function encodingProblems(file: SourceFile): Problem[] {
  const { foreignLine: line, text } = file
  if (line === undefined) return []
  const from = text.split('\n', line - 1).reduce((sum, each) => sum + each.length + 1, 0)
  const at = Math.max(from, text.indexOf('\uFFFD', from))
  return [problemIn(file, 'not UTF-8: save the file as UTF-8', spanAt(text, at))]
}

/** Where a property first has this value in a file. */
export function placeOf({ text }: SourceFile, property: string, value: string): Span {
  const [name, quoted] = [property, value].map(each => JSON.stringify(each).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  const offset = text.search(new RegExp(`${name}\\s*:\\s*${quoted}`))
  return offset < 0 ? NOWHERE : spanAt(text, offset)
}

/** The place in a text. */
const spanAt = (text: string, offset: number): Span => ({ offset, length: 1, ...placeIn(text, offset) })
