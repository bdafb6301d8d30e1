// How many resources of each type there are, and how many more than some days ago.
import type { DaySizes } from '../../../metrics/looking-back.ts'
import type { Sizes } from '../../../metrics/sampler.ts'
import { bytes, number } from '../format.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'
import { table } from '../table.ts'

/** How many samples are looked back, one of each day. */
const back = [1, 7, 30] as const

/** @param days the newest first; today's may be among them */
export function sizeSection(view: PageView, now: Sizes, days: readonly DaySizes[]): Html {
  const { t, language } = view
  const before = back.map(each => days[each])
  const growth = (value: number, then: number | undefined, words: (count: number) => string): string => {
    if (then === undefined) return '–'
    return value === then ? '0' : `${value > then ? '+' : '−'}${words(Math.abs(value - then))}`
  }
  const size = [
    html`<strong>${t('operations.database')}</strong>`,
    bytes(now.bytes, language),
    ...before.map(each => growth(now.bytes, each?.bytes, count => bytes(count, language))),
  ]
  const types = Object.entries(now.types).sort(([, one], [, other]) => other - one)
  const rows = types.map(([type, count]) => [
    html`<a href="/portal/resources/${type}">${type}</a>`,
    number(count, language),
    ...before.map(each => growth(count, each && (each.types[type] ?? 0), more => number(more, language))),
  ])
  const columns = ['type', 'now', 'day', 'week', 'month'] as const
  return html`<section><h2>${t('operations.sizes')}</h2><p>${t('operations.sizes_hint')}</p>
${table(
  columns.map(each => t(`operations.sizes.${each}`)),
  [size, ...rows],
)}</section>`
}
