// How long searches take, by their shapes: the type and the names of the parameters, never what was searched for.
import type { SearchRequest } from './request.ts'

/** What was measured of the searches of one shape. */
interface ShapeTimes {
  /** `Observation?code&date&_sort`. */
  readonly shape: string
  readonly count: number
  readonly total: number
  /** In milliseconds, as the total. */
  readonly longest: number
}

export interface SearchShapes {
  note(request: Pick<SearchRequest, 'types' | 'applied'>, milliseconds: number): void
  /** Returns what was measured since it was last taken. */
  take(): ShapeTimes[]
}

/** Shapes that are kept apart between two takings; searches of others are `(others)`. */
const most = 500
/** More of a shape is cut off. */
const longestText = 200

export function createSearchShapes(): SearchShapes {
  let known = new Map<string, ShapeTimes>()
  return {
    note(request, milliseconds) {
      const own = shapeOf(request)
      const shape = known.has(own) || known.size < most ? own : '(others)'
      const { count = 0, total = 0, longest = 0 } = known.get(shape) ?? {}
      known.set(shape, {
        ...{ shape, count: count + 1, total: total + milliseconds },
        longest: Math.max(longest, milliseconds),
      })
    },
    take() {
      const all = [...known.values()]
      known = new Map()
      return all
    },
  }
}

/** Names of parameters are those of the definitions, with modifiers and chains; each stands once, in one order. */
export function shapeOf({ types, applied }: Pick<SearchRequest, 'types' | 'applied'>): string {
  const [type = '*', ...more] = types
  const names = [...new Set(applied.map(([name]) => name).filter(name => name !== '_cursor'))].sort()
  const text = `${more.length > 0 ? '*' : type}?${names.join('&')}`
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text
}
