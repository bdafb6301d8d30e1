// One webhook subscription: its state, the forms that change it, and its delivery attempts, newest first.

import type { Route } from '../../../http/route.ts'
import { Type } from '../../../lib/schema.ts'
import { type AttemptRow, attemptsOf } from '../../../webhooks/attempts.ts'
import type { Listed } from '../../../webhooks/endpoints.ts'
import { endpointSeenBy } from '../../../webhooks/rights.ts'
import { moment, number } from '../format.ts'
import { type Html, html } from '../html.ts'
import { type PageView, page } from '../page.ts'
import { overlaps } from './actions.ts'
import { health, pending, tabs, type WebhookPageParts } from './parts.ts'

const perPage = 50
const eventId = Type.String({ pattern: '^(evt_[A-Za-z0-9]{1,90})?$' })

export const webhookPage = (parts: WebhookPageParts): Route =>
  page({
    path: '/portal/webhooks/{id}',
    name: 'portalWebhook',
    title: 'webhooks.one',
    roles: ['developer'],
    params: Type.Object({ id: Type.String({ maxLength: 100 }) }),
    query: Type.Object({
      event: Type.Optional(eventId),
      after: Type.Optional(Type.String({ pattern: '^\\d{1,17},[0-9a-f-]{36},\\d{1,4}$' })),
    }),
    async show({ params: { id }, query: { event = '', after } }, view) {
      const endpoint = await endpointSeenBy(parts.database, view.caller, id)
      const known = after?.split(',')
      const found = await attemptsOf(parts.database, endpoint.key, event || undefined, known, perPage + 1)
      const { t } = view
      return html`${tabs(view)}${facts(parts, view, endpoint)}
<div class="actions">${forms(view, endpoint)}</div>
<section><h2>${t('webhooks.attempts')}</h2>
<p><a href="/portal/webhooks/${id}/replays">${t('replays.title')}</a></p>
<form method="get" action="/portal/webhooks/${id}" class="fields"><label>${t('webhooks.event')} <input name="event" value="${event}" maxlength="100" placeholder="evt_"></label>
<button type="submit">${t('webhooks.filter')}</button></form>
${found.length === 0 ? html`<p>${t('webhooks.no_attempts')}</p>` : table(parts, view, endpoint, found.slice(0, perPage))}
${found.length > perPage && next(view, id, event, found[perPage - 1]!)}</section>`
    },
  })

function next({ t }: PageView, id: string, event: string, { at, delivery, attempt }: AttemptRow): Html {
  const query = new URLSearchParams({ ...(event !== '' && { event }), after: [at, delivery, attempt].join(',') })
  return html`<p><a rel="next" href="/portal/webhooks/${id}?${String(query)}">${t('webhooks.next')}</a></p>`
}

function facts(parts: WebhookPageParts, view: PageView, endpoint: Listed): Html {
  const { t, language } = view
  const at = (each: Date | undefined) => moment(each, language, parts.timeZone)
  const rows: readonly (readonly [string, Html | string] | false)[] = [
    [t('webhooks.url'), html`<code>${endpoint.url}</code>`],
    [t('webhooks.id'), html`<code>${endpoint.id}</code>`],
    [
      t('webhooks.client'),
      html`<a href="/portal/clients/${encodeURIComponent(endpoint.clientId)}">${endpoint.clientId}</a>`,
    ],
    [t('webhooks.organization'), endpoint.organizationId],
    endpoint.description !== '' && [t('webhooks.description'), endpoint.description],
    [t('webhooks.subscribed'), endpoint.events.join(', ')],
    [t('webhooks.health'), health(view, endpoint)],
    endpoint.disabledBecause !== undefined && [
      t('webhooks.disabled_because'),
      html`<span lang="en">${endpoint.disabledBecause}</span>`,
    ],
    [t('webhooks.pending'), pending(view, endpoint)],
    [t('webhooks.last'), at(endpoint.lastDeliveryAt)],
    [t('webhooks.made'), at(endpoint.createdAt)],
  ]
  return html`<dl class="facts">${rows.map(row => row && html`<div><dt>${row[0]}</dt><dd>${row[1]}</dd></div>\n`)}</dl>`
}

function forms({ t }: PageView, { id, events, isActive }: Listed): Html {
  const to = `/portal/webhooks/${id}`
  const wanted = isActive ? 'disabled' : 'active'
  return html`${
    isActive &&
    html`<form method="post" action="${to}/test" class="fields"><label>${t('webhooks.test_type')} <select name="type">${events.map(
      each => html`<option>${each}</option>`,
    )}</select></label><button type="submit">${t('webhooks.test')}</button></form>`
  }<form method="post" action="${to}/status"><input type="hidden" name="status" value="${wanted}">
<button type="submit">${t(`webhooks.set.${wanted}`)}</button> <small>${t(`webhooks.set.${wanted}_hint`)}</small></form>
<form method="post" action="${to}/secret" class="fields"><label>${t('webhooks.overlap')} <select name="overlap">${overlaps.map(
    each =>
      html`<option value="${each}"${each === '86400' && html` selected`}>${t(`webhooks.overlap.${each}`)}</option>`,
  )}</select></label><button type="submit">${t('webhooks.rotate')}</button></form>`
}

function table(parts: WebhookPageParts, view: PageView, endpoint: Listed, attempts: readonly AttemptRow[]): Html {
  const { t } = view
  const names = ['started', 'event', 'attempt', 'outcome', 'duration', 'details'] as const
  return html`<table class="cards-on-phones"><thead><tr>${names.map(
    each => html`<th scope="col">${t(`webhooks.${each}`)}</th>`,
  )}</tr></thead><tbody>
${attempts.map(each => {
  const cells = cellsOf(parts, view, endpoint, each)
  return html`<tr>${names.map(name => html`<td data-name="${t(`webhooks.${name}`)}"><div>${cells[name]}</div></td>`)}</tr>\n`
})}</tbody></table>`
}

const tones: Readonly<Record<string, string>> = { delivered: 'done', exhausted: 'failed', failed: 'pending' }

function cellsOf(parts: WebhookPageParts, { t, language }: PageView, { id, isActive }: Listed, row: AttemptRow) {
  const { event, event_type, outcome, status, error, excerpt, next_at } = row
  const isStored = event_type !== null
  return {
    started: moment(row.started_at, language, parts.timeZone),
    event: html`<code>${event_type ?? '–'}</code> <small>${event}</small>`,
    attempt: number(row.attempt, language),
    outcome: html`<span class="state ${tones[outcome] ?? ''}">${t(`webhooks.outcome.${outcome}` as 'webhooks.outcome.failed')}</span>`,
    duration: `${number(row.milliseconds, language)} ms`,
    details: html`${status !== null && html`<strong>${status}</strong> `}${error !== null && html`<span lang="en">${error}</span>`}
${excerpt && html`<pre><code>${excerpt}</code></pre>`}
${next_at && html`<p>${t('webhooks.next_attempt')} ${moment(next_at, language, parts.timeZone)}</p>`}
${
  isStored &&
  isActive &&
  next_at === null &&
  html`<form method="post" action="/portal/webhooks/${id}/replay"><input type="hidden" name="event" value="${event}"><button type="submit">${t('webhooks.replay')}</button></form>`
}`,
  }
}
