// How large a resource may be. Work on one resource blocks the event loop, so it is bounded by size, not by time.

export interface Size {
  /** Values: objects, lists, texts, numbers, those of contained resources included. */
  readonly values: number
  /** Entries of the index, words aside. */
  readonly entries: number
}

/** The largest record in R4's examples and in Synthea's data has some 2,000 values and 300 entries. */
const usual: Size = { values: 20_000, entries: 10_000 }

/** What is a list by its nature: of 30,000 codes, members or entries. */
const large: Size = { values: 100_000, entries: 100_000 }
const lists: ReadonlySet<string> = new Set([
  ...['CodeSystem', 'ValueSet', 'ConceptMap', 'Group', 'List', 'Bundle', 'Parameters', 'CapabilityStatement'],
])

/** How large a resource of a type may be. */
export const boundsOf = (type: string): Size => (lists.has(type) ? large : usual)
