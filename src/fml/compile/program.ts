// A map that can run: from its sources to its result, or to the error that names where it stopped.

import type { Items, Typed } from '../../fhirpath/compile.ts'
import { FhirPathError } from '../../fhirpath/errors.ts'
import { isObject } from '../../lib/json.ts'
import { finish } from '../run/finish.ts'
import { type Json, newFrame, newRun, type Run, type RunOptions } from '../run/frame.ts'
import { Exhausted, MapError, Refusal, type Site } from '../run/map-error.ts'
import { answersOf } from './asked.ts'
import { freshOf } from './create.ts'
import type { Build, Given, GroupCode, GroupPlace } from './scope.ts'
import { nameOf, urlOf } from './unit.ts'

interface End {
  readonly name: string
  /** Undefined where any structure may be. */
  readonly type: string | undefined
}

/** What a map that can run says of itself. */
export interface ProgramEnds {
  readonly url: string | undefined
  readonly name: string | undefined
  /** The file, or the name or URL. */
  readonly label: string
  readonly sources: readonly End[]
  readonly targets: readonly End[]
}

/** A map that can run. */
export interface Program extends ProgramEnds {
  /**
   * Returns the result of the first group for its sources, in their order; the sources are not changed. Throws a MapError where the
   * data cannot be mapped.
   */
  run(sources: readonly unknown[], options?: RunOptions): Json
}

const NOTHING: RunOptions = Object.freeze({})

/** The program of a map whose first group is compiled for these parameters. */
export function programOf(place: GroupPlace, given: readonly Given[], code: GroupCode, build: Build): Program {
  const { unit, group } = place
  const ends = group.parameters.map(({ name }, index) => endOf(name.text, given[index]!))
  const sources = ends.filter((_, index) => given[index]!.kind === 'source')
  const targets = ends.filter((_, index) => given[index]!.kind !== 'source')
  const isSource = given.map(({ kind }) => kind === 'source')
  const site: Site = { map: unit.label, group: group.name.text, rule: '', span: group.name.span }
  const fresh = targets.map(({ type }) => rootOf(type, build))
  const answers = answersOf(build)
  const attempt = (inputs: readonly unknown[], options: RunOptions, isPlaced: boolean): Json => {
    const made = fresh.map(make => make())
    const run = newRun(options === NOTHING ? answers : { ...answers, ...options }, { inputs, made }, build.untrusted)
    const items = inputs.map((input, index) => rootItem(input, sources[index]!, isPlaced, build, site))
    let [source, target] = [0, 0]
    const args = isSource.map(each => (each ? [items[source++]] : made[target++]))
    try {
      code.run(newFrame(run, []), args)
      return finish(made[0]!, run)
    } catch (error) {
      throw located(error, run, site)
    }
  }
  return {
    url: urlOf(unit.map),
    name: nameOf(unit.map),
    label: unit.label,
    sources,
    targets,
    run(inputs, options = NOTHING) {
      if (inputs.length !== sources.length) throw new MapError(wrongCount(sources, inputs.length), site, undefined)
      try {
        return attempt(inputs, options, options.trace !== undefined)
      } catch (error) {
        throw explained(error, () => attempt(inputs, silent(options), true))
      }
    },
  }
}

function endOf(name: string, given: Given): End {
  return { name, type: given.kind === 'source' ? given.types?.[0] : given.type }
}

function wrongCount(sources: readonly End[], count: number): string {
  const names = sources.map(({ name }) => name).join(', ')
  const all = sources.length === 1 ? `one source (${names})` : `${sources.length} sources (${names})`
  return `the map takes ${all}, and ${count} ${count === 1 ? 'is' : 'are'} given`
}

/** The same error with its place in the data: places are not kept track of until something goes wrong. */
function explained(error: unknown, again: () => unknown): unknown {
  if (!(error instanceof MapError) || error.path !== undefined || error.cause instanceof Exhausted) return error
  try {
    again()
  } catch (same) {
    if (same instanceof MapError) return same
  }
  return error
}

/** Adds to an error the rule, and the value, at which it occurred. */
function located(error: unknown, { mark, frame }: Run, site: Site): MapError {
  const path = error instanceof Refusal ? error.path : undefined
  const items = mark?.slot === undefined ? undefined : (frame?.vars[mark.slot] as Items | undefined)
  return new MapError(reasonOf(error), mark?.site ?? site, path ?? items?.[0]?.path, error)
}

function reasonOf(error: unknown): string {
  if (error instanceof Refusal) return error.message
  if (error instanceof FhirPathError) return error.message.replace(/^line \d+, column \d+: /, '')
  if (error instanceof RangeError) return 'the data is too large or nested too deeply'
  return 'the data does not have the form that the map expects'
}

/** Options for a run whose log and trace have been reported already. */
function silent(options: RunOptions): RunOptions {
  return { ...options, log: undefined, trace: undefined }
}

/** Returns the root of the result; a logical model that declares it begins with `resourceType` too. */
function rootOf(type: string | undefined, { system }: Build): () => Json {
  if (type === undefined) return () => ({})
  return system.model.typeModel(type)?.kind === 'resource' ? () => ({ resourceType: type }) : freshOf(system, type)
}

function rootItem(input: unknown, { name, type }: End, isPlaced: boolean, { system }: Build, site: Site): Typed {
  if (!isObject(input)) throw new MapError(`the source \`${name}\` must be a JSON object`, site, undefined)
  const own = typeof input.resourceType === 'string' ? input.resourceType : undefined
  const known = own !== undefined && system.model.typeModel(own) ? own : undefined
  const isFor = own === type || (known !== undefined && type !== undefined && system.isSubtype(known, type))
  if (type !== undefined && own !== undefined && !isFor)
    throw new MapError(`the source \`${name}\` must be a ${type}, not a ${own.slice(0, 64)}`, site, undefined)
  const actual = type ?? known ?? ''
  return { value: input, type: actual, path: isPlaced ? actual || name : undefined, sibling: undefined }
}
