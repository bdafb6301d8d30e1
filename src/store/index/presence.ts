// That a parameter has a value in a resource, as the index shows it: docs/decisions/0101-presence.md.
import type { SearchParamModel, SearchParamType } from '../../definitions/model.ts'
import { isRequired } from './param-paths.ts'

/**
 * What is posted for a parameter of R4: `present` where it has a value; `absent` where it has none, since nearly every resource has one;
 * nothing for composites, of which `:missing` cannot be asked.
 */
export type Presence = 'present' | 'absent' | undefined

/** @param isHeld a column of `search` holds the parameter: whom the resource is about, or its clinical date */
export function presenceOf(param: SearchParamModel, type: string, isHeld: boolean): Presence {
  if (param.type === 'composite') return undefined
  return isHeld || isRequired(param, type) ? 'absent' : 'present'
}

/**
 * The table whose rows show it without the posting `present`, for a parameter that a user defined: a resource that was stored before
 * the parameter has no such posting if it has rows here.
 */
export function rowsOf(type: SearchParamType | undefined): 'span' | 'word' | undefined {
  if (type === 'date' || type === 'number' || type === 'quantity') return 'span'
  return type === 'string' ? 'word' : undefined
}
