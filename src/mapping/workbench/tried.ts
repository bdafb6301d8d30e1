// What a map that is being written makes of an input: the output, the rules that ran, the examples, and what it covers.

import type { Block } from '../../fml/ast.ts'
import type { Program } from '../../fml/compile.ts'
import type { Step } from '../../fml/run/frame.ts'
import { MapError } from '../../fml/run/map-error.ts'
import { isMessageType } from '../../hl7v2/models.ts'
import { MessageError, textOf } from '../../hl7v2/problem.ts'
import { writeMessage } from '../../hl7v2/write.ts'
import { isObject } from '../../lib/json.ts'
import { coverageOf } from '../coverage.ts'
import { examplesIn } from '../examples.ts'
import { mapName, type SourceFile } from '../files.ts'
import { textSources } from '../job.ts'
import type { Mapping } from '../mapping.ts'
import type { MappingSet } from '../set.ts'
import { everTheSame } from '../trial.ts'
import type { Ask, RuleCount, StepLine, Stopped, Tried } from './asks.ts'
import { type Desk, setOf } from './desk.ts'
import { resultsOf } from './judged.ts'
import { markedOf } from './marked.ts'

type Try = Extract<Ask, { readonly kind: 'try' }>

/** Most steps that are listed. */
const MOST_STEPS = 500

/** Tries the draft: compiles it and the map that runs it, runs both on the input and on their examples. */
export function tried(desk: Desk, ask: Try): Tried {
  const start = performance.now()
  const { draft, files, inspect } = desk
  const own = draft ? mapName(draft.name) : ''
  const set = setOf(desk, ask.run === undefined ? [own] : [own, ask.run])
  const mapping = set.mappings.get(own)
  const runner = set.mappings.get(ask.run ?? own)
  const { byMap, problems } = examplesIn(
    files.filter(({ name }) => mapName(name.replace(/\.examples\.json$/, '')) === own),
  )
  const path = draft?.path ?? ''
  const about = [...set.problems, ...problems].filter(
    ({ file }) => file === path || file === path.replace(/\.(?:fml|map)$/, '.examples.json'),
  )
  const ran = runner?.program ? run(runner.program, ask, files) : NOTHING
  return {
    problems: markedOf(about, files),
    run: runner?.name ?? own,
    ...ran.result,
    invalid: runner?.program ? invalidIn(runner.program, ran, desk) : [],
    steps: ran.steps.slice(0, MOST_STEPS).map(each => stepLine(each, ran.steps[0]!.depth, files)),
    stepCount: ran.steps.length,
    rules: mapping && runner?.program ? rulesOf(mapping, ran.steps) : [],
    groups: mapping?.parsed.map.groups.map(({ name }) => ({ name: name.text, line: name.span.line })) ?? [],
    examples: mapping ? resultsOf(mapping, byMap.get(own) ?? [], inspect) : [],
    coverage: mapping && coverageOf(mapping, set.structures),
    runnable: mapping ? runnersOf(mapping, set) : [],
    takesContext: (runner?.program?.sources.length ?? 0) > 1,
    took: performance.now() - start,
  }
}

interface Ran {
  readonly result: Pick<Tried, 'output' | 'stopped' | 'logged'>
  readonly steps: readonly Step[]
  readonly sources: readonly unknown[]
  readonly made: unknown
}

const NOTHING: Ran = {
  result: { output: undefined, stopped: undefined, logged: [] },
  steps: [],
  sources: [],
  made: undefined,
}

function run(program: Program, { input, context }: Try, files: readonly SourceFile[]): Ran {
  const steps: Step[] = []
  const logged: string[] = []
  if (input.trim() === '') return NOTHING
  let sources: readonly unknown[] = []
  try {
    sources = textSources(program, [input, context.trim() === '' ? '{}' : context])
    const made = program.run([...sources], {
      // What is made becomes an example with one click.
      ...everTheSame(),
      trace: step => void steps.push(step),
      log: message => void logged.push(message),
      remark: message => void logged.push(message),
    })
    return { result: { output: written(made, program), stopped: undefined, logged }, steps, sources, made }
  } catch (error) {
    return { result: { output: undefined, stopped: stoppedBy(error, files), logged }, steps, sources, made: undefined }
  }
}

function written(made: unknown, program: Program): string {
  const target = program.targets[0]?.type
  return isMessageType(target)
    ? writeMessage(made as never, target).replace(/\r/g, '\n')
    : JSON.stringify(made, null, 2)
}

function stoppedBy(error: unknown, files: readonly SourceFile[]): Stopped {
  if (error instanceof MessageError) return { message: textOf(error.problem) }
  if (!(error instanceof MapError)) return { message: (error as Error).message }
  const { map, line, rule, path, reason } = error
  return { message: reason, file: nameOf(map, files), line, rule, ...(path !== undefined && { path }) }
}

const nameOf = (path: string, files: readonly SourceFile[]): string =>
  files.find(each => each.path === path)?.name ?? path

function invalidIn(program: Program, { sources, made, result }: Ran, { inspect }: Desk): string[] {
  const isText = isMessageType(program.sources[0]?.type)
  const before = sources.flatMap((each, index) =>
    index === 0 && isText ? [] : inspect(each, program.sources[index]?.type).map(fault => `input: ${fault}`),
  )
  const after = result.output === undefined ? [] : inspect(made, program.targets[0]?.type)
  return [...before, ...after.map(fault => `output: ${fault}`)]
}

function stepLine({ site, depth, path = '', value }: Step, least: number, files: readonly SourceFile[]): StepLine {
  const isShown = value !== undefined && !isObject(value)
  const text = isShown ? ` = ${JSON.stringify(value)}` : ''
  const { map, span, group, rule } = site
  const found = `${path}${text.length > 80 ? `${text.slice(0, 79)}…` : text}`
  return { file: nameOf(map, files), line: span.line, group, rule, depth: depth - least, found }
}

/** Every rule of a map, and how often it ran. */
function rulesOf({ parsed, source }: Mapping, steps: readonly Step[]): RuleCount[] {
  const counts = new Map<number, number>()
  for (const { site } of steps)
    if (site.map === source.path) counts.set(site.span.offset, (counts.get(site.span.offset) ?? 0) + 1)
  const rules = parsed.map.groups.flatMap(({ block }) => rulesIn(block))
  return rules.map(({ line, offset }) => ({ line, count: counts.get(offset) ?? 0 }))
}

function rulesIn({ rules }: Block): { line: number; offset: number }[] {
  return rules.flatMap(each => {
    const inner = each.kind === 'rule' && each.block ? rulesIn(each.block) : []
    return [{ line: each.span.line, offset: each.span.offset }, ...inner]
  })
}

/** The maps that can run a map: itself if its first group has types, and those that import it. */
function runnersOf(mapping: Mapping, { mappings }: MappingSet): string[] {
  const { url } = mapping.text
  const others = [...mappings.values()].filter(({ others }) => others.get(url ?? '')?.length)
  return [mapping.name, ...others.map(({ name }) => name).filter(name => name !== mapping.name)]
}
