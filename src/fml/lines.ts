// Lines of a map as they are put together: comments end a line, everything else can be continued.

import type { Comment, Surroundings } from './ast.ts'

export interface Lines {
  readonly all: string[]
  /** The last line ends with a comment, so nothing can follow on it. */
  sealed: boolean
}

export function lines(): Lines {
  return { all: [], sealed: false }
}

export function line(to: Lines, text: string): void {
  to.all.push(text)
  to.sealed = false
}

/** Continues the last line, or begins one with `indent` where that is not possible. */
export function glue(to: Lines, text: string, indent = ''): void {
  if (to.sealed || to.all.length === 0) return line(to, indent + text.trimStart())
  to.all[to.all.length - 1] += text
}

export function seal(to: Lines, comments: readonly Comment[]): void {
  for (const comment of comments) {
    to.all[to.all.length - 1] += ` ${commentText(comment)}`
    to.sealed = true
  }
}

/** Comments on lines of their own, with the empty lines that their author left. */
export function comments(to: Lines, found: readonly Comment[], indent = ''): void {
  for (const comment of found) {
    if (comment.gap) gap(to)
    line(to, indent + commentText(comment))
  }
}

/** An empty line, unless there is one or nothing to set off. */
export function gap(to: Lines): void {
  if (to.all.length > 0 && to.all.at(-1) !== '') line(to, '')
}

/** Appends lines, indented; the empty ones stay empty. */
export function nest(to: Lines, inner: Lines, indent: string): void {
  for (const each of inner.all) to.all.push(each === '' ? '' : indent + each)
  to.sealed = inner.sealed
}

export function hasComments(around: Surroundings): boolean {
  return around.before.length > 0 || around.after.length > 0
}

function commentText({ style, text }: Comment): string {
  return style === 'line' ? `//${text}` : `/*${text}*/`
}
