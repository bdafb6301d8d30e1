// Figures of measurements, and the tables in which they are printed.

export const median = (values: readonly number[]): number => quantile(values, 0.5)

export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN

export const table = (head: readonly string[]): string =>
  `| ${head.join(' | ')} |\n|${head.map((_, index) => (index ? '--:' : '---')).join('|')}|\n`

export const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |\n`
