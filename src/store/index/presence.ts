// That a parameter has a value in a resource, as the index shows it.
import type { SearchParamType } from '../../definitions/model.ts'

/**
 * The table whose rows show it without the posting `present`, for a parameter that a user defined: a resource that was stored before
 * the parameter has no such posting if it has rows here.
 */
export function rowsOf(type: SearchParamType | undefined): 'span' | 'word' | undefined {
  if (type === 'date' || type === 'number' || type === 'quantity') return 'span'
  return type === 'string' ? 'word' : undefined
}
