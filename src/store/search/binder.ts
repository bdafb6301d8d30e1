// The parameters of a statement in the making: values travel apart from its text, always.

/** Collects the parameters of a statement. */
export interface Binder {
  readonly values: unknown[]
  /** Adds a value and returns its placeholder. */
  bind(value: unknown): string
}

export function createBinder(): Binder {
  const values: unknown[] = []
  return { values, bind: value => `$${values.push(value)}` }
}
