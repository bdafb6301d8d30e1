// The backlog in the tables of a folder, as a scrape of metrics reads it.

/** A gauge, with the columns that hold its values. */
export interface BacklogFigure {
  /** Also the column of its value, unless it has one for each state. */
  readonly name: string
  readonly help: string
  /** The values of its label `state`, each of which is a column. */
  readonly states?: readonly string[]
  /** True for a count that ends at the most that are counted. */
  readonly isCapped?: true
}

/** The figures of a folder, and the query that answers them. */
export interface Backlog {
  /** The query's name in the statement that joins it with others. */
  readonly name: string
  /** One row of numbers: a column for each value. It looks at `$1::integer` rows of a kind at most. */
  readonly query: string
  readonly figures: readonly BacklogFigure[]
}
