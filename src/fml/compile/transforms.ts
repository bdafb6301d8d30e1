// The named transforms: `truncate(v, 20)`, `cc('http://…', 'code')`. https://hl7.org/fhir/R4/valueset-map-transform.html

import { didYouMean, nearest } from '../../lib/nearest.ts'
import type { Invocation, Transform } from '../ast.ts'
import { shown } from '../problem.ts'
import { checkTransform } from './codings.ts'
import { coding, concept, contactPoint, identifier, quantity } from './datatypes.ts'
import { fromUnix, toTemporal } from './dates.ts'
import { evaluate, pointer, reference, uuid } from './references.ts'
import { replacing, report, type Scope } from './scope.ts'
import { append, cast, escaped, truncate } from './texts.ts'
import { translated } from './translate.ts'
import { argumentValue, type Value } from './value.ts'

interface TransformSpec {
  readonly min: number
  readonly max: number
  /** How it is written, for messages. */
  readonly form: string
  build(args: readonly Value[], call: Invocation, scope: Scope): Value | undefined
}

const TRANSFORMS: ReadonlyMap<string, TransformSpec> = new Map(
  Object.entries({
    // What create makes depends on the element: see target.ts.
    create: { min: 0, max: 1, form: "create('Type')", build: () => undefined },
    copy: { min: 1, max: 1, form: 'copy(value)', build: ([value]) => value },
    truncate: { min: 2, max: 2, form: 'truncate(text, 20)', build: truncate },
    escape: { min: 2, max: 3, form: "escape(text, 'from', 'to')", build: escaped },
    cast: { min: 1, max: 2, form: "cast(value, 'type')", build: cast },
    append: { min: 1, max: 50, form: 'append(text, text, …)', build: append },
    translate: { min: 2, max: 3, form: "translate(code, '#conceptmap', 'code')", build: translated },
    reference: { min: 1, max: 1, form: 'reference(resource)', build: reference },
    pointer: { min: 1, max: 1, form: 'pointer(resource)', build: pointer },
    evaluate: { min: 1, max: 2, form: 'evaluate(variable, expression)', build: () => undefined },
    uuid: { min: 0, max: 0, form: 'uuid()', build: uuid },
    cc: { min: 1, max: 3, form: "cc('text')` or `cc('system', code, 'display')", build: concept },
    c: { min: 2, max: 3, form: "c('system', code, 'display')", build: coding },
    qty: { min: 1, max: 4, form: "qty(value, 'unit', 'system', 'code')", build: quantity },
    id: { min: 2, max: 3, form: "id('system', value)", build: identifier },
    cp: { min: 1, max: 2, form: "cp('phone', value)", build: contactPoint },
    toDate: { min: 1, max: 2, form: "toDate(text, 'dd/MM/yyyy')", build: toTemporal('date') },
    toDateTime: { min: 1, max: 2, form: "toDateTime(text, 'yyyyMMddHHmmssZ')", build: toTemporal('dateTime') },
    toTime: { min: 1, max: 2, form: "toTime(text, 'HHmmss')", build: toTemporal('time') },
    unixToDate: { min: 1, max: 2, form: "unixToDate(seconds, '+01:00')", build: fromUnix('date') },
    unixToDateTime: { min: 1, max: 2, form: "unixToDateTime(seconds, '+01:00')", build: fromUnix('dateTime') },
    unixToTime: { min: 1, max: 2, form: "unixToTime(seconds, '+01:00')", build: fromUnix('time') },
    dateOp: { min: 0, max: 9, form: 'an expression such as (date + 1 day)', build: undefinedTransform },
  } satisfies Record<string, TransformSpec>),
)

/** The value of a transform; undefined, and reported, where there is none. */
export function transformValue(transform: Transform, scope: Scope): Value | undefined {
  return transform.kind === 'call' ? transformed(transform, scope) : argumentValue(transform, scope)
}

function transformed(call: Invocation, scope: Scope): Value | undefined {
  const { name, args } = call
  scope.build.see?.({ kind: 'transform', span: name.span })
  const spec = TRANSFORMS.get(name.text)
  if (!spec) {
    unknownTransform(call, scope)
    return undefined
  }
  if (args.length < spec.min || args.length > spec.max) {
    report(scope, call.span, `write \`${name.text}\` as \`${spec.form}\`, not with ${counted(args.length)}`)
    return undefined
  }
  if (name.text === 'evaluate') return evaluate(call, scope)
  const values = args.map(each => argumentValue(each, scope))
  if (!values.every(each => each !== undefined)) return undefined
  if (name.text === 'cc' || name.text === 'c') checkTransform(values, args, scope)
  return spec.build(values, call, scope)
}

function unknownTransform({ name }: Invocation, scope: Scope): void {
  const names = [...TRANSFORMS.keys()]
  const meant = nearest(name.text, names)
  const question = didYouMean(meant, `; there are ${names.join(', ')}`)
  report(scope, name.span, `there is no transform ${shown(name.text)}${question}`, replacing(name.span, meant))
}

function counted(count: number): string {
  return count === 0 ? 'nothing in its parentheses' : count === 1 ? 'one value' : `${count} values`
}

function undefinedTransform(_args: readonly Value[], { span }: Invocation, scope: Scope): undefined {
  const message = 'the specification does not define `dateOp`; write an expression such as `(date + 1 day)`'
  report(scope, span, message)
}

/** How each transform is written, by its name. */
export const transformForms: ReadonlyMap<string, string> = new Map(
  [...TRANSFORMS].filter(([, { build }]) => build !== undefinedTransform).map(([name, { form }]) => [name, form]),
)
