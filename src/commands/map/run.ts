// npm run map -- run: what a map makes of a record.

import { readFileSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import type { Program } from '../../fml/compile.ts'
import { render } from '../../fml/render.ts'
import type { Step } from '../../fml/run/frame.ts'
import { MapError, type Site } from '../../fml/run/map-error.ts'
import { isMessageType } from '../../hl7v2/models.ts'
import { type CommandResult, UsageError } from '../../lib/command.ts'
import { isObject, parseJson } from '../../lib/json.ts'
import type { SourceFile } from '../../mapping/files.ts'
import { isWarning } from '../../mapping/set.ts'
import type { MapCall, MapCommand } from './command.ts'
import { pathHere } from './paths.ts'
import { listed, openWorkspace, rendered } from './workspace.ts'

export const run: MapCommand = {
  name: 'run',
  usage: 'FILE --input FILE [--context FILE] [--debug]',
  summary: 'Run a map on a record and show the result',
  details: 'Writes the result to standard output and everything else to standard error.',
  options: {
    input: { value: 'FILE', meaning: 'the record, as JSON, or a message of HL7 v2; - for standard input' },
    context: { value: 'FILE', meaning: 'the second source, for maps with two sources' },
    debug: { meaning: 'show each rule that runs, with its position, name and values' },
  },
  run: runMap,
}

async function runMap(call: MapCall): Promise<CommandResult> {
  const [input, context] = [call.text('input'), call.text('context')]
  if (call.files.length !== 1) throw new UsageError('specify one map')
  if (input === undefined) throw new UsageError('--input is required: the file of the record')
  const { files, chosen, problems } = await openWorkspace(call)
  const program = chosen[0]?.program
  const errors = problems.filter(each => !isWarning(each))
  if (!program) return { isGood: false, text: '', notes: rendered(errors, files), json: { problems: listed(errors) } }
  const [, second] = program.sources
  if (second && context === undefined)
    throw new UsageError(`--context is required: this map has a second source, \`${second.name}\``)
  const text = await textFrom(input)
  const more = second ? [await sourceIn(context!, await textFrom(context!), undefined, undefined)] : []
  const sources = [await sourceIn(input, text, program.sources[0]?.type, more[0]), ...more]
  return answered(program, sources, call, files)
}

async function answered(
  program: Program,
  sources: readonly unknown[],
  call: MapCall,
  files: readonly SourceFile[],
): Promise<CommandResult> {
  const { createInspect } = await import('../../mapping/validity.ts')
  const steps: Step[] = []
  const trace = call.isSet('debug') ? (step: Step) => void steps.push(step) : undefined
  const logged: string[] = []
  const log = (message: string) => void logged.push(`log: ${message}\n`)
  const remark = (message: string, { map, span }: Site) =>
    void logged.push(`${map}:${span.line}:${span.column}: ${message}\n`)
  const traceText = () => [...steps.map(each => stepText(each, steps[0]!.depth)), ...logged].join('')
  try {
    const output = program.run(sources, { trace, log, remark })
    const inspect = createInspect(call.shapes)
    const [input, context] = sources.map((each, index) => inspect(each, program.sources[index]?.type))
    const faults = inspect(output, program.targets[0]?.type)
    const invalid = [
      ...input!.map(each => `input: ${each}`),
      ...(context ?? []).map(each => `context: ${each}`),
      ...faults.map(each => `output: ${each}`),
    ]
    return {
      isGood: faults.length === 0,
      text: `${JSON.stringify(output, null, 2)}\n`,
      notes: traceText() + invalid.map(each => `not valid: ${each}\n`).join(''),
      json: { output, invalid, ...(trace && { steps: steps.map(stepJson) }) },
    }
  } catch (error) {
    if (!(error instanceof MapError)) throw error
    const { map, group, rule, line, column, path, reason } = error
    const json = { error: { file: map, line, column, group, rule, path, message: reason } }
    return { isGood: false, text: '', notes: `${traceText()}${errorText(error, files)}\n`, json }
  }
}

async function textFrom(file: string): Promise<string> {
  try {
    return file === '-' ? await textOf(process.stdin) : readFileSync(pathHere(file), 'utf8')
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`)
  }
}

/** A record, or a message as the structure that the map takes. */
async function sourceIn(file: string, text: string, type: string | undefined, context: unknown): Promise<unknown> {
  try {
    const value = isMessageType(type) ? await messageIn(text, type, context) : parseJson(text)
    if (isObject(value)) return value
    throw new Error(
      `this is ${Array.isArray(value) ? 'a list' : 'no JSON object'}; a map takes one record or resource at a time`,
    )
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`)
  }
}

async function messageIn(text: string, type: string, context: unknown): Promise<unknown> {
  const [{ isMessage }, { messageSource }] = await Promise.all([
    import('../../hl7v2/read.ts'),
    import('../../mapping/messages.ts'),
  ])
  return isMessage(text) ? messageSource(text, type, context) : parseJson(text)
}

/** The error with the line of the map that it is about. */
function errorText({ map, rule, line, column, reason, path }: MapError, files: readonly SourceFile[]): string {
  const text = files.find(each => each.path === map)?.text ?? ''
  const above = text.split('\n').slice(0, line - 1)
  const offset = above.reduce((sum, each) => sum + each.length + 1, column - 1)
  const length = /^[^\s,;]*/.exec(text.slice(offset))![0].length
  const message = `rule ${JSON.stringify(rule)}: ${reason}${path === undefined ? '' : ` (at ${path})`}`
  return render({ file: map, message, span: { offset, line, column, length } }, text)
}

function stepText({ site, depth, path, value }: Step, least: number): string {
  const { span, group, rule } = site
  // Of objects the place is enough: what is in them is read by further rules.
  const isShown = value !== undefined && !isObject(value)
  const found = path === undefined ? '' : `  ${path}${isShown ? ` = ${shortened(value)}` : ''}`
  return `${`${span.line}:${span.column}`.padStart(7)}  ${'  '.repeat(depth - least)}${group} ${JSON.stringify(rule)}${found}\n`
}

function stepJson({ site, depth, path, value }: Step): unknown {
  const { map, group, rule, span } = site
  return { file: map, line: span.line, column: span.column, group, rule, depth, path, value }
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}
