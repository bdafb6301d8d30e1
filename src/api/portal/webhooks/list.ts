// The webhook subscriptions of an organisation's clients: where they send what, and whether it arrives.

import type { Route } from '../../../http/route.ts'
import { Type } from '../../../lib/schema.ts'
import type { Listed } from '../../../webhooks/endpoints.ts'
import { endpointsSeenBy } from '../../../webhooks/rights.ts'
import { moment } from '../format.ts'
import { type Html, html } from '../html.ts'
import { type PageView, page } from '../page.ts'
import { health, pending, tabs, type WebhookPageParts } from './parts.ts'

const perPage = 50

export const webhookList = (parts: WebhookPageParts): Route =>
  page({
    path: '/portal/webhooks',
    name: 'portalWebhooks',
    title: 'webhooks.title',
    roles: ['developer'],
    query: Type.Object({ after: Type.Optional(Type.String({ pattern: '^\\d{1,15}$' })) }),
    async show({ query: { after = '0' } }, view) {
      const found = await endpointsSeenBy(parts.database, view.caller, { after: Number(after), limit: perPage + 1 })
      const shown = found.slice(0, perPage)
      const { t } = view
      return html`${tabs(view)}<p>${t('webhooks.about')}</p>
${shown.length === 0 ? html`<p>${t('webhooks.none')}</p>` : table(parts, view, shown)}
${found.length > perPage && html`<p><a rel="next" href="/portal/webhooks?after=${shown.at(-1)!.key}">${t('webhooks.next')}</a></p>`}`
    },
  })

function table(parts: WebhookPageParts, view: PageView, endpoints: readonly Listed[]): Html {
  const { t, language } = view
  const names = ['url', 'client', 'subscribed', 'health', 'pending', 'last'] as const
  return html`<table class="cards-on-phones"><thead><tr>${names.map(
    each => html`<th scope="col">${t(`webhooks.${each}`)}</th>`,
  )}</tr></thead><tbody>
${endpoints.map(endpoint => {
  const cells: readonly (readonly [(typeof names)[number], Html | string])[] = [
    ['client', html`<a href="/portal/clients/${encodeURIComponent(endpoint.clientId)}">${endpoint.clientId}</a>`],
    ['subscribed', html`<ul class="tags">${endpoint.events.map(each => html`<li><code>${each}</code></li>`)}</ul>`],
    ['health', health(view, endpoint)],
    ['pending', pending(view, endpoint)],
    ['last', moment(endpoint.lastDeliveryAt, language, parts.timeZone)],
  ]
  return html`<tr><th scope="row"><a href="/portal/webhooks/${endpoint.id}">${endpoint.url}</a></th>${cells.map(
    ([name, value]) => html`<td data-name="${t(`webhooks.${name}`)}"><div>${value}</div></td>`,
  )}</tr>\n`
})}</tbody></table>`
}
