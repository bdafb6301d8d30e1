// A resource: its type, what it contains (dom-2 to dom-5) and the resources a Bundle or Parameters carries.

import { isResourceType, resourceTypes } from '../../definitions/r4.ts'
import { isObject } from '../../lib/json.ts'
import type { InvariantEvaluator } from './invariants.ts'
import { containerOf, kindOf, nameOf, quoted, report, type Walk } from './issues.ts'
import { checkObject } from './object.ts'
import { type Check, createCompiler } from './plan.ts'

/** A check of a whole resource that stands on its own, compiled per type as types appear. */
export function compileResource(evaluator?: InvariantEvaluator): Check {
  const compiler = createCompiler(nested, evaluator)
  return checkIndependent

  function nested(element: string): Check {
    return element.endsWith('.contained') ? checkContained : checkCarried
  }

  function checkCarried(value: unknown, walk: Walk): void {
    const { container, resource, root } = walk
    checkIndependent(value, walk)
    Object.assign(walk, { container, resource, root })
  }

  function checkIndependent(value: unknown, walk: Walk): void {
    if (!isKnown(value, walk)) return
    walk.root = value
    walk.resource = value
    walk.container = containerOf(containedIds(value.contained))
    checkObject(compiler.plan(value.resourceType), value, walk, 'resourceType')
    if (Array.isArray(value.contained)) checkReferenced(value.contained, walk)
  }

  function checkContained(value: unknown, walk: Walk): void {
    if (!isKnown(value, walk)) return
    const { resource } = walk
    walk.resource = value
    checkContainedRules(value, walk)
    checkObject(compiler.plan(value.resourceType), value, walk, 'resourceType')
    walk.resource = resource
  }
}

type Resource = Record<string, unknown> & { resourceType: string }

function isKnown(value: unknown, walk: Walk): value is Resource {
  if (!isObject(value)) {
    report(walk, 'structure', `${nameOf(walk)} must be a resource, not ${kindOf(value)}`)
    return false
  }
  const { resourceType } = value
  if (typeof resourceType === 'string' && isResourceType(resourceType)) return true
  report(walk, 'structure', unknownType(resourceType))
  return false
}

function unknownType(resourceType: unknown): string {
  if (typeof resourceType !== 'string') return 'a resource must have a `resourceType`'
  const meant = resourceTypes.find(it => it.toLowerCase() === resourceType.toLowerCase())
  return `there is no resource type ${quoted(resourceType)}${meant ? `; did you mean ${meant}?` : ''}`
}

const noIds: ReadonlySet<string> = new Set()

function containedIds(contained: unknown): ReadonlySet<string> {
  if (!Array.isArray(contained)) return noIds
  return new Set(contained.flatMap(it => (typeof it?.id === 'string' ? [it.id] : [])))
}

function checkContainedRules(value: Resource, walk: Walk): void {
  if (value.id === undefined) report(walk, 'required', 'a contained resource must have an `id`', 'id')
  if (value.contained !== undefined)
    report(walk, 'invariant', 'a contained resource must not contain resources (dom-2)', 'contained')
  if (!isObject(value.meta)) return
  for (const [name, rule] of [
    ['versionId', 'dom-4'],
    ['lastUpdated', 'dom-4'],
    ['security', 'dom-5'],
  ] as const) {
    if (value.meta[name] === undefined) continue
    report(walk, 'invariant', `a contained resource must not have \`meta.${name}\` (${rule})`, `meta.${name}`)
  }
}

function checkReferenced(contained: unknown[], walk: Walk): void {
  const { referenced, referring } = walk.container
  contained.forEach((it, index) => {
    if (!isObject(it) || typeof it.id !== 'string' || referenced.has(`#${it.id}`) || referring.has(it)) return
    walk.path.push('contained', index)
    report(walk, 'invariant', `nothing refers to the contained resource ${quoted(it.id)} (dom-3)`)
    walk.path.length -= 2
  })
}
