// The named transforms: `truncate(v, 20)`, `cc('http://…', 'code')`. https://hl7.org/fhir/R4/valueset-map-transform.html

import type { Items, Typed } from '../../fhirpath/compile.ts'
import { EMPTY, typed } from '../../fhirpath/node.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Argument, Invocation } from '../ast.ts'
import { shown } from '../problem.ts'
import { converter, textOf } from '../run/convert.ts'
import { escapeText } from '../run/escape.ts'
import type { Frame, Json } from '../run/frame.ts'
import { Refusal } from '../run/map-error.ts'
import { expression } from './expression.ts'
import { replacing, report, type Scope } from './scope.ts'
import { translated } from './translate.ts'
import { argumentValue, type Value } from './value.ts'

interface TransformSpec {
  readonly min: number
  readonly max: number
  /** How it is written, for messages. */
  readonly form: string
  build(args: readonly Value[], call: Invocation, scope: Scope): Value | undefined
}

/** The value of `create` is made by the target, since it depends on the element; see target.ts. */
const TRANSFORMS: ReadonlyMap<string, TransformSpec> = new Map(
  Object.entries({
    create: { min: 0, max: 1, form: "create('Type')", build: () => undefined },
    copy: { min: 1, max: 1, form: 'copy(value)', build: ([value]) => value },
    truncate: { min: 2, max: 2, form: 'truncate(text, 20)', build: truncate },
    escape: { min: 2, max: 3, form: "escape(text, 'from', 'to')", build: escaped },
    cast: { min: 1, max: 2, form: "cast(value, 'type')", build: cast },
    append: { min: 1, max: 50, form: 'append(text, text, …)', build: append },
    translate: { min: 2, max: 3, form: "translate(code, '#conceptmap', 'code')", build: translated },
    reference: { min: 1, max: 1, form: 'reference(resource)', build: reference },
    pointer: { min: 1, max: 1, form: 'pointer(resource)', build: pointer },
    evaluate: { min: 1, max: 2, form: 'evaluate(variable, expression)', build: evaluate },
    uuid: { min: 0, max: 0, form: 'uuid()', build: uuid },
    cc: { min: 1, max: 3, form: "cc('text'), cc('system', code, 'display')", build: concept },
    c: { min: 2, max: 3, form: "c('system', code, 'display')", build: coding },
    qty: { min: 1, max: 4, form: "qty(value, 'unit', 'system', 'code')", build: quantity },
    id: { min: 2, max: 3, form: "id('system', value)", build: identifier },
    cp: { min: 1, max: 2, form: "cp('phone', value)", build: contactPoint },
    dateOp: { min: 0, max: 9, form: 'an expression such as (date + 1 day)', build: undefinedTransform },
  } satisfies Record<string, TransformSpec>),
)

/** The value of a named transform; undefined, and reported, where it cannot be. */
export function transformed(call: Invocation, scope: Scope): Value | undefined {
  const { name, args } = call
  const spec = TRANSFORMS.get(name.text)
  if (!spec) {
    const meant = nearest(name.text, [...TRANSFORMS.keys()])
    const question = meant ? `; did you mean \`${meant}\`?` : `; there are ${[...TRANSFORMS.keys()].join(', ')}`
    report(scope, name.span, `there is no transform ${shown(name.text)}${question}`, replacing(name.span, meant))
    return undefined
  }
  if (args.length < spec.min || args.length > spec.max) {
    report(scope, call.span, `\`${name.text}\` is written \`${spec.form}\`, not with ${counted(args.length)}`)
    return undefined
  }
  if (name.text === 'evaluate') return evaluate([], call, scope)
  const values = args.map(each => argumentValue(each, scope))
  return values.every(each => each !== undefined) ? spec.build(values, call, scope) : undefined
}

function counted(count: number): string {
  return count === 0 ? 'nothing in its parentheses' : count === 1 ? 'one value' : `${count} values`
}

function simple(type: string, run: (frame: Frame) => Items): Value {
  return { types: [type], codes: undefined, constant: undefined, run }
}

/** The one value of an argument; several are an error, none is undefined. */
function single(value: Value | undefined, frame: Frame): Typed | undefined {
  const items = value?.run(frame) ?? EMPTY
  if (items.length > 1) throw new Refusal(`one value is needed here, and there are ${items.length}`)
  return items[0]?.value === undefined ? undefined : items[0]
}

function textIn(value: Value | undefined, frame: Frame): string | undefined {
  const item = single(value, frame)
  if (item === undefined) return undefined
  if (typeof item.value === 'object' && item.value !== null && item.type !== '' && !isPlain(item)) {
    throw new Refusal(`a text is needed here, not a ${item.type}`)
  }
  return textOf(item.value)
}

function isPlain({ type }: Typed): boolean {
  return type.startsWith('System.') || /^[a-z]/.test(type)
}

/** A value for the text of an argument; nothing where the argument has nothing. */
function ofText(type: string, value: Value | undefined, make: (text: string, frame: Frame) => unknown): Value {
  return simple(type, frame => {
    const text = textIn(value, frame)
    return text === undefined ? EMPTY : [typed(make(text, frame), type)]
  })
}

function truncate([text, length]: readonly Value[], { args }: Invocation, scope: Scope): Value | undefined {
  const limit = length?.constant?.value
  if (length?.constant && !(typeof limit === 'number' && limit >= 0)) {
    report(scope, args[1]!.span, 'the length is a whole number of characters, such as 20')
    return undefined
  }
  return ofText('System.String', text, (found, frame) => {
    const most = Number(single(length, frame)?.value)
    return [...found].slice(0, most).join('')
  })
}

function escaped(args: readonly Value[]): Value {
  const [text, from, to] = args.length === 2 ? [args[0], undefined, args[1]] : args
  return ofText('System.String', text, (found, frame) =>
    escapeText(found, textIn(from, frame) ?? 'text', textIn(to, frame) ?? 'text'),
  )
}

function cast([value, type]: readonly Value[], { args }: Invocation, scope: Scope): Value | undefined {
  if (!type) return value
  const { system } = scope.build
  const to = String(type.constant?.value ?? '')
  if (!system.isPrimitive(to)) {
    const names =
      'string code id uri url markdown integer decimal boolean date dateTime instant time positiveInt'.split(' ')
    const meant = nearest(to, names)
    const question = meant ? `; did you mean \`${meant}\`?` : ''
    report(scope, args[1]!.span, `${shown(to)} is no type that a value can be cast to${question}`)
    return undefined
  }
  const possible = value?.types?.every(each => converter(system, each, to, true) === undefined)
  if (possible && value?.types?.length) {
    report(scope, args[0]!.span, `a value of type ${value.types.join(' or ')} cannot become ${to}`)
    return undefined
  }
  const run = (frame: Frame): Items =>
    (value?.run(frame) ?? EMPTY).flatMap(item => {
      if (item.value === undefined) return []
      const convert = converter(system, item.type || 'System.String', to, true)
      if (!convert) throw new Refusal(`a value of type ${item.type} cannot become ${to}`)
      return [{ ...item, value: convert(item.value), type: to }]
    })
  return simple(to, run)
}

/** Nothing where one of the parts has no value: half an address is worse than none. */
function append(parts: readonly Value[]): Value {
  return simple('System.String', frame => {
    const texts = parts.map(each => textIn(each, frame))
    return texts.some(each => each === undefined) ? EMPTY : [typed(texts.join(''), 'System.String')]
  })
}

/** `Patient/123`; what is being made gets an id if it has none yet. */
function reference([value]: readonly Value[], call: Invocation, scope: Scope): Value {
  const isMade = isTarget(call, scope)
  return simple('System.String', frame => {
    const json = resourceIn(value, frame)
    return json === undefined ? EMPTY : [typed(`${json.resourceType}/${idOf(json, isMade, frame)}`, 'System.String')]
  })
}

function pointer([value]: readonly Value[], call: Invocation, scope: Scope): Value {
  const isMade = isTarget(call, scope)
  return simple('uri', frame => {
    const json = resourceIn(value, frame)
    return json === undefined ? EMPTY : [typed(`urn:uuid:${idOf(json, isMade, frame)}`, 'uri')]
  })
}

function isTarget({ args: [first] }: Invocation, { variables }: Scope): boolean {
  return first?.kind === 'path' && variables.get(first.names[0]!.text)?.kind === 'target'
}

function resourceIn(value: Value | undefined, frame: Frame): Json | undefined {
  const item = single(value, frame)
  if (item === undefined) return undefined
  const json = item.value as Json
  if (typeof json.resourceType !== 'string')
    throw new Refusal(`a resource is needed here, not a ${item.type || 'value'}`)
  return json
}

function idOf(json: Json, isMade: boolean, frame: Frame): string {
  if (typeof json.id === 'string') return json.id
  if (!isMade) throw new Refusal('the resource has no id to refer to it by')
  const { uuid: make = randomId } = frame.shared.options
  const id = make()
  json.id = id
  return id
}

function randomId(): string {
  return crypto.randomUUID()
}

function evaluate(_: readonly Value[], { args }: Invocation, scope: Scope): Value | undefined {
  const [subject, tree] = args as readonly [Argument, Argument | undefined]
  if (tree === undefined) return argumentValue(subject, scope)
  const value = argumentValue(subject, scope)
  if (!value) return undefined
  if (tree.kind === 'literal') return argumentValue(tree, scope)
  if (tree.kind === 'path') return argumentValue(tree, scope)
  const inner = expression(tree, value.types, scope)
  return { types: inner.types, codes: undefined, constant: undefined, run: frame => inner.run(value.run(frame), frame) }
}

function uuid(): Value {
  return simple('System.String', ({ shared }) => [typed((shared.options.uuid ?? randomId)(), 'System.String')])
}

/** An object of the parts that have a value; nothing where the part that matters has none. */
function object(
  type: string,
  needed: string,
  parts: Readonly<Record<string, Value | undefined>>,
  wrap?: (made: Json) => Json,
): Value {
  const entries = Object.entries(parts).filter((each): each is [string, Value] => each[1] !== undefined)
  return simple(type, frame => {
    const made: Json = {}
    for (const [key, value] of entries) {
      const text = textIn(value, frame)
      if (text !== undefined) made[key] = text
    }
    return made[needed] === undefined ? EMPTY : [typed(wrap ? wrap(made) : made, type)]
  })
}

function concept(args: readonly Value[]): Value {
  const [system, code, display] = args
  if (args.length === 1) return object('CodeableConcept', 'text', { text: system })
  return object('CodeableConcept', 'code', { system, code, display }, made => ({ coding: [made] }))
}

function coding([system, code, display]: readonly Value[]): Value {
  return object('Coding', 'code', { system, code, display })
}

function identifier([system, value, type]: readonly Value[]): Value {
  const plain = object('Identifier', 'value', { system, value, type }, ({ type: code, ...made }) =>
    code === undefined ? made : { type: { coding: [{ system: IDENTIFIER_TYPES, code }] }, ...made },
  )
  return plain
}

const IDENTIFIER_TYPES = 'http://terminology.hl7.org/CodeSystem/v2-0203'

function contactPoint(args: readonly Value[]): Value {
  const [system, value] = args.length === 1 ? [undefined, args[0]] : args
  return object('ContactPoint', 'value', { system, value })
}

const QUANTITY = /^\s*([<>]=?)?\s*(-?\d+(?:\.\d+)?)\s*(\S.*)?$/

/** `qty('12 mg')`, or its parts. */
function quantity(args: readonly Value[], _call: Invocation, scope: Scope): Value {
  const decimal = converter(scope.build.system, 'System.String', 'decimal')!
  const number = (text: string): unknown => decimal(text)
  if (args.length > 1) {
    const [value, unit, system, code] = args
    return object('Quantity', 'value', { value, unit, system, code }, made => ({
      ...made,
      value: number(String(made.value)),
    }))
  }
  return ofText('Quantity', args[0], text => {
    const match = QUANTITY.exec(text)
    if (!match) throw new Refusal('the text is not a number with a unit')
    const [, comparator, value, unit] = match
    const made: Json = { value: number(value!) }
    if (comparator) made.comparator = comparator
    if (unit) made.unit = unit.trim()
    return made
  })
}

function undefinedTransform(_args: readonly Value[], { span }: Invocation, scope: Scope): undefined {
  report(
    scope,
    span,
    'the specification names `dateOp` without saying what it does; write an expression such as `(date + 1 day)`',
  )
}
