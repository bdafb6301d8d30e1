// A compartment as a condition: what refers to its patient, encounter, practitioner… by a parameter that R4 names, and that
// resource itself (https://hl7.org/fhir/R4/compartmentdefinition.html).
import { compartmentParams, resourceTypes } from '../../definitions/r4.ts'
import type { Indexer } from '../index/entry.ts'
import { storedKeys } from '../index/param-paths.ts'
import { ofSomePatient, type ParamKey, refPosting, selfHash } from '../index/postings.ts'
import { typeNumber } from '../type-number.ts'
import { typeArray } from './binder.ts'
import type { CompartmentCriterion } from './request.ts'
import { anyOf, postingArray, type SqlContext } from './sql-context.ts'
import { isAboutPatient } from './sql-references.ts'

const memberTypes = new Map<string, readonly string[]>()

/** The types that can be in the compartment of an `of`, that type among them. */
export function membersOf(of: string): readonly string[] {
  let types = memberTypes.get(of)
  if (!types) {
    types = resourceTypes.filter(type => type === of || compartmentParams(of, type).length > 0)
    memberTypes.set(of, types)
  }
  return types
}

export const isInPatientCompartment = (type: string): boolean => membersOf('Patient').includes(type)

/** With `isTypeAsked` the statement restricts the types already; without, the condition alone holds for these types only. */
export function compartmentCondition(
  { types, of, id }: CompartmentCriterion,
  row: string,
  context: Pick<SqlContext, 'bind' | 'indexer' | 'meetsInPostings'>,
  isTypeAsked = true,
): string {
  const { held, keys, isExact } = waysIn(of, types, context.indexer, !context.meetsInPostings)
  const conditions: string[] = []
  if (types.includes(of)) conditions.push(`${row}.self = ${context.bind(selfHash(of, id))}::bigint`)
  if (held.length > 0) {
    const about = isAboutPatient(row, context.bind(selfHash('Patient', id)))
    const only = () => `${row}.type = any(${typeArray(held, context)})`
    conditions.push(isExact && isTypeAsked ? about : `(${about} and ${only()})`)
  }
  if (keys.length > 0)
    conditions.push(
      `${row}.refs && ${postingArray(
        context,
        keys.map(({ key }) => refPosting(key, `${of}/${id}`)),
      )}`,
    )
  return conditions.length > 0 ? anyOf(conditions) : 'false'
}

/** The condition that the row, which is of one of the types, is in the compartment of some patient. */
export function someCompartmentCondition(
  types: readonly string[],
  row: string,
  { bind, indexer }: Pick<SqlContext, 'bind' | 'indexer'>,
): string {
  const { held, keys } = waysIn('Patient', types, indexer)
  const conditions: string[] = []
  if (types.includes('Patient')) conditions.push(`${row}.type = ${typeNumber('Patient')}`)
  if (held.length > 0)
    conditions.push(`(${row}.patient is not null and ${row}.type = any(${typeArray(held, { bind })}))`)
  if (keys.length > 0) conditions.push(`${bind(ofSomePatient)}::bigint = any(${row}.tokens)`)
  return conditions.length > 0 ? anyOf(conditions) : 'false'
}

/** How resources of the types come into a compartment. */
export interface WaysIn {
  /** The types that the column `patient` places in it. */
  readonly held: readonly string[]
  /** The parameters that are found by their postings. */
  readonly keys: readonly { readonly type: string; readonly key: ParamKey }[]
  /** True if the column gives the compartment for every type that has it; a Device has a patient, but is in no compartment. */
  readonly isExact: boolean
}

const known = new Map<string, WaysIn>()

export function waysIn(of: string, types: readonly string[], indexer: Indexer, usesColumn = true): WaysIn {
  const name = `${of} ${usesColumn} ${types}`
  const ready = known.get(name)
  if (ready) return ready
  const ways = findWays(of, types, indexer, usesColumn && of === 'Patient')
  if (known.size > 500) known.clear()
  known.set(name, ways)
  return ways
}

function findWays(of: string, types: readonly string[], indexer: Indexer, usesColumn: boolean): WaysIn {
  const held = new Set<string>()
  const keys: { type: string; key: ParamKey }[] = []
  for (const type of types) {
    const columns = indexer.columns(type).patient
    for (const code of compartmentParams(of, type)) {
      if (usesColumn && columns.has(code)) held.add(type)
      else for (const key of storedKeys(type, code)) keys.push({ type, key })
    }
  }
  const isExact = types.every(type => held.has(type) || indexer.columns(type).patient.size === 0)
  return { held: [...held], keys, isExact }
}
