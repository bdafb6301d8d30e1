// Problems by the names of their files: answers do not say where the folder is on the machine.

import type { Problem } from '../../fml/problem.ts'
import type { SourceFile } from '../files.ts'
import type { Marked } from './asks.ts'

export function markedOf(problems: readonly Problem[], files: readonly SourceFile[]): Marked[] {
  const names = new Map(files.map(({ path, name }) => [path, name]))
  return problems.map(
    ({ file = '', span, severity, message, fix }): Marked => ({
      file: names.get(file) ?? file,
      from: span.offset,
      to: span.offset + span.length,
      line: span.line,
      column: span.column,
      severity: severity ?? 'error',
      message,
      ...(fix && {
        fix: { from: fix.span.offset, to: fix.span.offset + fix.span.length, text: fix.replacement },
      }),
    }),
  )
}
