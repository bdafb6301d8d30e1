// Work that arrives while other work of its kind is under way is done together: one statement for many requests wakes PostgreSQL and
// this process once.

/** How work is gathered. */
export interface Gathering<Item> {
  /** Takes from the items that wait, in the order in which they came, those to do together: at least the first. */
  readonly take: (waiting: Item[]) => Item[]
  /** Does them; never throws, since each item knows whom to tell. */
  readonly work: (items: readonly Item[]) => Promise<void>
}

/** Most groups of the same key under way. */
const mostFlights = 4

/** Milliseconds after which further items do not wait for the group under way. */
const slow = 5

/** Items that may be done together. */
interface Group<Item> {
  readonly waiting: Item[]
  flights: number
  /** When the latest flight began, as `performance.now()` has it. */
  begun: number
}

/**
 * Returns the function that gathers items of the same key. One that comes alone is done at once; while a group is under way, those
 * that come form the next one.
 */
export function createGathering<Item>({ take, work }: Gathering<Item>): (key: string, item: Item) => void {
  const groups = new Map<string, Group<Item>>()

  async function fly(key: string, group: Group<Item>): Promise<void> {
    group.flights++
    group.begun = performance.now()
    // What requests that arrived together ask for comes within the same turn of the event loop.
    await new Promise(setImmediate)
    while (group.waiting.length > 0) {
      group.begun = performance.now()
      await work(take(group.waiting))
    }
    group.flights--
    if (group.flights === 0) groups.delete(key)
  }

  return (key, item) => {
    const group = groups.get(key) ?? { waiting: [], flights: 0, begun: 0 }
    groups.set(key, group)
    group.waiting.push(item)
    const isSlow = group.flights < mostFlights && performance.now() - group.begun > slow
    if (group.flights === 0 || isSlow) void fly(key, group)
  }
}
