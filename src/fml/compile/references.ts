// Transforms that name things, and those that compute: `uuid`, `reference`, `pointer` and `evaluate`.
// https://hl7.org/fhir/R4/valueset-map-transform.html

import type { Expression } from '../../fhirpath/ast.ts'
import { EMPTY, type Items, typed } from '../../fhirpath/node.ts'
import type { Argument, Embedded, Invocation, Path } from '../ast.ts'
import { pathText } from '../pieces.ts'
import type { Frame, Json } from '../run/frame.ts'
import { Refusal } from '../run/map-error.ts'
import { simple, single } from './computed.ts'
import { expression } from './expression.ts'
import type { Scope } from './scope.ts'
import { argumentValue, type Value } from './value.ts'

export function uuid(): Value {
  return simple('System.String', frame => [typed(newId(frame), 'System.String')])
}

function newId({ shared: { options } }: Frame): string {
  return options.uuid ? options.uuid() : crypto.randomUUID()
}

/** `Patient/123`; what is being made gets an id if it has none yet. */
export function reference([value]: readonly Value[], call: Invocation, scope: Scope): Value {
  return address('System.String', value, isTarget(call, scope), (type, id) => `${type}/${id}`)
}

export function pointer([value]: readonly Value[], call: Invocation, scope: Scope): Value {
  return address('uri', value, isTarget(call, scope), (_type, id) => `urn:uuid:${id}`)
}

function address(
  type: string,
  value: Value | undefined,
  isMade: boolean,
  written: (type: string, id: string) => string,
): Value {
  const run = (frame: Frame): Items => {
    const json = resourceIn(value, frame)
    return json === undefined ? EMPTY : [typed(written(`${json.resourceType}`, idOf(json, isMade, frame)), type)]
  }
  return { ...simple(type, run), isAddress: true }
}

function isTarget({ args: [first] }: Invocation, { variables }: Scope): boolean {
  return first?.kind === 'path' && variables.get(first.names[0]!.text)?.kind === 'target'
}

function resourceIn(value: Value | undefined, frame: Frame): Json | undefined {
  const item = single(value, frame)
  if (item === undefined) return undefined
  const { resourceType } = item.value as Json
  if (typeof resourceType !== 'string') throw new Refusal(`a resource is needed here, not a ${item.type || 'value'}`)
  return item.value as Json
}

function idOf(json: Json, isMade: boolean, frame: Frame): string {
  if (typeof json.id === 'string') return json.id
  if (!isMade) throw new Refusal('the resource has no id, so it cannot be referred to')
  const id = newId(frame)
  json.id = id
  return id
}

/** `evaluate(v, expression)`: with `v` as the focus; a variable hides an element of its name. */
export function evaluate({ args }: Invocation, scope: Scope): Value | undefined {
  const [subject, computed] = args as readonly [Argument, Argument | undefined]
  if (computed === undefined) return argumentValue(subject, scope)
  const value = argumentValue(subject, scope)
  if (!value) return undefined
  const isVariable = computed.kind === 'path' && scope.variables.has(computed.names[0]!.text)
  if (computed.kind === 'literal' || isVariable) return argumentValue(computed, scope)
  const inner = expression(computed.kind === 'path' ? asExpression(computed) : computed, value.types, scope)
  const { types } = inner
  return { types, codes: undefined, constant: undefined, run: frame => inner.run(value.run(frame), frame) }
}

/** A path as FHIRPath reads it. */
function asExpression(path: Path): Embedded {
  let tree: Expression | undefined
  for (const { text, span } of path.names) {
    const { offset, line, column } = span
    tree = { kind: 'member', input: tree, name: text, at: { offset, line, column } }
  }
  return { kind: 'expression', text: pathText(path), expression: tree!, span: path.span }
}
