// Reads what Prometheus would scrape, as strictly as the format is written: https://prometheus.io/docs/instrumenting/exposition_formats/
import { expect } from 'vitest'

export interface Figures {
  /** The value of a line by its name and labels, as they are written; undefined: there is none. */
  readonly value: (line: string) => number | undefined
  /** The sum of all lines of a name that have these labels. */
  readonly sum: (name: string, ...labels: readonly string[]) => number
}

export interface Scrape extends Figures {
  readonly status: number
  readonly type: string | null
  readonly text: string
}

const label = '[a-zA-Z_]\\w*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"'
const line = new RegExp(
  `^([a-zA-Z_:][\\w:]*)(?:\\{${label}(?:,${label})*\\})? (-?\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?|NaN|[+-]Inf)$`,
)

/** Scrapes a service. */
export async function scrape(base: string, headers: Record<string, string> = {}): Promise<Scrape> {
  const response = await fetch(`${base}/metrics`, { headers })
  const text = await response.text()
  return { status: response.status, type: response.headers.get('content-type'), text, ...read(text) }
}

export function read(text: string): Figures {
  const lines = text.split('\n').filter(each => each !== '' && !each.startsWith('#'))
  const values = new Map(lines.map(each => [each.slice(0, each.lastIndexOf(' ')), Number(each.split(' ').at(-1))]))
  return {
    value: name => values.get(name),
    sum: (name, ...labels) =>
      [...values]
        .filter(([key]) => key.split('{')[0] === name && labels.every(each => key.includes(each)))
        .reduce((total, [, value]) => total + value, 0),
  }
}

/** Every line is one of the format, every metric has its help and type before its lines, and none comes twice. */
export function mustBeWellFormed(text: string): void {
  expect(text.endsWith('\n')).toBe(true)
  const types = new Map<string, string>()
  const helped = new Set<string>()
  const seen = new Set<string>()
  for (const each of text.split('\n').filter(Boolean)) {
    const [, kind, name, rest] = each.match(/^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/) ?? []
    if (kind === 'HELP') expect(helped.has(name!) || !helped.add(name!), each).toBe(false)
    else if (kind === 'TYPE') {
      expect(rest).toMatch(/^(counter|gauge|histogram)$/)
      expect(types.has(name!) || !types.set(name!, rest!), each).toBe(false)
    } else {
      const metric = each.match(line)?.[1]
      expect(metric, each).toBeDefined()
      const family = types.has(metric!) ? metric! : metric!.replace(/_(bucket|sum|count)$/, '')
      expect(types.has(family) && helped.has(family), each).toBe(true)
      expect(family === metric || types.get(family) === 'histogram', each).toBe(true)
      const key = each.slice(0, each.lastIndexOf(' '))
      expect(seen.has(key) || !seen.add(key), each).toBe(false)
    }
  }
}
