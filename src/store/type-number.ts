// Resource types as the small numbers that tables hold: 1 + the place in the sorted list of R4 types, which is closed.
import { resourceTypes } from '../definitions/r4.ts'

const numbers = new Map(resourceTypes.map((type, index) => [type, index + 1]))

/** The number of a resource type. @throws Error for a name that is no R4 type: callers check first. */
export function typeNumber(type: string): number {
  const number = numbers.get(type)
  if (number === undefined) throw new Error(`no resource type ${type}`)
  return number
}

export function typeName(number: number): string {
  return resourceTypes[number - 1]!
}

/** How a version came about, as tables hold it. */
export const methods = { POST: 1, PUT: 2, PATCH: 3, DELETE: 4 } as const

export type WriteMethod = keyof typeof methods

export function methodName(number: number): WriteMethod {
  return (Object.keys(methods) as WriteMethod[])[number - 1]!
}
