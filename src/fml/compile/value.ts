// Values as arguments: a literal, a variable, or an expression.

import type { Items, Typed, Types } from '../../fhirpath/compile.ts'
import { EMPTY } from '../../fhirpath/node.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Argument, Literal, Path } from '../ast.ts'
import type { Frame } from '../run/frame.ts'
import { expression, literalExpression } from './expression.ts'
import { found } from './read.ts'
import { replacing, report, type Scope, seeVariable, type Unit } from './scope.ts'
import type { Table } from './table.ts'

export interface Value {
  /** Undefined when they depend on the data. */
  readonly types: Types
  /** The codes it can be, where they are known. */
  readonly codes: ReadonlySet<string> | undefined
  /** The codes that its element can have, whatever conditions leave of them. */
  readonly domain?: ReadonlySet<string>
  /** Where it is known already. */
  readonly constant: Typed | undefined
  /** It may be part of what is being made. */
  readonly isGrowing?: boolean
  /** Found in this concept map, and the map that it stands in. */
  readonly table?: { readonly entries: Table['entries']; readonly unit: Unit | undefined }
  /** Objects that it has created itself and no other code holds: they need not be copied. */
  readonly isFresh?: boolean
  /** The address of a resource, which a Reference can be made of. */
  readonly isAddress?: boolean
  run(frame: Frame): Items
}

/** The value of an argument. */
export function argumentValue(argument: Argument, scope: Scope): Value | undefined {
  if (argument.kind === 'literal') return literalValue(argument, scope)
  if (argument.kind === 'path') return pathValue(argument, scope)
  const inner = expression(argument, [], scope)
  const { types, constant } = inner
  const isGrowing = constant === undefined
  return { types, codes: codesOfConstant(constant), constant, isGrowing, run: frame => inner.run(EMPTY, frame) }
}

function codesOfConstant(constant: Typed | undefined): ReadonlySet<string> | undefined {
  return constant?.type === 'System.String' ? new Set([String(constant.value)]) : undefined
}

function literalValue(literal: Literal, scope: Scope): Value {
  const inner = expression(literalExpression(literal), [], scope)
  const items: Items = inner.constant ? [inner.constant] : EMPTY
  return { types: inner.types, codes: codesOfConstant(inner.constant), constant: inner.constant, run: () => items }
}

function pathValue(path: Path, scope: Scope): Value | undefined {
  const [first] = path.names
  if (path.names.length === 1 && first && isText(first.text, scope)) {
    seeVariable(first, scope)
    const message = `there is no variable \`${first.text}\` here; put a text in quotation marks`
    report(scope, first.span, message, { ...replacing(first.span, `'${first.text}'`), isAbsence: true })
    return undefined
  }
  const value = found(path, scope)
  if (!value) return undefined
  const { types, codes, domain, isGrowing, read } = value
  return { types, codes, domain, constant: undefined, isGrowing, run: read }
}

/** True for a word that is nothing like a variable: a text without its quotation marks. */
function isText(text: string, { variables }: Scope): boolean {
  if (variables.has(text) || text.length < 3) return false
  return nearest(text, [...variables.keys()]) === undefined
}
