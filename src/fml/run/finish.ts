// Copies of values, and the last look at what was made: FHIR has no empty objects and no empty lists.
// https://hl7.org/fhir/R4/json.html

import { isObject } from '../../lib/json.ts'
import type { Json, Run } from './frame.ts'
import { Refusal } from './map-error.ts'
import { arrange } from './order.ts'
import { settleDoubts } from './write.ts'

/** The shortest has nine letters, which most keys have not. */
const HARMFUL = new Set(['__proto__', 'constructor', 'prototype'])
const DEEPEST = 100

/** True for a name that must not become a property, from any source, or that every object of JavaScript has. */
export function isHarmful(key: string): boolean {
  return HARMFUL.has(key) || key in Object.prototype
}

/** A copy that shares nothing with the original that could be changed. */
export function clone(value: unknown, depth = 0): unknown {
  if (depth > DEEPEST) throw new Refusal(`the data is nested deeper than ${DEEPEST} levels`)
  if (Array.isArray(value)) return value.map(each => clone(each, depth + 1))
  if (!isObject(value)) return value
  const copy: Json = {}
  for (const key of Object.keys(value))
    if (key.length < 9 || !HARMFUL.has(key)) copy[key] = clone(value[key], depth + 1)
  return copy
}

/** Returns a copy of the sibling of a primitive, its id and extensions. */
export function cloneSibling(sibling: unknown): Json | undefined {
  return isObject(sibling) ? (clone(sibling) as Json) : undefined
}

/** Puts lists in their order, and takes away what stayed empty. */
export function finish(made: Json, run: Run): Json {
  if (run.doubts) settleDoubts(run)
  if (run.orders) for (const order of run.orders.values()) arrange(order)
  prune(made)
  return made
}

/** True if nothing is left. */
function prune(object: Json): boolean {
  let empty = true
  for (const key in object) {
    const value = object[key]
    if (isVacant(object, key, value)) delete object[key]
    else empty = false
  }
  return empty
}

/** A raw number is an object too, which is never empty. */
function isVacant(object: Json, key: string, value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (typeof value !== 'object') return false
  return Array.isArray(value) ? pruneList(object, key, value) : prune(value as Json)
}

function pruneList(object: Json, key: string, list: unknown[]): boolean {
  const [first] = list
  const isPlain = isObject(first) && !key.startsWith('_')
  return isPlain ? pruneObjects(list) : prunePrimitives(object, key, list)
}

function pruneObjects(list: unknown[]): boolean {
  let kept = 0
  for (let i = 0; i < list.length; i++) {
    const item = list[i]
    if (item === null || item === undefined || (typeof item === 'object' && prune(item as Json))) continue
    if (kept !== i) list[kept] = item
    kept++
  }
  if (kept < list.length) list.length = kept
  return kept === 0
}

/** Lists of primitives keep null where only an extension stands, and the other way round. */
function prunePrimitives(object: Json, key: string, list: unknown[]): boolean {
  let kept = 0
  const siblings = object[`_${key}`]
  const isPaired = key.startsWith('_') || Array.isArray(siblings)
  for (const item of list) {
    const isGone = item === null || item === undefined || (isObject(item) && prune(item))
    if (!isGone) list[kept++] = item
    else if (isPaired) list[kept++] = null
  }
  list.length = kept
  if (isPaired && Array.isArray(siblings)) while (siblings.length < kept) siblings.push(null)
  return kept === 0 || (key.startsWith('_') && list.every(item => item === null))
}
