// A map as an R4 StructureMap resource. https://hl7.org/fhir/R4/structuremap.html

import type { StructureMap } from '@medplum/fhirtypes'
import type { ConceptMap, Constant, FmlMap, Group } from './ast.ts'
import { conceptMapResource, idOfConceptMap } from './concept-map-resource.ts'
import { settings } from './metadata-resource.ts'
import { pathText } from './pieces.ts'
import type { Problem } from './problem.ts'
import { clean, documentation, EXTENSIONS, type Json } from './resource-parts.ts'
import { ruleResources } from './rule-resource.ts'

export interface Made {
  readonly resource: StructureMap
  /** What the resource has no place for. */
  readonly problems: readonly Problem[]
}

const TYPE_MODES = { types: 'types', 'type+': 'type-and-types' } as const

/**
 * The StructureMap of a map: what the reference implementation makes, and extensions of R5 for what R4 has no element
 * for. Of comments it has those that describe a structure, a group or a rule. Names are not changed, though R4's ids
 * have no underscores: neither does the reference implementation, nor do published maps.
 */
export function toStructureMap(map: FmlMap): Made {
  const problems: Problem[] = []
  const set = settings(map.metadata, problems)
  const url = map.declaration?.url.text ?? set.url
  const name = map.declaration?.name.text ?? set.name
  const resource = clean({
    resourceType: 'StructureMap',
    id: set.id ?? idOf(name),
    ...set,
    contained: map.conceptMaps.map(each => conceptMapResource(each, problems)),
    extension: [...map.conceptMaps.map(related), ...map.constants.map(constant)],
    url,
    name,
    status: set.status ?? 'draft',
    structure: map.uses.map(({ url, alias, mode, around }) =>
      clean({ url: url.text, mode, alias: alias?.text, documentation: documentation(around.before, around.after) }),
    ),
    import: map.imports.map(each => each.url.text),
    group: map.groups.map(group),
  })
  return { resource: resource as unknown as StructureMap, problems }
}

function related(map: ConceptMap): Json {
  const resource = `#${idOfConceptMap(map)}`
  return { url: EXTENSIONS.related, valueRelatedArtifact: { type: 'depends-on', resource } }
}

function constant({ name, value }: Constant): Json {
  const parts = [
    { url: 'name', valueId: name.text },
    { url: 'value', valueString: value.text },
  ]
  return { url: EXTENSIONS.constant, extension: parts }
}

/** The id that the reference implementation makes of a name. */
export function idOf(name: unknown): string | undefined {
  const id = typeof name === 'string' ? name.replace(/[^A-Za-z0-9.-]/g, '').slice(0, 64) : ''
  return id === '' ? undefined : id
}

function group({ name, parameters, extends: base, typeMode, block, around }: Group): Json {
  return clean({
    name: name.text,
    extends: base?.text,
    typeMode: typeMode ? TYPE_MODES[typeMode] : 'none',
    documentation: documentation(around.before, block.inside.opening, around.after),
    input: parameters.map(each =>
      clean({
        name: each.name.text,
        type: each.type && pathText(each.type),
        mode: each.mode,
        documentation: documentation(each.around.before, each.around.after),
      }),
    ),
    rule: block.rules.flatMap(ruleResources),
  })
}
