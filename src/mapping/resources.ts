// FHIR resources stored next to maps: logical models as StructureDefinitions, codes as ConceptMaps.
// https://hl7.org/fhir/R4/structuredefinition.html · https://hl7.org/fhir/R4/conceptmap.html

import type { TObject } from 'typebox'
import { type Table, tableOfResource } from '../fml/compile/table.ts'
import { modelFromStructureDefinition } from '../fml/logical.ts'
import { modelFromSchema } from '../fml/logical-schema.ts'
import type { Problem } from '../fml/problem.ts'
import { type LogicalModel, type Structures, structures, unversioned } from '../fml/structures.ts'
import { type Terminology, terminologyOf } from '../fml/value-set.ts'
import { messageModels } from '../hl7v2/models.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { isExamples } from './examples.ts'
import type { SourceFile } from './files.ts'
import { jsonOf, placeOf, problemIn } from './json-file.ts'

/** What the URLs of all that is our own begin with. */
export const OWN = 'https://health-interop.org/fhir'

/** What the URLs of the record shapes begin with. */
export const SHAPES = `${OWN}/StructureDefinition`

export interface Resources {
  /** R4, the shapes, and the models; without the models if something is wrong with these. */
  readonly structures: Structures
  /** Concept maps by URL. */
  readonly tables: ReadonlyMap<string, Table>
  /** Value sets and code systems, those of R4 and of the shapes too. */
  readonly terminology: Terminology
  readonly problems: readonly Problem[]
}

/** Returns what the JSON files of a folder define for its maps. Those that are neither models nor concept maps are ignored here. */
export function resourcesIn(files: readonly SourceFile[], shapes: readonly TObject[]): Resources {
  const problems: Problem[] = []
  const models = new Map<LogicalModel, SourceFile>()
  const tables = new Map<string, Table>()
  const terms = new Map<string, JsonObject>()
  for (const file of files.filter(each => each.name.endsWith('.json') && !isExamples(each))) {
    const resource = resourceOf(file, problems)
    if (resource?.['resourceType'] === 'StructureDefinition') {
      const model = modelOf(resource, file, problems)
      if (model) models.set(model, file)
    }
    if (resource?.['resourceType'] === 'ConceptMap') addTable(tables, resource, file, problems)
    if (isTerm(resource)) addTerm(terms, resource, file, problems)
  }
  const structures = joined(shapes, models, problems)
  return { structures, tables, terminology: terminologyOf(terms, structures.valueSet), problems }
}

function resourceOf(file: SourceFile, problems: Problem[]): JsonObject | undefined {
  const read = jsonOf(file)
  if ('problem' in read) problems.push(read.problem)
  else if (isObject(read.value)) return read.value
  return undefined
}

function modelOf(resource: JsonObject, file: SourceFile, problems: Problem[]): LogicalModel | undefined {
  try {
    return modelFromStructureDefinition(resource)
  } catch (error) {
    problems.push(problemIn(file, (error as Error).message))
    return undefined
  }
}

function addTable(tables: Map<string, Table>, resource: JsonObject, file: SourceFile, problems: Problem[]): void {
  const { url } = resource
  if (typeof url !== 'string' || url === '') problems.push(problemIn(file, 'the ConceptMap has no `url`'))
  else if (tables.has(url))
    problems.push(problemIn(file, `another ConceptMap has the URL \`${url}\``, placeOf(file, 'url', url)))
  else tables.set(unversioned(url), tableOfResource(resource))
}

function isTerm(resource: JsonObject | undefined): resource is JsonObject {
  return resource?.['resourceType'] === 'ValueSet' || resource?.['resourceType'] === 'CodeSystem'
}

function addTerm(terms: Map<string, JsonObject>, resource: JsonObject, file: SourceFile, problems: Problem[]): void {
  const { url, resourceType } = resource
  if (typeof url !== 'string' || url === '') problems.push(problemIn(file, `the ${resourceType} has no \`url\``))
  else if (terms.has(url))
    problems.push(problemIn(file, `another ${resourceType} has the URL \`${url}\``, placeOf(file, 'url', url)))
  else terms.set(url, resource)
}

function joined(
  shapes: readonly TObject[],
  models: ReadonlyMap<LogicalModel, SourceFile>,
  problems: Problem[],
): Structures {
  const own = shapes.map(each => modelFromSchema(each, SHAPES))
  try {
    return structures([...own, ...messageModels(), ...models.keys()])
  } catch (error) {
    for (const message of (error as Error).message.split('\n')) problems.push(attributed(message, models))
    return structures([...own, ...messageModels()])
  }
}

/** A message about models begins with the URL or the type it is about. */
function attributed(message: string, models: ReadonlyMap<LogicalModel, SourceFile>): Problem {
  const all = [...models]
  const about =
    all.find(([{ url }]) => message.startsWith(`${url}:`)) ??
    all.find(([{ types }]) =>
      types.some(({ name }) => message.startsWith(`${name}:`) || message.startsWith(`${name}.`)),
    )
  const [, file] = about ?? all[0]!
  return problemIn(file, message)
}
