// A record of the interface as a StructureDefinition. https://hl7.org/fhir/R4/structuredefinition.html#logical

import type { ElementModel } from '../definitions/model.ts'
import type { LogicalModel } from '../fml/structures.ts'
import type { JsonObject } from '../lib/json.ts'

const FHIR = 'http://hl7.org/fhir'

/** Gives the URL of a type that is another model; undefined for those of R4. */
type UrlOf = (type: string) => string | undefined

/** The logical model as a resource, and its code lists as value sets. */
export function modelResources(model: LogicalModel, urlOf: UrlOf = () => undefined): JsonObject[] {
  const { url, type, valueSets } = model
  return [
    modelResource(model, urlOf),
    ...[...valueSets].map(([canonical, codes]) => valueSet(canonical, url, type, codes)),
  ]
}

function modelResource({ url, type, types }: LogicalModel, urlOf: UrlOf): JsonObject {
  const byName = new Map(types.map(each => [each.name, each]))
  const elements: JsonObject[] = [{ id: type, path: type, min: 0, max: '*' }]
  const add = (path: string, name: string): void => {
    for (const element of byName.get(name)?.elements.values() ?? []) {
      const inner = `${path}.${element.name}`
      elements.push(elementResource(inner, element, byName, urlOf))
      for (const each of element.types) if (byName.has(each)) add(inner, each)
    }
  }
  add(type, type)
  return {
    resourceType: 'StructureDefinition',
    id: type.replaceAll('_', '-'),
    url,
    name: type,
    status: 'active',
    fhirVersion: '4.0.1',
    kind: 'logical',
    abstract: false,
    type: url,
    baseDefinition: `${FHIR}/StructureDefinition/Element`,
    derivation: 'specialization',
    differential: { element: elements },
  }
}

function elementResource(
  path: string,
  element: ElementModel,
  byName: ReadonlyMap<string, unknown>,
  urlOf: UrlOf,
): JsonObject {
  const { min, max, types, requiredValueSet, short } = element
  const type = types.map(each => ({ code: byName.has(each) ? 'BackboneElement' : (urlOf(each) ?? each) }))
  const binding = requiredValueSet && { strength: 'required', valueSet: requiredValueSet }
  return {
    id: path,
    path,
    ...(short !== undefined && { short }),
    min,
    max: max === Number.POSITIVE_INFINITY ? '*' : String(max),
    type,
    ...(binding && { binding }),
  }
}

function valueSet(canonical: string, url: string, type: string, codes: readonly string[]): JsonObject {
  const path = canonical.slice(canonical.indexOf('#') + 1)
  return {
    resourceType: 'ValueSet',
    id: `${type}.${path}`.replace(/[^A-Za-z0-9.-]/g, '-').slice(0, 64),
    url: canonical,
    status: 'active',
    compose: { include: [{ system: `${url}/${path}`, concept: codes.map(code => ({ code })) }] },
  }
}
