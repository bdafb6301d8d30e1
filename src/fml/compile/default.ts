// Defaults of sources: the replacement of a missing value, as a value of the element's type.
// https://hl7.org/fhir/R4/structuremap-definitions.html#StructureMap.group.rule.source.defaultValue_x_

import type { Items } from '../../fhirpath/compile.ts'
import { EMPTY } from '../../fhirpath/node.ts'
import type { Source } from '../ast.ts'
import { type Convert, converter } from '../run/convert.ts'
import type { Frame } from '../run/frame.ts'
import { Refusal } from '../run/map-error.ts'
import { expression, literalExpression } from './expression.ts'
import type { Found } from './read.ts'
import { report, type Scope } from './scope.ts'

interface Fallback {
  /** The codes that the value can have now. */
  readonly codes: ReadonlySet<string> | undefined
  select(items: Items, frame: Frame): Items
}

/** What a source without a value is given. */
export function defaulting(value: NonNullable<Source['default']>, values: Found, scope: Scope): Fallback {
  const inner = expression(value.kind === 'literal' ? literalExpression(value) : value, [], scope)
  const { constant } = inner
  const types = values.types ?? []
  const from = inner.types?.length === 1 ? inner.types[0] : undefined
  const to = from === undefined ? undefined : convertible(from, types, scope)
  if (from !== undefined && types.length > 0 && !to) {
    const what = from.replace(/^System\./, '')
    report(scope, value.span, `the default is a ${what}, and the element is of type ${types.join(' or ')}`)
  } else if (constant && to) checkConstant(constant.value, to, value.span, scope)
  return {
    codes: constant && values.codes ? new Set([...values.codes, String(constant.value)]) : undefined,
    select(items, frame) {
      if (items.length > 0) return items
      const found = inner.run(EMPTY, frame)
      return to ? found.map(item => ({ ...item, value: to.convert(item.value), type: to.type })) : found
    },
  }
}

interface Conversion {
  readonly type: string
  readonly convert: Convert
}

function convertible(from: string, types: readonly string[], { build: { system } }: Scope): Conversion | undefined {
  for (const type of types) {
    const convert = converter(system, from, type)
    if (convert) return { type, convert }
  }
  return undefined
}

function checkConstant(value: unknown, { type, convert }: Conversion, span: Scope['site']['span'], scope: Scope): void {
  try {
    convert(value)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    report(scope, span, `the default is not of the element's type ${type}: ${error.message}`)
  }
}
