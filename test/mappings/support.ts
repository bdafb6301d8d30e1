// The maps of the service with their examples, compiled as the service compiles them.

import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { FmlMap } from '../../src/fml/ast.ts'
import { type Compiled, compileMap, type MapLibrary } from '../../src/fml/compile.ts'
import { modelFromSchema } from '../../src/fml/logical-schema.ts'
import { parse } from '../../src/fml/parser.ts'
import type { Problem } from '../../src/fml/problem.ts'
import { structures } from '../../src/fml/structures.ts'
import { type JsonObject, parseJson } from '../../src/lib/json.ts'
import { shapes } from '../../src/shapes/all.ts'

export const folder = resolve(import.meta.dirname, '../../mappings')

export interface Example {
  readonly name: string
  readonly from: JsonObject
  readonly context?: JsonObject
  readonly to: JsonObject
  /** Whose data it is, and its licence, where it was not written for this project. */
  readonly origin?: string
}

export interface Mapped {
  /** `allergy-to-fhir` */
  readonly name: string
  readonly text: string
  readonly map: FmlMap
  readonly problems: readonly Problem[]
  readonly compiled: Compiled
  readonly examples: readonly Example[]
}

const models = shapes.map(shape => modelFromSchema(shape, 'https://health-interop.org/fhir/StructureDefinition'))
const library: MapLibrary = { structures: structures(models), maps: () => [], table: () => undefined }

function read(file: string): Mapped {
  const text = readFileSync(join(folder, file), 'utf8')
  const name = file.replace(/\.fml$/, '')
  const { map, problems } = parse(text, file)
  const examples = parseJson(readFileSync(join(folder, `${name}.examples.json`), 'utf8')) as Example[]
  return { name, text, map, problems, compiled: compileMap(map, library), examples }
}

/** All maps, by name. */
export const maps: readonly Mapped[] = readdirSync(folder)
  .filter(file => file.endsWith('.fml'))
  .toSorted()
  .map(read)

/** What a map makes of a record or resource, as JSON carries it. */
export function translate({ compiled }: Mapped, from: JsonObject, context?: JsonObject): JsonObject {
  const program = compiled.program!
  const sources = program.sources.length > 1 ? [from, context] : [from]
  return parseJson(JSON.stringify(program.run(sources))) as JsonObject
}

/** The map that leads the other way. */
export function wayBack({ name }: Mapped): Mapped | undefined {
  return maps.find(each => each.name === name.replace('-to-', '-from-'))
}
