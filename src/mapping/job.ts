// One transformation by a map that came with a request: all its input is text, so that it can run in a thread of its own, with a
// time limit.

import type { FmlMap } from '../fml/ast.ts'
import { urlOf } from '../fml/compile/unit.ts'
import { compileMap, type MapLibrary, type Program } from '../fml/compile.ts'
import { errorsIn, type Problem } from '../fml/problem.ts'
import type { Step } from '../fml/run/frame.ts'
import { MapError, type Site } from '../fml/run/map-error.ts'
import { toStructureMap } from '../fml/structure-map.ts'
import { unversioned } from '../fml/structures.ts'
import { MessageError, placeText } from '../hl7v2/problem.ts'
import { isMessage } from '../hl7v2/read.ts'
import { parseJson } from '../lib/json.ts'
import { shapes } from '../shapes/all.ts'
import type { SourceFile } from './files.ts'
import { matching } from './map-urls.ts'
import { messageSource } from './messages.ts'
import { resourcesIn } from './resources.ts'
import { readMap } from './study.ts'

export interface Job {
  /** The map that is run: in the mapping language, or a StructureMap in JSON. */
  readonly map: SourceFile
  /** Maps that it imports, logical models and concept maps, each as a file. */
  readonly others: readonly SourceFile[]
  /** The sources in JSON, or the first as a message of HL7 v2, in the order of the first group's parameters; what the map does not take is left out. */
  readonly sources: readonly string[]
  /** Record what every rule did. */
  readonly isTraced: boolean
}

/** A remark on the map or the data. */
export interface Remark {
  readonly severity: 'error' | 'warning'
  /** `file:line:column`, or the path in the data. */
  readonly place: string | undefined
  readonly message: string
}

export interface JobOutcome {
  readonly remarks: readonly Remark[]
  /** JSON, in lines where a trace is wanted; absent if something went wrong. */
  readonly result: string | undefined
  /** The map as a StructureMap in JSON, when traced. */
  readonly map: string | undefined
  readonly trace: readonly TraceLine[]
}

interface TraceLine {
  readonly level: 'debug' | 'info'
  readonly text: string
}

/** Most lines that are kept, and most characters of one: a value can be a document. */
const MOST_LINES = 10_000
const LONGEST_LINE = 1000

/** Most characters of a result: a map of some lines can repeat a text any number of times, and the service has to send what it makes. */
const LONGEST = 20_000_000

/** Compiles the map and runs it. Never throws for problems of the map or the data. */
export function runJob({ map, others, sources, isTraced }: Job): JobOutcome {
  const read = readMap(map)
  const resource = isTraced ? JSON.stringify(toStructureMap(read.map).resource) : undefined
  const failed = (remarks: readonly Remark[]): JobOutcome => ({ remarks, result: undefined, map: resource, trace: [] })
  const { library, problems } = libraryOf(others)
  const unread = errorsIn(read.problems)
  if (unread.length > 0) {
    const more = compileMap(read.map, library, { lenient: true, unread }).problems
    return failed([...read.problems, ...more].map(remarkOf))
  }
  if (problems.length > 0) return failed(problems.map(remarkOf))
  const { program, problems: found } = compileMap(read.map, library, { lenient: true })
  const remarks = [...read.problems, ...found].map(remarkOf)
  return program ? runProgram(program, { sources, isTraced }, remarks, resource) : failed(remarks)
}

/** Runs a compiled map; the remarks are those of its compilation. */
export function runProgram(
  program: Program,
  { sources, isTraced }: Pick<Job, 'sources' | 'isTraced'>,
  remarks: readonly Remark[],
  map: string | undefined,
  nameOf: NameOf = path => path,
): JobOutcome {
  const trace: TraceLine[] = []
  const said: Remark[] = [...remarks]
  const note = ({ level, text }: TraceLine): void => {
    if (trace.length >= MOST_LINES) return
    trace.push({ level, text: text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}…` : text })
  }
  try {
    const made = program.run(textSources(program, sources), {
      log: message => note({ level: 'info', text: message }),
      remark: (message, site) => said.push({ severity: 'warning', place: placeOf(site, nameOf), message }),
      trace: isTraced ? step => note({ level: 'debug', text: lineOf(step, nameOf) }) : undefined,
    })
    const result = JSON.stringify(made, null, isTraced ? 2 : undefined)
    if (result.length <= LONGEST) return { remarks: said, result, map, trace }
    const message = `the result has more than ${LONGEST} characters`
    return { remarks: [...said, { severity: 'error', place: undefined, message }], result: undefined, map, trace }
  } catch (error) {
    if (error instanceof MessageError) return { remarks: [...said, unreadable(error)], result: undefined, map, trace }
    if (!(error instanceof MapError)) throw error
    return { remarks: [...said, failure(error, nameOf)], result: undefined, map, trace }
  }
}

/** The sources of a map from their texts: JSON, or a message of HL7 v2, which is read as the structure that the map takes. */
export function textSources(program: Program, texts: readonly string[]): unknown[] {
  const [first, ...others] = texts.slice(0, program.sources.length)
  const more = others.map(parseJson)
  const type = program.sources[0]?.type
  const source = isMessage(first!) ? messageSource(first!, type ?? '', more[0]) : parseJson(first!)
  return [source, ...more]
}

/** Returns what is wrong with a message, at its segment and field. */
function unreadable({ problem }: MessageError): Remark {
  return { severity: 'error', place: placeText(problem), message: problem.message }
}

/** Returns the name for a map's file in answers: callers must not learn where the service keeps it. */
export type NameOf = (path: string) => string

function placeOf({ map, span }: Site, nameOf: NameOf): string {
  return `${nameOf(map)}:${span.line}:${span.column}`
}

/** Returns the error of a map that ran. */
function failure({ map, path, message }: MapError, nameOf: NameOf): Remark {
  return { severity: 'error', place: path, message: nameOf(map) + message.slice(map.length) }
}

/** One execution of a rule, as a line of a trace. */
function lineOf({ site, depth, path, value }: Step, nameOf: NameOf): string {
  const found = typeof value === 'object' && value !== null ? '{…}' : JSON.stringify(value)
  const about = path === undefined ? '' : ` ${path}${found === undefined ? '' : ` = ${found}`}`
  return `${'  '.repeat(depth)}${nameOf(site.map)}:${site.span.line} ${site.group} "${site.rule}"${about}`
}

/** A problem in the words of an answer. */
function remarkOf({ message, severity, span, file }: Problem): Remark {
  return {
    severity: severity ?? 'error',
    message,
    place: file === undefined ? undefined : `${file}:${span.line}:${span.column}`,
  }
}

function libraryOf(others: readonly SourceFile[]): { library: MapLibrary; problems: readonly Problem[] } {
  const isMap = ({ text }: SourceFile) =>
    !text.trimStart().startsWith('{') || /"resourceType"\s*:\s*"StructureMap"/.test(text)
  const { structures, tables, terminology, problems } = resourcesIn(
    others.filter(each => !isMap(each)),
    shapes,
  )
  const maps = new Map<string, FmlMap>()
  for (const file of others.filter(isMap)) {
    const { map } = readMap(file)
    const url = urlOf(map)
    if (url !== undefined) maps.set(url, map)
  }
  const library = {
    structures,
    maps: (url: string) => matching(maps, url),
    table: (url: string) => tables.get(unversioned(url)),
    terminology,
  }
  return { library, problems }
}
