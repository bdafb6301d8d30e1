// `_list`: only what a stored List holds (https://hl7.org/fhir/R4/search.html#list).
import { Failure } from '../../lib/failure.ts'
import { hash64 } from '../../lib/hash.ts'
import { isObject } from '../../lib/json.ts'
import { isId } from '../ids.ts'
import type { Library } from '../terminology/library.ts'
import { objects, referenceTarget, text } from '../values.ts'
import type { ListCriterion } from './request.ts'
import { postingArray, type SqlContext } from './sql-context.ts'

/** Most lists that one parameter names. */
const mostLists = 100

/** Reads the ids of lists. @throws Failure MALFORMED_REQUEST for anything else, the named lists of R4 included. */
export function readList(types: readonly string[], name: string, values: readonly string[]): ListCriterion {
  if (name !== '_list') throw malformed('_list does not support modifiers.')
  if (values.length > mostLists) throw malformed(`_list supports at most ${mostLists} lists.`)
  const lists = values.map(value => value.replace(/^List\//, ''))
  for (const id of lists)
    if (!isId(id))
      throw malformed(
        `_list must contain ids of List resources: "${String(id).slice(0, 60)}" is not an id, and named lists are not supported.`,
      )
  return { kind: 'list', types, lists: [...new Set(lists)] }
}

const malformed = (message: string): Failure =>
  new Failure('MALFORMED_REQUEST', message, { details: [{ field: '_list', code: 'invalid', message }] })

/** The entries of the lists, those marked as deleted left out. @throws Failure NOT_FOUND, INSUFFICIENT_SCOPE. */
export async function entriesOf({ lists, types }: ListCriterion, library: Library): Promise<bigint[]> {
  const found = new Set<string>()
  for (const id of lists) {
    const list = await library.byId('List', id)
    for (const { deleted, item } of objects(list['entry'])) {
      const reference = deleted !== true && isObject(item) ? text(item['reference']) : undefined
      const target = reference === undefined ? undefined : referenceTarget(reference, library.base)
      if (target !== undefined && types.includes(target.split('/', 1)[0]!)) found.add(target)
    }
  }
  return [...found].map(hash64)
}

export function listCondition({ entries }: ListCriterion, row: string, context: SqlContext): string {
  if (!entries) throw new Error('the list was not looked up')
  return entries.length === 0 ? 'false' : `${row}.self = any(${postingArray(context, entries)})`
}
