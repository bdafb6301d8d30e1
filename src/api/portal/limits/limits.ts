// The limits of an organisation's clients: how much they may ask for, how much they did, and what was refused lately.

import { ownOrganization } from '../../../access/caller.ts'
import type { Database } from '../../../db/database.ts'
import type { Limits, Policy, RateLimitState } from '../../../http/limits.ts'
import type { Route } from '../../../http/route.ts'
import { clientsSeenBy } from '../../../identity/client-rights.ts'
import type { ListedClient } from '../../../identity/clients.ts'
import { Type } from '../../../lib/schema.ts'
import type { RequestLog } from '../../../requests/request-log.ts'
import { type Refusals, refusalsSince, type Usage, usageSince } from '../../../requests/usage.ts'
import type { DatabaseFor } from '../../../store/principal.ts'
import { bytes, duration, moment, number } from '../format.ts'
import { type Html, html } from '../html.ts'
import { type PageView, page } from '../page.ts'

export interface LimitPageParts {
  readonly database: Database
  readonly databaseFor: DatabaseFor
  readonly requestLog: Pick<RequestLog, 'flush'>
  readonly limits: Limits
  /** The patterns of the routes whose requests a policy counts beside the default one. */
  readonly limited: () => Readonly<Record<Exclude<Policy, 'default'>, readonly string[]>>
  /** Limits that do not change with what is asked for. */
  readonly fixedLimits: FixedLimits
  /** Processes, each of which counts for itself. */
  readonly workers: number
  readonly now: () => Date
  readonly timeZone: string
}

interface FixedLimits {
  readonly maxBodyBytes: number
  /** Seconds that a search may take. */
  readonly searchSeconds: number
  /** Database connections that a client holds at a time in a process. */
  readonly connections: number
  readonly bulkJobs: number
  readonly searchParameters: number
  /** Webhooks that a process sends to one receiver at a time. */
  readonly webhooks: number
}

const perPage = 25
const mostRefusals = 50
const minute = 60_000
const refusedWithin = 24 * 60 * minute

export const limitsPage = (parts: LimitPageParts): Route =>
  page({
    path: '/portal/limits',
    name: 'portalLimits',
    title: 'limits.title',
    roles: ['developer'],
    query: Type.Object({ after: Type.Optional(Type.String({ maxLength: 200, pattern: '^\\P{Cc}*$' })) }),
    async show({ query: { after }, caller }, view) {
      const { t } = view
      const found = await clientsSeenBy(parts.database, caller, { after, limit: perPage + 1 })
      const clients = found.slice(0, perPage)
      await parts.requestLog.flush()
      const on = parts.databaseFor(caller)
      const now = parts.now().getTime()
      const ids = clients.map(({ id }) => id)
      const used = await usageSince(on, ids, new Date(now - minute), parts.limited())
      const refused = await refusalsSince(on, ownOrganization(caller), new Date(now - refusedWithin), mostRefusals)
      return html`<p>${t('limits.about')} ${t('limits.processes', { count: parts.workers })}</p>
${clients.length === 0 ? html`<p>${t('clients.none')}</p>` : table(parts, view, clients, used)}
${found.length > perPage && html`<p><a rel="next" href="/portal/limits?after=${encodeURIComponent(clients.at(-1)!.id)}">${t('clients.next')}</a></p>`}
<section><h2>${t('limits.refused')}</h2>${refused.length === 0 ? html`<p>${t('limits.none_refused')}</p>` : refusals(parts, view, refused)}</section>
<section><h2>${t('limits.others')}</h2>${others(view, parts.fixedLimits)}</section>`
    },
  })

const columns = ['policy', 'quota', 'used', 'left', 'reset'] as const

function table(
  { limits }: LimitPageParts,
  view: PageView,
  clients: readonly ListedClient[],
  used: ReadonlyMap<string, Usage>,
): Html {
  const { t } = view
  return html`${clients.map(({ id, name }) => {
    const own = used.get(id)!
    return html`<section><h2><a href="/portal/clients/${encodeURIComponent(id)}">${name}</a></h2>
<table class="cards-on-phones"><thead><tr>${columns.map(each => html`<th scope="col">${t(`limits.${each}`)}</th>`)}</tr></thead><tbody>
${limits.look(`client ${id}`).map(state => row(view, state, state.policy === 'default' ? own.all : own.byClass[state.policy]!))}</tbody></table></section>\n`
  })}`
}

function row(view: PageView, { policy, quota, remaining, reset }: RateLimitState, used: number): Html {
  const { t, language } = view
  const cells: Readonly<Record<Exclude<(typeof columns)[number], 'policy'>, Html | string>> = {
    quota: number(quota, language),
    used: number(used, language),
    left: html`<span class="state ${remaining === 0 ? 'failed' : 'done'}">${number(remaining, language)}</span>`,
    reset: backIn(view, remaining, reset),
  }
  return html`<tr><th scope="row">${t(`limits.policy.${policy}`)}</th>${Object.entries(cells).map(
    ([name, value]) => html`<td data-name="${t(`limits.${name}` as 'limits.quota')}">${value}</td>`,
  )}</tr>\n`
}

/** With none left it says when there is one again. */
function backIn({ t, language }: PageView, remaining: number, reset: number): string {
  if (reset === 0) return t('limits.full')
  return t(remaining === 0 ? 'limits.one_in' : 'limits.all_in', { time: duration(reset, language) })
}

function refusals({ timeZone }: LimitPageParts, { t, language }: PageView, refused: readonly Refusals[]): Html {
  const names = ['client', 'what', 'count', 'last'] as const
  return html`<table class="cards-on-phones"><thead><tr>${names.map(
    each => html`<th scope="col">${t(`limits.${each}`)}</th>`,
  )}</tr></thead><tbody>
${refused.map(({ clientId, method, route, count, last }) => {
  const query = new URLSearchParams({ client: clientId, code: 'RATE_LIMITED', method, route })
  return html`<tr><th scope="row"><a href="/portal/requests?${String(query)}">${clientId}</a></th>
<td data-name="${t('limits.what')}"><code>${method} ${route}</code></td>
<td data-name="${t('limits.count')}">${number(count, language)}</td>
<td data-name="${t('limits.last')}">${moment(last, language, timeZone)}</td></tr>\n`
})}</tbody></table>`
}

function others({ t, language }: PageView, fixed: FixedLimits): Html {
  const rows: readonly (readonly [string, string])[] = [
    [t('limits.body'), bytes(fixed.maxBodyBytes, language)],
    [t('limits.search'), duration(fixed.searchSeconds, language)],
    [t('limits.connections'), number(fixed.connections, language)],
    [t('limits.bulk'), number(fixed.bulkJobs, language)],
    [t('limits.search_parameters'), number(fixed.searchParameters, language)],
    [t('limits.webhooks'), number(fixed.webhooks, language)],
  ]
  return html`<dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>`
}
