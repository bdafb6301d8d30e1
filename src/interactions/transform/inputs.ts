// What $transform is asked for: R4's parameters, R5's, and those that FHIRPath Lab sends.
// https://hl7.org/fhir/R4/structuremap-operation-transform.html · https://hl7.org/fhir/R5/structuremap-operation-transform.html

import { isMessage } from '../../hl7v2/read.ts'
import { Failure } from '../../lib/failure.ts'
import { isObject, parseJson } from '../../lib/json.ts'
import { mustBeWithinBounds } from '../../lib/json-meter.ts'
import type { Store } from '../../store/store.ts'
import { wrongParameter } from '../parameters.ts'
import type { FhirRequest } from '../request.ts'
import { flagOf, inputsOf, textOf } from '../terminology/inputs.ts'

export const transformTakes = {
  source: 'Canonical URL of the map: a stored StructureMap or a built-in map.',
  debug: 'true returns a Parameters resource with the outcome, the result as text, the map and a trace of every rule.',
} as const

export interface TransformRequest {
  /** The map by its URL, or by the id in the address. */
  readonly source: string | undefined
  readonly id: string | undefined
  /** The map itself, in the mapping language or as a StructureMap in JSON. */
  readonly map: string | undefined
  readonly supporting: readonly string[]
  /** StructureDefinitions of logical models, in JSON. */
  readonly models: readonly string[]
  /** In JSON, or a message of HL7 v2. */
  readonly content: string
  readonly context: string | undefined
  readonly isDebug: boolean
}

const MAPS = ['sourceMap', 'srcMap', 'map'] as const
const TAKEN = [...Object.keys(transformTakes), ...MAPS, 'supportingMap', 'model', 'content', 'resource', 'context']

/** Reads the request. @throws Failure MALFORMED_REQUEST that says what is missing or said twice. */
export function askedOf(store: Store, request: FhirRequest): TransformRequest {
  const isBare = isObject(request.body) && request.body['resourceType'] !== 'Parameters'
  const inputs = inputsOf(store.library(), isBare ? { ...request, body: undefined } : request, TAKEN)
  const texts = (name: string): string[] => inputs.all(name).map(each => asText(name, each))
  const one = (names: readonly string[]): string | undefined => {
    const [first, ...more] = names.flatMap(texts)
    if (more.length > 0) throw wrongParameter(names[0]!, `One of ${names.join(', ')} may be given, and once only.`)
    return first
  }
  const content = isBare ? JSON.stringify(request.body) : one(['content', 'resource'])
  if (content === undefined)
    throw wrongParameter(
      'content',
      'content is missing: send the resource to transform in a Parameters resource or as the body.',
    )
  const asked: TransformRequest = {
    source: textOf(inputs, 'source'),
    id: inputs.id,
    map: one(MAPS),
    supporting: texts('supportingMap'),
    models: texts('model'),
    content: readable('content', content),
    context: one(['context']),
    isDebug: flagOf(inputs, 'debug'),
  }
  mustNameOneMap(asked)
  return asked
}

function mustNameOneMap({ source, id, map }: TransformRequest): void {
  const named = [source, id, map].filter(each => each !== undefined)
  if (named.length === 1) return
  const message =
    named.length === 0
      ? 'The map is missing: specify source (its URL), sourceMap (a StructureMap) or srcMap (mapping language), or call StructureMap/[id]/$transform.'
      : 'Specify the map once: with the address, source, sourceMap or srcMap.'
  throw wrongParameter('source', message)
}

function asText(name: string, value: unknown): string {
  if (typeof value === 'string') {
    // It is parsed where nothing else bounds it.
    if (value.trimStart().startsWith('{')) mustBeWithinBounds(value)
    return value
  }
  if (isObject(value)) return JSON.stringify(value)
  throw wrongParameter(name, `${name} must be a resource, or its text.`)
}

/** JSON, or a message of HL7 v2, which the map's own errors describe. */
function readable(name: string, text: string): string {
  if (isMessage(text)) return text
  mustBeWithinBounds(text)
  try {
    if (isObject(parseJson(text))) return text
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new Failure('MALFORMED_REQUEST', `${name} must be a JSON object or an HL7 v2 message.`, {
    details: [{ field: name, code: 'structure', message: `${name} must be a JSON object or an HL7 v2 message.` }],
  })
}
