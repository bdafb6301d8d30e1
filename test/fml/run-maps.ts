// Small maps between two records and R4, compiled and run, for tests of what maps do.

import { Type } from 'typebox'
import { expect } from 'vitest'
import type { FmlMap } from '../../src/fml/ast.ts'
import { tableOfResource } from '../../src/fml/compile/table.ts'
import { type Compiled, type CompileOptions, compileMap, type MapLibrary, type Program } from '../../src/fml/compile.ts'
import { fromStructureMap } from '../../src/fml/from-structure-map.ts'
import { modelFromSchema } from '../../src/fml/logical-schema.ts'
import { parse } from '../../src/fml/parser.ts'
import { render } from '../../src/fml/render.ts'
import type { RunOptions } from '../../src/fml/run/frame.ts'
import { MapError } from '../../src/fml/run/map-error.ts'
import { toStructureMap } from '../../src/fml/structure-map.ts'
import { structures } from '../../src/fml/structures.ts'
import { terminologyOf } from '../../src/fml/value-set.ts'
import { parseJson } from '../../src/lib/json.ts'

const base = 'http://example.org'
const text = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const severity = Type.Optional(Type.Union([Type.Enum(['mild', 'moderate', 'severe']), Type.Null()]))

const fields = {
  text,
  other: text,
  number: Type.Optional(Type.Integer()),
  amount: Type.Optional(Type.Number()),
  flag: Type.Optional(Type.Boolean()),
  day: Type.Optional(Type.String({ format: 'date' })),
  moment: Type.Optional(Type.String({ format: 'date-time' })),
  severity,
  texts: Type.Optional(Type.Array(Type.String())),
  numbers: Type.Optional(Type.Array(Type.Integer())),
}

const item = {
  code: text,
  system: text,
  value: Type.Optional(Type.Number()),
  tags: Type.Optional(Type.Array(Type.String())),
}

const record = (name: string) =>
  Type.Object(
    { ...fields, item: Type.Optional(Type.Object(item)), items: Type.Optional(Type.Array(Type.Object(item))) },
    { $id: name },
  )

/** R4 and the records `In` and `Out`, which have the same elements. */
const known = structures([record('In'), record('Out')].map(each => modelFromSchema(each, base)))

export interface Around {
  /** What stands before the groups: concept maps, imports, constants. */
  readonly before?: string
  /** Further groups. */
  readonly after?: string
  readonly from?: string
  readonly to?: string
  /** Maps that can be imported, by URL; `*` stands for anything. */
  readonly maps?: readonly string[]
  /** ConceptMap resources. */
  readonly tables?: readonly { readonly url: string; readonly [element: string]: unknown }[]
  /** ValueSet and CodeSystem resources. */
  readonly terms?: readonly { readonly url: string; readonly [element: string]: unknown }[]
  readonly options?: CompileOptions
}

/** The text of a map whose first group has these rules. */
export function mapText(rules: string, { before = '', after = '', from = 'In', to = 'Out' }: Around = {}): string {
  return `/// url = '${base}/m'
/// name = 'M'

${before}
uses "${base}/In" alias In as source
uses "${base}/Out" alias Out as target

group Main(source src : ${from}, target tgt : ${to}) {
${rules}
}
${after}`
}

export function libraryOf({ maps = [], tables = [], terms = [] }: Around = {}): MapLibrary {
  const parsed = maps.map((each, index) => parse(each, `imported-${index + 1}.fml`).map)
  const urlOf = (map: FmlMap) => map.metadata.find(each => each.path.names[0]!.text === 'url')?.value?.text ?? ''
  const matches = (pattern: string, url: string) =>
    pattern.includes('*') ? url.startsWith(pattern.split('*')[0]!) : url === pattern
  const terminology = terminologyOf(new Map(terms.map(each => [each.url, each])), known.valueSet)
  return {
    structures: known,
    terminology,
    maps: url => parsed.filter(each => matches(url, urlOf(each))),
    table: url => {
      const found = tables.find(each => each.url === url)
      return found && tableOfResource(found)
    },
  }
}

/** Compiles a text that has to be read without a problem. */
export function compileText(whole: string, around: Around = {}): Compiled {
  const { map, problems } = parse(whole, 'm.fml')
  if (problems.length > 0) throw new Error(problems.map(each => render(each, whole)).join('\n'))
  return compileMap(map, libraryOf(around), { lenient: true, ...around.options })
}

/**
 * What a whole map makes of a source, or of several. The map as a StructureMap must make the same of it, or refuse it
 * too.
 */
export function runText(whole: string, source: unknown, around: Around = {}, options?: RunOptions): unknown {
  const { program, problems } = compileText(whole, around)
  if (!program) throw new Error(problems.map(each => render(each, whole)).join('\n'))
  const sources = Array.isArray(source) ? source : [source]
  const result = outcome(program, sources, options)
  if (!options)
    expect(reasonIn(outcome(asResource(whole, around), sources)), 'as a StructureMap').toEqual(reasonIn(result))
  if (result instanceof MapError) throw result
  return result
}

function outcome(program: Program, sources: readonly unknown[], options?: RunOptions): unknown {
  try {
    return program.run(sources, options)
  } catch (error) {
    if (error instanceof MapError) return error
    throw error
  }
}

/** Of errors what they say: their places are not in the resource. */
function reasonIn(result: unknown): unknown {
  return result instanceof MapError ? result.reason : result
}

function asResource(whole: string, around: Around): Program {
  const { resource } = toStructureMap(parse(whole).map)
  const { map, problems } = fromStructureMap(parseJson(JSON.stringify(resource)))
  const compiled = compileMap(map, libraryOf(around), { lenient: true, ...around.options })
  if (!compiled.program) throw new Error([...problems, ...compiled.problems].map(each => each.message).join('\n'))
  return compiled.program
}

/** What these rules make of a source. */
export function made(rules: string, source: unknown, around: Around = {}, options?: RunOptions): unknown {
  return runText(mapText(rules, around), source, around, options)
}

/** Why these rules cannot be run on a source. */
export function refusal(rules: string, source: unknown, around: Around = {}): MapError {
  try {
    made(rules, source, around)
  } catch (error) {
    if (error instanceof MapError) return error
    throw error
  }
  throw new Error('the map runs')
}

/** What is said of these rules, but for elements that nothing sets. */
export function problemsOf(rules: string, around: Around = {}): string[] {
  const whole = mapText(rules, around)
  const { problems: unread } = parse(whole)
  const { problems } = unread.length > 0 ? { problems: unread } : compileText(whole, around)
  return problems.map(each => each.message).filter(each => !each.endsWith('which no rule sets'))
}
