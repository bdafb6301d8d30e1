// What the search parameters of users may cost on one resource: steps, in proportion to its size, for each and for all together.
import type { Typed } from '../../fhirpath/compile.ts'
import { FhirPathError, TooCostly } from '../../fhirpath/errors.ts'
import { elementsOf, type Steps, spend, spendText } from '../../fhirpath/steps.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { OwnParam } from '../search-params/known.ts'

/** Steps of one parameter on a resource: some, and more for each of its elements. */
const each = { atLeast: 1000, perElement: 10 }
/** Steps of all parameters together. */
const all = { atLeast: 5000, perElement: 20 }
/** Steps that it takes to store a value that was found. */
const stored = 4

/** A parameter that is too expensive to evaluate, with the reason as text for its owner. */
export interface Costly {
  readonly param: OwnParam
  readonly reason: string
}

export interface Account {
  /** Works for a parameter with the steps it has left; undefined if they do not suffice, or if the work fails on this resource. */
  within<T>(param: OwnParam, work: (steps: Steps) => T): T | undefined
  /** The parameters that cost too much on the resource. */
  costly(): Costly[]
}

/** The account of one resource, contained ones included. */
export function createAccount(resource: JsonObject): Account {
  let elements: number | undefined
  const limit = ({ atLeast, perElement }: typeof each): number =>
    atLeast + perElement * (elements ??= elementsOf(resource))
  /** Most resources are of types without such a parameter. */
  let left: Map<OwnParam, Steps> | undefined
  const failed = new Map<OwnParam, string>()
  const stepsOf = (param: OwnParam): Steps => {
    left ??= new Map()
    let steps = left.get(param)
    if (!steps) left.set(param, (steps = { budget: limit(each) }))
    return steps
  }
  return {
    within(param, work) {
      if (failed.has(param)) return undefined
      try {
        return work(stepsOf(param))
      } catch (error) {
        if (error instanceof TooCostly) failed.set(param, exceeded(`more than ${limit(each)} steps`, elements!))
        else if (!(error instanceof FhirPathError)) failed.set(param, broken(error))
        return undefined
      }
    },
    costly() {
      if (!left) return []
      const alone = [...failed].map(([param, reason]) => ({ param, reason }))
      const used = new Map([...left].map(([param, { budget }]) => [param, limit(each) - Math.max(0, budget)]))
      for (const { param } of alone) used.delete(param)
      return [...alone, ...greediest(used, used.size < 3 ? Number.POSITIVE_INFINITY : limit(all), elements ?? 0)]
    },
  }
}

/**
 * Returns the parameters whose removal brings the rest within the overall limit. They come from the client whose parameters cost
 * the most, so that other clients do not lose theirs because one has many.
 */
function greediest(used: Map<OwnParam, number>, limit: number, elements: number): Costly[] {
  const found: Costly[] = []
  for (;;) {
    const total = sum(used.values())
    if (total <= limit) return found
    const clients = [...Map.groupBy(used, ([param]) => param.client).values()]
    const [first] = clients.sort((a, b) => sum(b.map(([, steps]) => steps)) - sum(a.map(([, steps]) => steps)))
    const [param, steps] = first!.reduce((most, one) => (one[1] > most[1] ? one : most))
    used.delete(param)
    const reason = `${steps} of ${total} steps, where all parameters of ${param.of} together may take ${limit},`
    found.push({ param, reason: exceeded(reason, elements) })
  }
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, one) => total + one, 0)

const exceeded = (what: string, elements: number): string =>
  `its expression took ${what} on a resource of ${elements} elements`

const broken = (error: unknown): string =>
  `its expression could not be evaluated (${error instanceof Error ? error.name : typeof error})`

/** The values, their cost in the index counted. */
export function weighed(values: readonly Typed[], steps: Steps): readonly Typed[] {
  spend(steps, stored * values.length)
  for (const { value } of values) if (typeof value === 'string') spendText(steps, value.length)
  return values
}
