// Claims about a change to a resource, from its versions before and after: the terms of which rules consist.

import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../lib/json.ts'
import type { Base } from '../store/base.ts'

/** Other resources, by `Type/id`; undefined: looked for and not there. */
export type RelatedResources = ReadonlyMap<string, JsonObject | undefined>

/** What a rule knows in addition to the resource. */
export interface Surroundings {
  /** Of the data set. */
  readonly base: Base
  readonly known: RelatedResources
}

/** One step in the lifecycle of a resource. */
export interface LifecycleStep {
  readonly id: string
  /** Undefined: it is deleted. */
  readonly now: JsonObject | undefined
  /** Undefined: it was not there. */
  readonly before: JsonObject | undefined
  readonly around: Surroundings
}

/** True of some steps. */
export type Claim = (step: LifecycleStep) => boolean
/** True of some resources. */
export type State = (resource: JsonObject, around: Surroundings) => boolean

/** It exists and is in the state. */
export const is =
  (state: State): Claim =>
  ({ now, around }) =>
    now !== undefined && state(now, around)

/** It existed and was in the state. */
export const was =
  (state: State): Claim =>
  ({ before, around }) =>
    before !== undefined && state(before, around)

export const exists: Claim = ({ now }) => now !== undefined
export const gone: Claim = ({ now, before }) => now === undefined && before !== undefined
/** It did not exist before: it is new, or restored after a deletion. */
export const appeared: Claim = ({ now, before }) => now !== undefined && before === undefined

/** It is in the state and was not. */
export const entered = (state: State): Claim => all(is(state), not(was(state)))
/** It was in the state and no longer is, or no longer exists. */
export const left = (state: State): Claim => all(was(state), not(is(state)))
/** It is in the state, and was before. */
export const stayed = (state: State): Claim => all(was(state), is(state))

/** It has changed to one of the statuses from none of them. */
export const became = (...statuses: readonly string[]): Claim => entered(status(...statuses))

/** True if the content has changed, and not only the metadata: who wrote it when, and its narrative. */
export const changed: Claim = ({ now, before }) =>
  now !== undefined && before !== undefined && changedElements(now, before).length > 0

/** Elements that are not part of the content of a resource. */
const technical: ReadonlySet<string> = new Set(['resourceType', 'id', 'meta', 'implicitRules', 'language', 'text'])

/** Names of the elements that differ, as JSON has them (`_birthDate`, `deceasedBoolean`). */
export function changedElements(now: JsonObject, before: JsonObject): string[] {
  const names = new Set([...Object.keys(now), ...Object.keys(before)])
  return [...names].filter(name => !technical.has(name) && !isDeepStrictEqual(now[name], before[name]))
}

/** It has one of the statuses. */
export function status(...statuses: readonly string[]): State {
  const wanted = new Set<unknown>(statuses)
  return resource => wanted.has(resource['status'])
}

/** It is in all of the states. */
export const both =
  (...states: readonly State[]): State =>
  (resource, around) =>
    states.every(state => state(resource, around))

export const all =
  (...claims: readonly Claim[]): Claim =>
  step =>
    claims.every(claim => claim(step))

export const any =
  (...claims: readonly Claim[]): Claim =>
  step =>
    claims.some(claim => claim(step))

export const not =
  (claim: Claim): Claim =>
  step =>
    !claim(step)
