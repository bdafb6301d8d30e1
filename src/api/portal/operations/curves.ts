// Figures over the last hours: for each curve a table, which the script draws.
import type { Point } from '../../../metrics/sample.ts'
import { assetAddress } from '../assets.ts'
import { moment } from '../format.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'
import { table } from '../table.ts'
import type { TextKey } from '../texts.ts'

/** Hours that can be looked back, and the minutes of one point. */
export const spans = { '6': 5, '24': 20, '48': 40 } as const

export type Span = keyof typeof spans

interface Series {
  readonly title: TextKey
  readonly value: (point: Point) => number | undefined
}

interface Curve {
  readonly title: TextKey
  readonly series: readonly Series[]
}

const megabyte = 1_000_000

const curves: readonly Curve[] = [
  {
    title: 'operations.curve.traffic',
    series: [
      { title: 'operations.series.requests', value: each => each.requestsPerSecond },
      { title: 'operations.series.refused', value: each => each.refusedPerSecond },
      { title: 'operations.series.failed', value: each => each.failedPerSecond },
    ],
  },
  {
    title: 'operations.curve.time',
    series: [
      { title: 'operations.series.p95', value: each => each.p95 && each.p95 * 1000 },
      { title: 'operations.series.lag', value: each => each.lag * 1000 },
    ],
  },
  {
    title: 'operations.curve.load',
    series: [
      { title: 'operations.series.in_flight', value: each => each.inFlight },
      { title: 'operations.series.connections', value: each => each.connections },
    ],
  },
  { title: 'operations.curve.waiting', series: [{ title: 'operations.series.waiting', value: each => each.waiting }] },
  {
    title: 'operations.curve.memory',
    series: [{ title: 'operations.series.memory', value: each => each.memory / megabyte }],
  },
]

export function curveSection(view: PageView, timeZone: string, span: Span, points: readonly Point[]): Html {
  const { t } = view
  return html`<section aria-labelledby="curves"><h2 id="curves">${t('operations.curves')}</h2>
<nav aria-label="${t('operations.span')}"><ul>${Object.keys(spans).map(
    each =>
      html`<li><a href="/portal/operations?hours=${each}"${each === span && html` aria-current="page"`}>${t('operations.hours', { hours: each })}</a></li>`,
  )}</ul></nav>
${points.length === 0 ? html`<p>${t('operations.no_samples')}</p>` : html`<div class="curves" data-time-zone="${timeZone}">${curves.map(each => figure(view, timeZone, each, points))}</div>`}
<link rel="stylesheet" href="${assetAddress('uplot.css')}">
<script type="module" src="${assetAddress('operations.js')}"></script></section>`
}

function figure({ t, language }: PageView, timeZone: string, { title, series }: Curve, points: readonly Point[]): Html {
  const format = new Intl.NumberFormat(language, { maximumSignificantDigits: 3 })
  const cell = (value: number | undefined): Html =>
    value === undefined ? html`–` : html`<data value="${value}">${format.format(value)}</data>`
  const rows = points.map(point => [
    moment(point.at, language, timeZone),
    ...series.map(each => cell(each.value(point))),
  ])
  return html`<figure class="curve"><figcaption>${t(title)}</figcaption>
<details><summary>${t('operations.as_table')}</summary>${table(
    [t('operations.when'), ...series.map(each => t(each.title))],
    rows,
  )}</details></figure>\n`
}
