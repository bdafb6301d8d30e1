// Which resources become messages of HL7 v2, by which map: `hl7v2/messages-out.json` beside the maps.

import { isResourceType, searchParams } from '../definitions/r4.ts'
import type { Problem } from '../fml/problem.ts'
import { isMessageType } from '../hl7v2/models.ts'
import { isObject } from '../lib/json.ts'
import { nearest } from '../lib/nearest.ts'
import type { SourceFile } from './files.ts'
import { jsonOf, placeOf, problemIn } from './json-file.ts'
import type { Mapping } from './mapping.ts'

/** One type of resource that is sent as a message. */
export interface OutgoingRoute {
  readonly resource: string
  /** The name of its map: `hl7v2/oml-o21-from-fhir`. It reads the resource, or a Bundle of the resource and those it includes. */
  readonly map: string
  /** What belongs to the message, as `_include` of a search names it: `ServiceRequest:specimen`. */
  readonly include: readonly string[]
}

const FILE = 'hl7v2/messages-out.json'
const MEMBERS = ['resource', 'map', 'include']
/** Most kinds of resources that one message is made of. */
const MOST_INCLUDED = 20

/** Reads the routes by type of resource; there are none where the folder has no such file. */
export function outgoingIn(
  files: readonly SourceFile[],
  mappings: ReadonlyMap<string, Mapping>,
): { readonly routes: ReadonlyMap<string, OutgoingRoute>; readonly problems: readonly Problem[] } {
  const file = files.find(({ name }) => name === FILE)
  const routes = new Map<string, OutgoingRoute>()
  if (!file) return { routes, problems: [] }
  const read = jsonOf(file)
  if ('problem' in read) return { routes, problems: [read.problem] }
  if (!Array.isArray(read.value))
    return { routes, problems: [problemIn(file, 'the resources are a list: `[{ "resource": "ServiceRequest", … }]`')] }
  const problems = read.value.flatMap((each: unknown, index) => {
    const message = fault(each, routes, mappings)
    const name = isObject(each) && typeof each['resource'] === 'string' ? each['resource'] : undefined
    if (message === undefined) {
      routes.set(name!, { include: [], ...(each as Omit<OutgoingRoute, 'include'>) })
      return []
    }
    const place = name === undefined ? undefined : placeOf(file, 'resource', name)
    return [problemIn(file, `resource ${name ?? index + 1}: ${message}`, place)]
  })
  return { routes, problems }
}

function fault(
  value: unknown,
  routes: ReadonlyMap<string, OutgoingRoute>,
  mappings: ReadonlyMap<string, Mapping>,
): string | undefined {
  if (!isObject(value)) return 'this is not an object'
  const unknown = Object.keys(value).find(key => !MEMBERS.includes(key))
  if (unknown !== undefined) return `there is no \`${unknown}\` here; a resource has ${MEMBERS.join(', ')}`
  const { resource, map, include = [] } = value
  if (typeof resource !== 'string' || !isResourceType(resource)) return '`resource` is a type of R4: ServiceRequest'
  if (routes.has(resource)) return 'it is listed twice'
  if (typeof map !== 'string' || !mappings.has(map)) {
    const meant = nearest(String(map), [...mappings.keys()])
    return `there is no map ${String(map)}${meant === undefined ? '' : `; did you mean ${meant}?`}`
  }
  const program = mappings.get(map)!.program
  const isFitting = [resource, 'Bundle'].includes(program?.sources[0]?.type ?? '')
  if (program && !(isFitting && isMessageType(program.targets[0]?.type)))
    return `the map ${map} does not convert ${resource} or Bundle to a message`
  if (!Array.isArray(include) || include.length > MOST_INCLUDED)
    return `\`include\` lists up to ${MOST_INCLUDED} references: ["${resource}:patient"]`
  const wrong = include.find(each => !isInclude(each))
  return wrong === undefined ? undefined : `\`include\`: ${String(wrong)} is no reference that R4 can search by`
}

function isInclude(value: unknown): boolean {
  const [type = '', param = '', ...rest] = String(value).split(':')
  if (!isResourceType(type) || rest.length > 1) return false
  return searchParams(type).get(param)?.type === 'reference'
}
