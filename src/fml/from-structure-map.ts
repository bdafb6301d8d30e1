// An R4 StructureMap resource as a map. https://hl7.org/fhir/R4/structuremap.html

import type { Constant, FmlMap, Group, Name, Parameter, Uses } from './ast.ts'
import { conceptMapFrom } from './concept-map-resource.ts'
import { ruleFrom } from './from-rule.ts'
import { settingsFrom } from './metadata-resource.ts'
import type { Parsed } from './parser.ts'
import { NOWHERE, type Problem } from './problem.ts'
import {
  around,
  EXTENSIONS,
  expressionOf,
  extended,
  isJson,
  type Json,
  nameOf,
  namesIn,
  objects,
  pathOf,
  string,
  textOf,
} from './resource-parts.ts'
import { idOf } from './structure-map.ts'

/**
 * The map that a StructureMap holds; its tree has no places. What cannot be understood, such as an expression that is
 * not FHIRPath, is reported and left out. Never throws.
 */
export function fromStructureMap(resource: unknown): Parsed {
  const problems: Problem[] = []
  const json = isJson(resource) && resource.resourceType === 'StructureMap' ? resource : undefined
  if (!json) problems.push({ message: 'this is not a StructureMap', span: NOWHERE })
  return { map: mapFrom(json ?? {}, problems), problems }
}

function mapFrom(json: Json, problems: Problem[]): FmlMap {
  const imports = Array.isArray(json.import) ? json.import.filter(each => typeof each === 'string') : []
  return {
    kind: 'map',
    metadata: settingsFrom(json, idOf(json.name)),
    conceptMaps: objects(json.contained)
      .filter(each => each.resourceType === 'ConceptMap')
      .map(conceptMapFrom),
    uses: objects(json.structure).map(usesFrom),
    imports: imports.map(url => ({ kind: 'import', url: textOf(url), around: around(), span: NOWHERE })),
    constants: [
      ...extended(json, EXTENSIONS.constant).flatMap(each => constantFrom(each, problems)),
      ...objects(json.const).flatMap(each => constantOf(each.name, each.value, problems)),
    ],
    groups: objects(json.group).map(each => groupFrom(each, problems)),
    closing: [],
    span: NOWHERE,
  }
}

const MODES = ['source', 'queried', 'target', 'produced'] as const

function usesFrom({ url, alias, mode, documentation }: Json): Uses {
  return {
    kind: 'uses',
    url: textOf(string(url) ?? ''),
    alias: optionalName(alias),
    mode: MODES.find(each => each === mode) ?? 'source',
    around: around(documentation),
    span: NOWHERE,
  }
}

function optionalName(value: unknown): Name | undefined {
  const text = string(value)
  return text === undefined ? undefined : nameOf(text)
}

function constantFrom(extension: Json, problems: Problem[]): Constant[] {
  const part = (url: string) => objects(extension.extension).find(each => each.url === url)
  return constantOf(part('name')?.valueId, part('value')?.valueString, problems)
}

/** As R5 has it: a name and an expression. */
function constantOf(given: unknown, written: unknown, problems: Problem[]): Constant[] {
  const name = string(given)
  const value = expressionOf(string(written) ?? '', problems)
  return name && value ? [{ kind: 'constant', name: nameOf(name), value, around: around(), span: NOWHERE }] : []
}

function groupFrom(json: Json, problems: Problem[]): Group {
  const rules = objects(json.rule).map(each => ruleFrom(each, problems, 0))
  return {
    kind: 'group',
    name: nameOf(string(json.name) ?? ''),
    parameters: objects(json.input).map(parameterFrom),
    extends: optionalName(json.extends),
    typeMode: json.typeMode === 'types' ? 'types' : json.typeMode === 'type-and-types' ? 'type+' : undefined,
    block: { kind: 'block', rules, inside: { opening: [], closing: [] }, span: NOWHERE },
    around: around(json.documentation),
    span: NOWHERE,
  }
}

function parameterFrom({ mode, name, type, documentation }: Json): Parameter {
  return {
    kind: 'parameter',
    mode: mode === 'target' ? 'target' : 'source',
    name: nameOf(string(name) ?? ''),
    type: string(type) ? pathOf(...namesIn(string(type)!)) : undefined,
    around: around(documentation),
    span: NOWHERE,
  }
}
