// The parameters of a statement in the making: values travel apart from its text, always.
import { int2Array } from '../../db/arrays.ts'
import { typeNumber } from '../type-number.ts'

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

/** Resource types as an array of their numbers. */
export const typeArray = (types: readonly string[], { bind }: Pick<Binder, 'bind'>): string =>
  `${bind(int2Array(types.map(typeNumber)))}::smallint[]`
