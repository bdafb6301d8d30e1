// The expression of a SearchParameter, reduced to one resource type (https://hl7.org/fhir/R4/searchparameter.html).
import { isResourceType, openTypes, typeModel } from '../../definitions/r4.ts'
import type { Call, Expression, TypeOperation } from '../../fhirpath/ast.ts'
import { type CompileOptions, compileTyped } from '../../fhirpath/compile.ts'
import { FhirPathError } from '../../fhirpath/errors.ts'
import { inputsOf } from './cost.ts'

/**
 * What the expression says of a type: `Patient.name | Practitioner.name` is `Patient.name` for patients. Undefined if it
 * says nothing of it. Two habits of published parameters are understood: `Resource.x` stands for every type, and
 * `as`, which FHIRPath allows on single items only, means `ofType`.
 */
export function expressionFor(type: string, expression: Expression): Expression | undefined {
  const branches = branchesOf(expression).flatMap(branch => rooted(branch, type) ?? [])
  const [first, ...more] = branches
  return first && more.reduce((left, right) => ({ kind: 'binary', operator: '|', left, right, at: right.at }), first)
}

/** Options for compiling expressions that came with a resource: bounded, since they are untrusted. */
export const expressionOptions = (type: string): CompileOptions => ({ model: { typeModel }, type, untrusted: true })

const branchesOf = (expression: Expression): Expression[] =>
  expression.kind === 'binary' && expression.operator === '|'
    ? [...branchesOf(expression.left), ...branchesOf(expression.right)]
    : [expression]

const bases = new Set(['Resource', 'DomainResource'])

/** The branch as it reads on the type; undefined if it begins at another type. */
function rooted(branch: Expression, type: string): Expression | undefined {
  if (branch.kind === 'binary' || branch.kind === 'unary') return branch
  if ('input' in branch && branch.input) {
    const input = rooted(branch.input, type)
    return input && onLists({ ...branch, input } as Expression)
  }
  if (branch.kind === 'indexer') return branch
  if (branch.kind !== 'member') return branch
  if (bases.has(branch.name)) return { ...branch, name: type }
  return isResourceType(branch.name) && branch.name !== type ? undefined : branch
}

function onLists(expression: Expression): Expression {
  if (expression.kind === 'type' && expression.operator === 'as') return ofType(expression)
  if (expression.kind === 'call' && expression.name === 'as') return { ...expression, name: 'ofType' }
  return expression
}

function ofType({ input, type, at }: TypeOperation): Call {
  const [first, ...parts] = type
  const named = parts.reduce<Expression>((before, name) => ({ kind: 'member', input: before, name, at }), {
    kind: 'member',
    name: first!,
    at,
  })
  return { kind: 'call', input, name: 'ofType', args: [named], at }
}

/**
 * The expression, elements named as FHIRPath names them: published parameters sometimes have JSON's `servicedDate` for
 * `serviced.ofType(date)`. @throws FhirPathError if it makes no sense for the type.
 */
export function understood(expression: Expression, type: string): Expression {
  let tree = expression
  let met: FhirPathError | undefined
  for (let mends = 0; ; mends++) {
    try {
      compileTyped(tree, expressionOptions(type))
      return tree
    } catch (error) {
      if (!(error instanceof FhirPathError)) throw error
      if ((met?.line === error.line && met.column === error.column) || mends >= mostMends) throw met ?? error
      const mended = choiceAt(tree, (met = error))
      if (!mended) throw error
      tree = mended
    }
  }
}

/** Each of them means to compile the expression once more. */
const mostMends = 20

const choice = new RegExp(`^([a-z]\\w*?)(${openTypes.map(name => name[0]!.toUpperCase() + name.slice(1)).join('|')})$`)

/** The expression with the member at this place taken as a choice of one type; undefined if there is none there. */
function choiceAt(expression: Expression, place: FhirPathError): Expression | undefined {
  if (expression.kind === 'binary') {
    const left = choiceAt(expression.left, place)
    const right = left ? undefined : choiceAt(expression.right, place)
    return left || right
      ? { ...expression, left: left ?? expression.left, right: right ?? expression.right }
      : undefined
  }
  const { at } = expression
  if (expression.kind === 'member' && at.line === place.line && at.column === place.column) {
    const [, name, suffix] = choice.exec(expression.name) ?? []
    const type = openTypes.find(each => each.toLowerCase() === suffix?.toLowerCase())
    return name && type
      ? ofType({ kind: 'type', operator: 'as', input: { ...expression, name }, type: [type], at })
      : undefined
  }
  const input = 'input' in expression && expression.input ? choiceAt(expression.input, place) : undefined
  return input && ({ ...expression, input } as Expression)
}

/** The one type that `where(resolve() is Patient)` leaves of the references, if the expression ends so. */
export function resolvedType(expression: Expression): string | undefined {
  if (expression.kind !== 'call' || expression.name !== 'where') return undefined
  const [test] = expression.args
  const isResolved =
    test?.kind === 'type' && test.operator === 'is' && test.input.kind === 'call' && test.input.name === 'resolve'
  return isResolved ? test.type.at(-1) : undefined
}

/**
 * Only the type of what a reference points at is known while a resource is indexed: what else `resolve()` would find is in another resource, which may
 * change without it. @throws FhirPathError with the place of one that is used for more than `is`.
 */
export function mustAskTypesOnly(expression: Expression): void {
  const visit = (part: Expression, isForType: boolean): void => {
    if (part.kind === 'call' && part.name === 'resolve' && !isForType)
      throw new FhirPathError(
        'semantic',
        'resolve() can only be used to test a type, as in where(resolve() is Patient): search what a reference points at by a chain',
        part.at,
      )
    const asksType = (part.kind === 'type' && part.operator === 'is') || (part.kind === 'call' && part.name === 'is')
    for (const input of inputsOf(part)) visit(input, asksType)
    if (part.kind === 'call') for (const argument of part.args) visit(argument, false)
  }
  visit(expression, false)
}
