// Recent durations of statements, so that costly ones are known before they begin.

/** What is expected of a statement, by those of the same text that ran before it. */
export interface Costs {
  /** Milliseconds that the statement is expected to take; undefined if none like it ran. */
  expected(text: string): number | undefined
  /**
   * Records how long the statement took.
   * @param wasAlone true if no other costly statement of its client ran: in parallel it would have taken longer.
   */
  took(text: string, milliseconds: number, wasAlone: boolean): void
}

/** Most texts that are remembered; the oldest is evicted. */
const most = 5000
/** A longer text has values in it, and does not come again. */
const longestText = 10_000
/** A longer duration adds no information, and would count against the next ones for too long. */
const longest = 2000
/** Weight of the latest duration. */
const weight = 0.25
/**
 * How much longer one takes in parallel with others like it. Without it, a statement that is costly only in parallel would
 * alternate.
 */
const beside = 2.5

export function createCosts(): Costs {
  const means = new Map<string, number>()
  return {
    expected: text => means.get(text),
    took(text, milliseconds, wasAlone) {
      if (text.length > longestText) return
      const took = Math.min(wasAlone ? milliseconds * beside : milliseconds, longest)
      const mean = means.get(text)
      if (mean === undefined && means.size >= most) means.delete(means.keys().next().value!)
      // The mean, in which the latest weighs most.
      means.set(text, mean === undefined ? took : mean + weight * (took - mean))
    },
  }
}
