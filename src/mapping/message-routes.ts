// Which messages of HL7 v2 are accepted, and the map of each: `hl7v2/messages.json` beside the maps.

import type { Problem } from '../fml/problem.ts'
import { segments } from '../hl7v2/dictionary.ts'
import { messageStructures } from '../hl7v2/structures.ts'
import { isObject } from '../lib/json.ts'
import { nearest } from '../lib/nearest.ts'
import type { SourceFile } from './files.ts'
import { jsonOf, placeOf, problemIn } from './json-file.ts'
import type { Mapping } from './mapping.ts'

/** One kind of message. */
export interface MessageRoute {
  /** MSH-9.1 and MSH-9.2: `ORU^R01`. */
  readonly message: string
  /** MSH-21.1, where only messages of this profile go this way. */
  readonly profile?: string
  /** The structure that it is read as, whatever MSH-9.3 says. */
  readonly structure: string
  /** The name of its map: `hl7v2/oru-r01-to-fhir`. */
  readonly map: string
  /** Segments that it must have, and fields that each segment of their name must have: `PID`, `OBX-3`. */
  readonly required: readonly string[]
}

export interface Routes {
  readonly routes: readonly MessageRoute[]
  readonly problems: readonly Problem[]
}

const FILE = 'hl7v2/messages.json'
const MEMBERS = ['message', 'profile', 'structure', 'map', 'required']

/** Reads the routes; there are none where the folder has no such file. */
export function routesIn(files: readonly SourceFile[], mappings: ReadonlyMap<string, Mapping>): Routes {
  const file = files.find(({ name }) => name === FILE)
  if (!file) return { routes: [], problems: [] }
  const read = jsonOf(file)
  if ('problem' in read) return { routes: [], problems: [read.problem] }
  const list: readonly unknown[] | undefined = Array.isArray(read.value) ? read.value : undefined
  if (!list)
    return { routes: [], problems: [problemIn(file, 'the messages are a list: `[{ "message": "ORU^R01", … }]`')] }
  const routes: MessageRoute[] = []
  const problems = list.flatMap((each, index) => {
    const message = fault(each, mappings)
    if (message === undefined) {
      const route = each as Omit<MessageRoute, 'required'> & Partial<MessageRoute>
      routes.push({ ...route, required: route.required ?? [] })
      return []
    }
    const name = isObject(each) && typeof each['message'] === 'string' ? each['message'] : undefined
    const place = name === undefined ? undefined : placeOf(file, 'message', name)
    return [problemIn(file, `message ${name ?? index + 1}: ${message}`, place)]
  })
  return { routes, problems }
}

function fault(value: unknown, mappings: ReadonlyMap<string, Mapping>): string | undefined {
  if (!isObject(value)) return 'this is not an object'
  const unknown = Object.keys(value).find(key => !MEMBERS.includes(key))
  if (unknown !== undefined) return `there is no \`${unknown}\` here; a message has ${MEMBERS.join(', ')}`
  const { message, structure, map, profile, required = [] } = value
  if (typeof message !== 'string' || !/^[A-Z]{3}\^(?:[A-Z][A-Z0-9]{2}|\*)$/.test(message))
    return '`message` is type and event, such as ORU^R01, or ADT^* for all other events'
  if (profile !== undefined && typeof profile !== 'string') return '`profile` is a text'
  if (typeof structure !== 'string' || !messageStructures.has(structure))
    return `\`structure\` is one of ${[...messageStructures.keys()].join(', ')}`
  if (typeof map !== 'string' || !mappings.has(map)) {
    const meant = nearest(String(map), [...mappings.keys()])
    return `there is no map ${String(map)}${meant === undefined ? '' : `; did you mean ${meant}?`}`
  }
  const program = mappings.get(map)!.program
  if (program && (program.sources[0]?.type !== structure || program.targets[0]?.type !== 'Bundle'))
    return `the map ${map} does not convert ${structure} to Bundle`
  const wrong = Array.isArray(required) ? required.find(each => !isPlace(each)) : required
  if (wrong === undefined) return undefined
  const entry = Array.isArray(required) ? `; ${JSON.stringify(wrong)} is neither` : ''
  return `\`required\` lists segments and fields: ["PID", "OBX-3"]${entry}`
}

function isPlace(value: unknown): boolean {
  const [, segment, field] = /^([A-Z][A-Z0-9]{2})(?:-(\d+))?$/.exec(String(value)) ?? []
  if (segment === undefined) return false
  return field === undefined || (segments.get(segment)?.length ?? 0) >= Number(field)
}

/** The route of a message; one of its profile comes before one without, one of its event before one of all. */
export function routeOf(
  routes: readonly MessageRoute[],
  type: string,
  event: string,
  profile: string | undefined,
): MessageRoute | undefined {
  const fitting = (message: string) =>
    routes.filter(each => each.message === message && (each.profile === undefined || each.profile === profile))
  const best = (found: readonly MessageRoute[]) => found.find(each => each.profile !== undefined) ?? found[0]
  return best(fitting(`${type}^${event}`)) ?? best(fitting(`${type}^*`))
}
