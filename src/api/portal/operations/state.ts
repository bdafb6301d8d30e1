// How the service stands at this moment: version, processes, size, and what waits.
import { bytes, duration, number } from '../format.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'
import { table } from '../table.ts'
import type { OperationPageParts } from './parts.ts'

type Totals = ReadonlyMap<string, number>

export function factsOf(
  { version, environment, now }: OperationPageParts,
  { t, language }: PageView,
  totals: Totals,
  size: number,
): Html {
  const started = totals.get('process_start_time_seconds')
  const missing = totals.get('health_interop_workers_missing') ?? 0
  const workers = totals.get('health_interop_workers')
  const rows: readonly (readonly [string, Html | string])[] = [
    [t('operations.version'), version],
    [t('operations.environment'), environment],
    [
      t('operations.workers'),
      workers === undefined
        ? html`<span class="state failed">${t('operations.silent')}</span>`
        : html`${number(workers, language)} ${missing > 0 && html`<span class="state failed">${t('operations.missing', { count: missing })}</span>`}`,
    ],
    [t('operations.running'), started === undefined ? '–' : duration(now().getTime() / 1000 - started, language)],
    [t('operations.size'), bytes(size, language)],
  ]
  return html`<dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>`
}

/** What waits: how many, and for how many seconds the oldest does. */
const queues = [
  ['webhooks', 'webhook_queue_deliveries', 'webhook_oldest_due_seconds'],
  ['later', 'webhook_waiting_deliveries', undefined],
  ['events', 'event_outbox_events', 'event_outbox_oldest_seconds'],
  ['stuck', 'event_outbox_stuck_events', undefined],
  ['audit', 'audit_pending_changes', undefined],
] as const

export function queueSection({ t, language }: PageView, totals: Totals): Html {
  const rows = queues
    .filter(([, figure]) => totals.has(figure))
    .map(([name, figure, oldest]) => {
      const seconds = oldest === undefined ? undefined : totals.get(oldest)
      return [
        t(`operations.queue.${name}`),
        number(totals.get(figure)!, language),
        seconds ? duration(seconds, language) : '–',
      ]
    })
  return html`<section><h2>${t('operations.queues')}</h2>${
    rows.length === 0
      ? html`<p>${t('operations.silent')}</p>`
      : table([t('operations.queue'), t('operations.count'), t('operations.oldest')], rows)
  }</section>`
}
