// What a resource's text must have for an expression to find anything in it: the others need not be read.
import { isResourceType } from '../../definitions/r4.ts'
import type { Expression } from '../../fhirpath/ast.ts'

/** Functions that find nothing where their input is empty. */
const passing = new Set(['where', 'select', 'ofType', 'first', 'last', 'single', 'distinct'])

/** Texts of which every resource has one that the expression finds anything in; undefined if that may be any resource. */
export function needed(expression: Expression): readonly string[] | undefined {
  switch (expression.kind) {
    case 'member': {
      if (isResourceType(expression.name)) return undefined
      // An element is stored under its name; one of several types has the type after its name. A longer text is the rarer one.
      const before = expression.input && needed(expression.input)
      return before?.every(text => text.length > expression.name.length) ? before : [expression.name]
    }
    case 'indexer':
      return needed(expression.input)
    case 'call': {
      const [url] = expression.args
      if (expression.name === 'extension' && url?.kind === 'literal')
        return [plain.test(url.text) ? url.text : 'extension']
      return passing.has(expression.name) && expression.input ? needed(expression.input) : undefined
    }
    case 'binary': {
      if (expression.operator !== '|') return undefined
      const [left, right] = [needed(expression.left), needed(expression.right)]
      return left && right && [...left, ...right]
    }
    default:
      return undefined
  }
}

/** A text that JSON has as it stands. */
const plain = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/
