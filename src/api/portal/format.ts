// Times, durations, sizes and new secrets as people read them, in the language of the page.
import { type Html, html } from './html.ts'
import type { Language } from './texts.ts'

/** Returns a time, exact for programs and readable for people; a dash where there is none. */
export function moment(at: Date | undefined, language: Language, timeZone: string): Html {
  if (!at) return html`–`
  const words = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium', timeZone }).format(at)
  return html`<time datetime="${at.toISOString()}">${words}</time>`
}

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** Returns a number of seconds in the largest unit that it fills: `3 hours`. */
export function duration(seconds: number, language: Language): string {
  const [unit, size] = units.find(([, each]) => Math.abs(seconds) >= each) ?? (['second', 1] as const)
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 0 }).format(
    seconds / size,
  )
}

/** Returns a number of bytes in the largest unit that it fills. */
export function bytes(count: number, language: Language): string {
  const names = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const
  const step = Math.min(names.length - 1, count > 0 ? Math.floor(Math.log10(count) / 3) : 0)
  const format = { style: 'unit', unit: names[step]!, unitDisplay: 'short', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(language, format).format(count / 1000 ** step)
}

export const number = (count: number, language: Language): string => new Intl.NumberFormat(language).format(count)

/** The fields of a new secret or id, shown this once. */
export const shownOnce = (rows: readonly (readonly [string, string])[]): Html =>
  html`<dl class="once">${rows.map(([name, value]) => html`<dt>${name}</dt><dd><code>${value}</code></dd>`)}</dl>`
