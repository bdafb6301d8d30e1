// Conditions that compare one text with another, `url = %birthPlace` or `v = 'mild'`: most conditions of maps do, and evaluating
// them for each item of a list is most of a map's work. They run without FHIRPath, which is the fallback for uncertain cases.

import type { Expression } from '../../fhirpath/ast.ts'
import type { Typed, Types } from '../../fhirpath/compile.ts'
import { systemType } from '../../fhirpath/types.ts'
import type { Frame, Json } from '../run/frame.ts'
import type { Scope } from './scope.ts'

/** True or false; undefined if FHIRPath has to decide. */
export type TextTest = (item: Typed, frame: Frame) => boolean | undefined

type TextOf = (item: Typed) => unknown
type Wanted = (frame: Frame) => unknown

/** The test for a condition, if it is such a comparison. */
export function textTest(
  tree: Expression,
  types: Types,
  variable: string | undefined,
  scope: Scope,
): TextTest | undefined {
  if (tree.kind !== 'binary' || tree.operator !== '=' || types?.length !== 1) return undefined
  const [type] = types
  const left = subject(tree.left, type!, variable, scope)
  const text = left ?? subject(tree.right, type!, variable, scope)
  const wanted = text && wantedText(left ? tree.right : tree.left, scope)
  if (!text || !wanted) return undefined
  return (item, frame) => {
    const [one, other] = [text(item), wanted(frame)]
    return typeof one === 'string' && typeof other === 'string' ? one === other : undefined
  }
}

/** The item itself, or a single text in it. */
function subject(tree: Expression, type: string, variable: string | undefined, scope: Scope): TextOf | undefined {
  const isItself =
    (tree.kind === 'special' && tree.name === 'this') ||
    (variable !== undefined && nameOf(tree) === variable && systemType(type) !== undefined)
  if (isItself) return systemType(type) === 'System.String' ? item => item.value : undefined
  if (tree.kind !== 'member' || tree.input || scope.variables.has(tree.name) || tree.name === variable) return undefined
  const { name } = tree
  const element = scope.build.system.model.typeModel(type)?.elements.get(name)
  const isText = element?.max === 1 && !element.choice && systemType(element.types[0] ?? '') === 'System.String'
  return isText ? ({ value }) => (value as Json)[name] : undefined
}

/** A literal, or a constant of the map. */
function wantedText(tree: Expression, { variables }: Scope): Wanted | undefined {
  if (tree.kind === 'literal') return tree.type === 'String' ? () => tree.text : undefined
  const named = variables.get(nameOf(tree) ?? '')
  if (named?.kind !== 'constant') return undefined
  return frame => {
    const items = named.read(frame)
    return items.length === 1 ? items[0]!.value : undefined
  }
}

function nameOf(tree: Expression): string | undefined {
  if (tree.kind === 'variable') return tree.name
  return tree.kind === 'member' && !tree.input ? tree.name : undefined
}
