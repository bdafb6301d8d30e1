// The figures of npm run bench -- scale, kept in the data folder: each number of resources is told beside the first.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Named rows of a table, each with its values. */
export type Rows = Readonly<Record<string, readonly number[]>>

/** What was measured with so many resources: tables by their titles. */
export interface Figures {
  readonly resources: number
  readonly tables: Readonly<Record<string, Rows>>
}

/** A table as it is printed: what its rows are, and its columns with the digits after the point. */
export interface Heading {
  readonly title: string
  readonly of: string
  readonly columns: Readonly<Record<string, number>>
}

/** Prints the figures as tables, in brackets the multiple of the first ones, and keeps them. */
export function tell(dataDir: string, figures: Figures, headings: readonly Heading[]): void {
  const path = join(dataDir, 'figures.json')
  const kept = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Figures[]) : []
  writeFileSync(path, JSON.stringify([...kept, figures], undefined, 1))
  const first = kept[0]
  const amount = (count: number): string => count.toLocaleString('en')
  const beside = first ? `; in brackets: times the figure at ${amount(first.resources)}` : ''
  process.stdout.write(`\n${amount(figures.resources)} resources${beside}\n`)
  for (const { title, of, columns } of headings) {
    const [names, digits] = [Object.keys(columns), Object.values(columns)]
    process.stdout.write(`\n${title}\n\n| ${[of, ...names].join(' | ')} |\n|---|${names.map(() => '--:|').join('')}\n`)
    for (const [name, values] of Object.entries(figures.tables[title] ?? {})) {
      const former = first?.tables[title]?.[name]
      const cells = values.map((value, at) => {
        const multiple = former?.[at] ? ` (${(value / former[at]).toFixed(2)})` : ''
        return `${value.toLocaleString('en', { maximumFractionDigits: digits[at]! })}${multiple}`
      })
      process.stdout.write(`| ${[name, ...cells].join(' | ')} |\n`)
    }
  }
}
