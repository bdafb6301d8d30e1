// What an expression costs, as far as its text shows. Its cost on a resource is counted there (index/account.ts).
import type { Expression } from '../../fhirpath/ast.ts'
import { FhirPathError } from '../../fhirpath/errors.ts'

/** Most characters of an expression, and most parts of its expression for one type. */
export const longestExpression = 10_000
const mostParts = 500

/** @throws FhirPathError with the place of what costs too much on any resource but a small one. */
export function mustBeAffordable(expression: Expression): void {
  let parts = 0
  const visit = (part: Expression, isInWhole: boolean): void => {
    if (++parts > mostParts)
      throw new FhirPathError('semantic', `the expression has more than ${mostParts} parts`, part.at)
    const looksAtAll = part.kind === 'call' && part.args.length > 0 && part.input !== undefined && isWhole(part.input)
    if (looksAtAll && isInWhole)
      throw new FhirPathError(
        'semantic',
        `${part.name}() scans the whole resource for each element: use descendants() only once`,
        part.at,
      )
    for (const input of inputsOf(part)) visit(input, isInWhole)
    if (part.kind === 'call') for (const arg of part.args) visit(arg, isInWhole || looksAtAll)
  }
  visit(expression, false)
}

/** True for a path that goes through all that a resource holds. */
function isWhole(path: Expression): boolean {
  if (path.kind === 'call' && path.name === 'descendants') return true
  return inputsOf(path).some(isWhole)
}

/** What an operator or a step of a path is applied to. */
export function inputsOf(part: Expression): readonly Expression[] {
  switch (part.kind) {
    case 'binary':
      return [part.left, part.right]
    case 'unary':
      return [part.operand]
    case 'indexer':
      return [part.input, part.index]
    case 'member':
    case 'call':
    case 'type':
      return part.input ? [part.input] : []
    default:
      return []
  }
}
