// Which codes a condition leaves: `where v = 'mild' or v = 'severe'` leaves two, `where v != 'x'` all but one.

import type { Binary, Expression } from '../../fhirpath/ast.ts'

/** Returns the codes that a condition can be true for; the same ones if the condition cannot be analysed. */
export function narrowed(codes: ReadonlySet<string>, condition: Expression, variable: string | undefined): Narrowing {
  const isSubject = (each: Expression) => isItem(each, variable)
  return narrow(codes, condition, isSubject)
}

export interface Narrowing {
  readonly codes: ReadonlySet<string>
  /** False if the condition also depends on something else, so that the codes it leaves are not certain. */
  readonly isCertain: boolean
  /** Codes in the condition that the value can never have. */
  readonly impossible: readonly { readonly code: string; readonly at: Expression['at'] }[]
}

type Test = (each: Expression) => boolean

function narrow(codes: ReadonlySet<string>, tree: Expression, isSubject: Test): Narrowing {
  const unsure: Narrowing = { codes, isCertain: false, impossible: [] }
  if (tree.kind !== 'binary') return unsure
  const { operator, left, right } = tree
  if (operator === 'or') return either(narrow(codes, left, isSubject), narrow(codes, right, isSubject))
  if (operator === 'and') return both(narrow(codes, left, isSubject), right, isSubject)
  if (!isSubject(left) && !isSubject(right)) return unsure
  const wanted = literals(tree, isSubject(left) ? right : left)
  if (!wanted) return unsure
  if (operator === '=' || operator === '~' || (operator === 'in' && isSubject(left))) return equal(codes, wanted)
  if (operator !== '!=') return unsure
  const { impossible } = equal(codes, wanted)
  return {
    codes: new Set([...codes].filter(code => !wanted.some(each => each.code === code))),
    isCertain: true,
    impossible,
  }
}

interface Wanted {
  readonly code: string
  readonly at: Expression['at']
}

function equal(codes: ReadonlySet<string>, wanted: readonly Wanted[]): Narrowing {
  const impossible = wanted.filter(({ code }) => !codes.has(code))
  return { codes: new Set(wanted.map(({ code }) => code).filter(code => codes.has(code))), isCertain: true, impossible }
}

function either(a: Narrowing, b: Narrowing): Narrowing {
  const impossible = [...a.impossible, ...b.impossible]
  return { codes: new Set([...a.codes, ...b.codes]), isCertain: a.isCertain && b.isCertain, impossible }
}

function both(a: Narrowing, right: Expression, isSubject: Test): Narrowing {
  const b = narrow(a.codes, right, isSubject)
  return { codes: b.codes, isCertain: a.isCertain || b.isCertain, impossible: [...a.impossible, ...b.impossible] }
}

/** `'a'`, or `('a' | 'b')`. */
function literals(parent: Binary, tree: Expression): Wanted[] | undefined {
  if (tree.kind === 'literal') return tree.type === 'String' ? [{ code: tree.text, at: tree.at }] : undefined
  if (tree.kind !== 'binary' || tree.operator !== '|' || parent.operator !== 'in') return undefined
  const [left, right] = [literals(parent, tree.left), literals(parent, tree.right)]
  return left && right && [...left, ...right]
}

/** The value itself: `$this`, or the variable, as `v` or `%v`. */
function isItem(tree: Expression, variable: string | undefined): boolean {
  if (tree.kind === 'special') return tree.name === 'this'
  if (tree.kind === 'variable') return tree.name === variable
  return tree.kind === 'member' && !tree.input && tree.name === variable
}
