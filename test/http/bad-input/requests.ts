// Requests for an operation, most of them wrong somewhere: in path, query, body, headers, or in who sends them.
import { bodyOf } from './bodies.ts'
import type { Operation } from './description.ts'
import { oddHeader } from './odd-headers.ts'
import { queryOf } from './queries.ts'
import { badTexts, pick, type Roll, singular } from './values.ts'
import { everybody, mayCall, type Sent, type World } from './world.ts'

/** The parts of a request of which one, or a few, are wrong. */
const parts = ['path', 'query', 'body', 'body', 'headers', 'caller', 'method'] as const
type Part = (typeof parts)[number]

/** A request of which nothing is wrong on purpose, or some parts. */
export function requestFor(operation: Operation, world: World, roll: Roll): Sent {
  const wrong = new Set<Part>(Array.from({ length: pick(roll, [0, 1, 1, 1, 1, 2, 2, 3]) }, () => pick(roll, parts)))
  const caller = pick(roll, wrong.has('caller') ? everybody : mayCall(operation))
  const path = pathOf(operation, world, roll, wrong.has('path'))
  const isOtherMethod = wrong.has('method') && roll(3) === 0
  const method = isOtherMethod ? pick(roll, otherMethods) : operation.method
  const query = queryOf(operation, world, roll, wrong.has('query'))
  const { body, type } = bodyOf(operation, { ...world, ...path.about }, roll, wrong.has('body'))
  const own = world.proofs[caller]
  const odd = wrong.has('headers') ? oddHeader(roll, world) : {}
  const isAsync = operation.isFhir && operation.replies.has(202)
  const headers = {
    ...(type === undefined ? {} : { 'content-type': type }),
    ...(isAsync ? { prefer: 'respond-async' } : {}),
    ...own,
    ...odd,
  }
  const isOwn = ['authorization', 'cookie', 'x-client-id', 'x-client-secret'].every(name => odd[name] === undefined)
  return {
    method,
    target: query === '' ? path.text : `${path.text}?${query}`,
    headers,
    body,
    caller: isOwn ? caller : 'nobody',
    isStray: path.isStray || isOtherMethod || !isOwn,
  }
}

const otherMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'TRACE']
// What goes on the wire as it is, and may be read as part of the address.
const rawSegments = [
  '..',
  '%2e%2e',
  '%2F',
  'a%2Fb',
  '',
  '.',
  '%00',
  '%',
  '%zz',
  '%C0%80',
  '%ED%A0%80',
  'a/b',
  '$export',
  'metadata',
]

interface Path {
  readonly text: string
  readonly isStray: boolean
  /** Type and id of the resource that it names. */
  readonly about: Partial<Record<string, string>>
}

function pathOf({ path }: Operation, world: World, roll: Roll, isWrong: boolean): Path {
  let isStray = false
  const about: Partial<Record<string, string>> = {}
  const text = path.replaceAll(/(?<=\/([^/]+)\/)\{(\w+)\}/g, (_all, before: string, name: string) => {
    const owner = before === '{type}' ? (about['type'] ?? '') : before
    const its = /^[A-Z]/.test(owner) ? `id of ${owner}` : `${singular(owner)}_id`
    const known = (name === 'id' ? world.pool.get(its) : world.pool.get(name)) ?? []
    if (known.length > 0 && !(isWrong && roll(3) > 0)) {
      const value = pick(roll, known)
      about[name] = value
      return encodeURIComponent(value)
    }
    if (roll(6) === 0) {
      isStray = true
      return pick(roll, rawSegments)
    }
    const bad = pick(roll, badTexts)
    if (/^(|\.\.?|.*\0.*|\$.*)$/s.test(bad)) isStray = true
    return encodeURIComponent(bad.toWellFormed())
  })
  return { text, isStray, about }
}
