// What commands work on: the maps of the folder and those named in the command, as one set, and their examples.

import { statSync } from 'node:fs'
import type { Problem } from '../../fml/problem.ts'
import { render } from '../../fml/render.ts'
import { UsageError } from '../../lib/command.ts'
import { type Example, examplesIn, examplesPath } from '../../mapping/examples.ts'
import { readFolder, readSource, type SourceFile } from '../../mapping/files.ts'
import type { Mapping } from '../../mapping/mapping.ts'
import { isWarning, type MappingSet, mappingSet, type SetOptions } from '../../mapping/set.ts'
import type { MapCall } from './command.ts'
import { existing, pathHere } from './paths.ts'

export interface Workspace {
  readonly files: readonly SourceFile[]
  readonly set: MappingSet
  /** By the name of their map. */
  readonly examples: ReadonlyMap<string, readonly Example[]>
  /** The maps that the command is about: those it names, or all. */
  readonly chosen: readonly Mapping[]
  /** What is wrong with these, their examples, and what they import; without files, everything. */
  readonly problems: readonly Problem[]
}

type Asked = Pick<SetOptions, 'needs' | 'needsMatching' | 'needsConsents'> & { readonly isAboutNamed?: boolean }

/**
 * Reads everything a command needs.
 * @param asked isAboutNamed: of the maps of the folder only those are needed that the command names; needs: what the folder must have
 * @throws UsageError for a file that is not there.
 */
export async function openWorkspace(call: MapCall, { isAboutNamed = false, ...needs }: Asked = {}): Promise<Workspace> {
  const named = call.files.map(file => existing(file, call))
  const own = await readFolder(call.folder).catch(() => [])
  const files = unique([...own, ...filesBeside(call, named), ...(await filesWith(call))])
  if (files.length === 0)
    throw new UsageError(
      statSync(call.folder, { throwIfNoEntry: false })?.isDirectory()
        ? `there are no maps in ${call.folder}`
        : `there is no folder ${call.folder}`,
    )
  const others = new Set(files.slice(own.length).map(({ path }) => path))
  const sources = named.map(path => readSource(call.folder, path))
  const compiled = isAboutNamed && named.length > 0 ? new Set(sources.map(({ path }) => path)) : undefined
  const { shapes, verdicts } = call
  const set = mappingSet(files, { ...needs, shapes, verdicts, others, ...(compiled && { compiled }) })
  const { byMap, problems } = examplesIn(files)
  const mappings = [...set.mappings.values()]
  if (named.length === 0)
    return { files, set, examples: byMap, chosen: mappings, problems: [...set.problems, ...problems] }
  const chosen = mappings.filter(({ source }) => sources.some(({ path }) => path === source.path))
  const paths = new Set(sources.flatMap(({ path }) => [path, examplesPath(path)]))
  const about = [...set.problems, ...problems].filter(({ file }) => paths.has(file ?? ''))
  return {
    files,
    set,
    examples: byMap,
    chosen,
    problems: [...new Set([...about, ...chosen.flatMap(each => each.problems)])],
  }
}

/** What was named from outside the folder, with its examples. */
function filesBeside(call: MapCall, named: readonly string[]): SourceFile[] {
  const wanted = named.flatMap(path => [path, examplesPath(path)]).filter(isFile)
  return wanted.map(path => readSource(call.folder, path))
}

/** What `--with` names: files, and everything in folders. @throws UsageError for what is not there. */
async function filesWith(call: MapCall): Promise<SourceFile[]> {
  const found: SourceFile[] = []
  for (const given of call.texts('with')) {
    const path = pathHere(given)
    if (isFile(path)) found.push(readSource(call.folder, path))
    else found.push(...(await readFolder(path).catch(() => missing(given))))
  }
  return found
}

function unique(files: readonly SourceFile[]): SourceFile[] {
  return [...new Map(files.toReversed().map(each => [each.path, each])).values()].toReversed()
}

function missing(given: string): never {
  throw new UsageError(`there is no file or folder ${given}`)
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

/** Problems as people read them, with the lines they are about. */
export function rendered(problems: readonly Problem[], files: readonly SourceFile[]): string {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  return problems
    .map(each => {
      const message = isWarning(each) ? `warning: ${each.message}` : each.message
      return `${render({ ...each, message }, texts.get(each.file ?? '') ?? '')}\n\n`
    })
    .join('')
}

/** Problems as programs read them. */
export function listed(problems: readonly Problem[]): unknown[] {
  return problems.map(({ file, span, message, severity = 'error', fix }) => ({
    file,
    line: span.line,
    column: span.column,
    length: span.length,
    severity,
    message,
    ...(fix && {
      fix: { line: fix.span.line, column: fix.span.column, length: fix.span.length, replacement: fix.replacement },
    }),
  }))
}

/** `3 maps` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

const WIDTH = 110

/** Names as a paragraph: a list of a hundred has to be taken in at a glance. */
export function paragraph(title: string, names: readonly string[], indent: string): string {
  const lines = [`${indent}${title}`]
  for (const [index, name] of names.entries()) {
    const piece = ` ${name}${index < names.length - 1 ? ',' : ''}`
    if (lines.at(-1)!.length + piece.length > WIDTH) lines.push(`${indent} ${piece}`)
    else lines[lines.length - 1] += piece
  }
  return `${lines.join('\n')}\n`
}
