// Conditions that a statement has only where the caller supplies a value.

/** Collects the conditions of a statement and their values, in order. */
export interface Conditions {
  readonly values: unknown[]
  /** The name by which the statement calls a value. */
  bind(value: unknown): string
  and(condition: string): void
  /** Adds a condition on a value, unless the value is undefined. */
  add(value: unknown, condition: (bound: string) => string): void
  /** All of them, joined by `and`. */
  text(): string
}

export function conditions(): Conditions {
  const [values, texts]: [unknown[], string[]] = [[], []]
  const bind = (value: unknown): string => `$${values.push(value)}`
  return {
    values,
    bind,
    and: condition => void texts.push(condition),
    add(value, condition) {
      if (value !== undefined) texts.push(condition(bind(value)))
    },
    text: () => texts.join(' and '),
  }
}
