// HL7 v2 messages to FHIR: read, routed to their map, and translated, or refused with segment and field.

import { createHash } from 'node:crypto'
import type { Program } from '../fml/compile.ts'
import { MapError } from '../fml/run/map-error.ts'
import { dataTypes, segments as dictionary } from '../hl7v2/dictionary.ts'
import { messageType } from '../hl7v2/header.ts'
import { MessageError, type MessageProblem, placeText, textOf } from '../hl7v2/problem.ts'
import { type RawMessage, readMessage } from '../hl7v2/read.ts'
import { zoneOf } from '../hl7v2/time.ts'
import { type Tree, treeOf } from '../hl7v2/tree.ts'
import { statesNoNumber } from '../hl7v2/value.ts'
import { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import type { Context } from '../shapes/context.ts'
import type { Mapping } from './mapping.ts'
import type { Mappings } from './mappings.ts'
import { type MessageRoute, routeOf } from './message-routes.ts'
import { withoutRepeats } from './repeats.ts'

/** The facility that sent the message: its namespace makes its numbers its own. */
export type MessageContext = Context & { readonly namespace: string }

export interface TranslatedMessage {
  /** A transaction: what it does with each resource is in `request`. */
  readonly bundle: JsonObject
  readonly warnings: readonly MessageProblem[]
  /** MSH-10, by which the sender knows it. */
  readonly controlId: string
  /** `ORU^R01` */
  readonly message: string
}

/** The time zone of times without an offset where nothing else is known. */
const DEFAULT_ZONE = 'Africa/Douala'

/**
 * Translates one message by the maps that are live. The same message always becomes the same bundle.
 * @throws Failure VALIDATION_FAILED; `messageProblem` of it is what an acknowledgement says
 */
export function translateMessage(
  mappings: Pick<Mappings, 'set'>,
  text: string,
  context: MessageContext,
): TranslatedMessage {
  try {
    return translated(mappings, text, context)
  } catch (error) {
    if (!(error instanceof MessageError)) throw error
    const { problem } = error
    const field = placeText(problem)
    throw new Failure('VALIDATION_FAILED', `The message cannot be converted to FHIR: ${textOf(problem)}.`, {
      details: [{ ...(field !== undefined && { field }), code: String(problem.code), message: problem.message }],
      cause: error,
    })
  }
}

/** Returns what is wrong with the message that a Failure is about, for its acknowledgement. */
export function messageProblem(error: unknown): MessageProblem | undefined {
  return error instanceof Failure && error.cause instanceof MessageError ? error.cause.problem : undefined
}

function translated(mappings: Pick<Mappings, 'set'>, text: string, context: MessageContext): TranslatedMessage {
  const { messages, mappings: maps } = mappings.set()
  const raw = readMessage(text)
  const route = routed(raw, messages)
  const controlId = (raw.segments[0]!.fields[10] ?? '').trim()
  const mapping = maps.get(route.map)!
  const zone = zoneIn(context)
  const { tree, faults, warnings } = treeOf(raw, { structure: route.structure, zone })
  if (controlId === '') nameMessage(tree, text, warnings)
  mustHave(route.required, raw)
  warnings.push(...unread(raw, mapping))
  const fatal = faults.find(each => isRead(each, mapping))
  if (fatal) throw new MessageError(fatal)
  const { bundle, repeated } = withoutRepeats(runMessage(mapping.program!, tree, context, text))
  warnings.push(...repeated)
  return { bundle, warnings: [...warnings, ...faults], controlId, message: route.message }
}

/** A message without a control id is known by its content, so that it is the same when it comes again. */
function nameMessage(tree: Tree, text: string, warnings: MessageProblem[]): void {
  Object.assign(tree['MSH'] as Tree, { MSH_10: createHash('sha256').update(text).digest('hex').slice(0, 20) })
  const message = 'the control id of the message is missing'
  warnings.push({ segment: 'MSH', occurrence: 1, field: 10, code: 101, message })
}

function zoneIn({ time_zone: name }: Context): (local: string) => string {
  const zone = zoneOf(name ?? DEFAULT_ZONE)
  if (!zone) throw new Error(`there is no time zone ${name}`)
  return zone
}

/** A message as the source of a map: by the structure that the map reads. @throws MessageError */
export function messageSource(text: string, structure: string, context: unknown): Tree {
  const zone = zoneIn(isObject(context) ? (context as unknown as Context) : ({} as Context))
  const { tree, faults } = treeOf(readMessage(text), { structure, zone })
  if (faults.length > 0) throw new MessageError(faults[0]!)
  return tree
}

function routed(message: RawMessage, routes: readonly MessageRoute[]): MessageRoute {
  const { delimiters, segments } = message
  const { fields } = segments[0]!
  const refused = (field: number, code: MessageProblem['code'], message: string) =>
    new MessageError({ segment: 'MSH', occurrence: 1, field, code, message, isRejection: true })
  const { type, event } = messageType(message)
  const version = (fields[12] ?? '').split(delimiters.component)[0]!.trim()
  if (version !== '' && !/^2(?:\.|$)/.test(version)) throw refused(12, 203, 'only version 2 is supported')
  const profile = (fields[21] ?? '').split(delimiters.component)[0]
  const route = routeOf(routes, type, event, profile)
  if (route) return route
  const isKnown = routes.some(({ message }) => message.startsWith(`${type}^`))
  throw refused(9, isKnown ? 201 : 200, `messages ${type.slice(0, 8)}^${event.slice(0, 8)} are not supported`)
}

/** Segments that must be there, and fields that each of them must have. */
function mustHave(required: readonly string[], message: RawMessage): void {
  for (const each of required) {
    const [segment = '', number] = each.split('-')
    const all = message.segments.filter(({ id }) => id === segment)
    const field = number === undefined ? undefined : Number(number)
    if (field === undefined && all.length === 0)
      throw new MessageError({ segment, occurrence: 1, code: 100, message: 'the segment is missing' })
    if (field === undefined) continue
    const type = dictionary.get(segment)?.[field - 1]?.type ?? ''
    for (const { fields, occurrence } of all) {
      const place = { segment, occurrence, field, code: 101 } as const
      const raw = fields[field] ?? ''
      if (!/[^\s^~&]/.test(raw)) throw new MessageError({ ...place, message: 'the field is missing' })
      if (statesNoNumber(raw, type, message.delimiters))
        throw new MessageError({ ...place, message: 'the number states that there is none' })
    }
  }
}

/** Segments that the map does not read at all, each name once. */
function unread({ segments: all }: RawMessage, { coverage }: Mapping): MessageProblem[] {
  const isUsed = (id: string): boolean =>
    coverage!.reads.has(id) || [...coverage!.mentions].some(each => each === id || each.startsWith(`${id}_`))
  const names = new Set(all.map(({ id }) => id).filter(id => id !== 'MSH' && !isUsed(id)))
  return [...names].map(segment => ({
    segment,
    occurrence: 1,
    code: 100,
    message: 'the map does not read this segment',
  }))
}

/** A value that is wrong matters if the map reads it. */
function isRead({ segment = '', field, component }: MessageProblem, { coverage }: Mapping): boolean {
  const isIn = (type: string, number: number | undefined): boolean => {
    const named = new RegExp(`^${type}_${number}(?:_|$)`)
    return [...coverage!.mentions, ...(coverage!.reads.get(type) ?? [])].some(each => each === '*' || named.test(each))
  }
  const type = dictionary.get(segment)?.[(field ?? 0) - 1]?.type ?? ''
  return isIn(segment, field) && (component === undefined || !dataTypes.has(type) || isIn(type, component))
}

/** @throws MessageError for what the map cannot translate */
function runMessage(program: Program, tree: Tree, context: unknown, text: string): JsonObject {
  const sources = program.sources.length > 1 ? [tree, context] : [tree]
  try {
    return program.run(sources, { uuid: uuidsOf(text) }) as JsonObject
  } catch (error) {
    if (!(error instanceof MapError)) throw error
    const code = error.reason.includes('no translation') ? 103 : 102
    throw new MessageError({ ...placeAt(tree, error.path), code, message: error.reason }, error)
  }
}

/** The same ids for the same text, so that a message that comes twice makes the same bundle. */
function uuidsOf(text: string): () => string {
  const seed = createHash('sha256').update(text).digest()
  let count = 0
  return () => {
    const hex = createHash('sha256').update(seed).update(String(count++)).digest('hex')
    const variant = '89ab'[Number.parseInt(hex[16]!, 16) % 4]
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  }
}

/** The segment and field of a path in the tree: `ADT_A01.PID.PID_5[0].XPN_1`. */
function placeAt(tree: Tree, path: string | undefined): Partial<MessageProblem> {
  let value: unknown = tree
  let place: { segment: string; occurrence: number; field?: number; component?: number } | undefined
  for (const [, name, index] of (path ?? '').replace(/^\w+/, '').matchAll(/\.(\w+)(?:\[(\d+)\])?/g)) {
    const held: unknown = isObject(value) ? value[name!] : undefined
    value = index === undefined ? held : (held as readonly unknown[] | undefined)?.[Number(index)]
    const [, type, number] = /^([A-Z][A-Z0-9]+)_(\d+)/.exec(name!) ?? []
    if (isObject(value) && typeof value['segment'] === 'string')
      place = { segment: value['segment'], occurrence: Number(value['occurrence']) }
    else if (place && type === place.segment) place.field ??= Number(number)
    else if (place?.field !== undefined && type !== undefined) place.component ??= Number(number)
  }
  return place ?? {}
}
