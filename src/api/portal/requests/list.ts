// The request log: what the organisation's clients, agents and users asked for, newest first.
import { ownOrganization } from '../../../access/caller.ts'
import type { Route } from '../../../http/route.ts'
import { callerNames } from '../../../identity/names.ts'
import { type FoundRequest, findRequests, type Unlogged, unloggedSince } from '../../../requests/search.ts'
import { moment, number } from '../format.ts'
import { type Html, html } from '../html.ts'
import { type PageView, page } from '../page.ts'
import { advice } from './errors.ts'
import { filterForm, filterOf, filterQuery, queryOf } from './filters.ts'
import { type RequestPageParts, tabs } from './parts.ts'

const perPage = 50
const day = 86_400_000

export const requestList = (parts: RequestPageParts): Route =>
  page({
    path: '/portal/requests',
    name: 'portalRequests',
    title: 'requests.title',
    roles: ['developer'],
    query: filterQuery,
    async show({ query, caller }, view) {
      const { t } = view
      const filter = filterOf(query, parts.timeZone)
      await parts.requestLog.flush()
      const on = parts.databaseFor(caller)
      const own = ownOrganization(caller)
      const found = await findRequests(on, own, filter, { after: query.after, limit: perPage + 1 })
      const shown = found.slice(0, perPage)
      const since = new Date(parts.now().getTime() - parts.requestLogDays * day)
      const unlogged = await unloggedSince(on, own, since)
      const names = await callerNames(on, [...new Set(shown.map(each => each.clientId))])
      const values = { organization: caller.organizationId, count: parts.requestLogDays }
      return html`${tabs(view)}<p>${t(own === undefined ? 'requests.about_all' : 'requests.about_own', values)}
${t('requests.kept', values)}</p>
${unlogged && missing(parts, view, unlogged)}${filterForm(view, query, parts.patterns())}
${shown.length === 0 ? html`<p>${t('requests.none')}</p>` : table(parts, view, shown, names)}
<p class="pages">${query.after && html`<a href="/portal/requests?${queryOf(query)}">${t('requests.newest')}</a> `}${
        found.length > perPage &&
        html`<a rel="next" href="/portal/requests?${queryOf(query, shown.at(-1)!.id)}">${t('requests.older')}</a>`
      }</p>
${meanings(view, shown)}`
    },
  })

/** Says what is not in the log. */
const missing = ({ timeZone }: RequestPageParts, { t, language }: PageView, { requests, from, to }: Unlogged): Html =>
  html`<p class="state pending" role="note">${t('requests.unlogged', { count: number(requests, language) })} ${moment(from, language, timeZone)} – ${moment(to, language, timeZone)}</p>`

const tones: Readonly<Record<number, string>> = { 2: 'done', 3: 'done', 4: 'pending', 5: 'failed' }

export const statusText = (status: number): Html =>
  html`<span class="state ${tones[Math.floor(status / 100)]}">${status}</span>`

/** Milliseconds to three digits. */
export const latency = (milliseconds: number, { language }: PageView): string =>
  `${new Intl.NumberFormat(language, { maximumSignificantDigits: 3 }).format(milliseconds)} ms`

function table(
  { timeZone }: RequestPageParts,
  view: PageView,
  requests: readonly FoundRequest[],
  names: ReadonlyMap<string, string>,
): Html {
  const { t, language } = view
  const columns = ['at', 'what', 'client', 'status', 'latency'] as const
  return html`<table class="cards-on-phones"><thead><tr>${columns.map(
    each => html`<th scope="col">${t(`requests.${each}`)}</th>`,
  )}</tr></thead><tbody>
${requests.map(each => {
  const cells: Readonly<Record<(typeof columns)[number], Html | string>> = {
    at: html`<a href="/portal/requests/${each.id}">${moment(each.at, language, timeZone)}</a>`,
    what: html`<code>${each.method} ${each.route || t('requests.no_route')}</code> ${each.resourceType}`,
    client: names.get(each.clientId) ?? sender(each, view),
    status: html`${statusText(each.status)} ${each.errorCode && html`<a href="#${each.errorCode}"><code>${each.errorCode}</code></a>`}`,
    latency: latency(each.milliseconds, view),
  }
  return html`<tr>${columns.map(name => html`<td data-name="${t(`requests.${name}`)}"><div>${cells[name]}</div></td>`)}</tr>\n`
})}</tbody></table>`
}

/** Who sent a request, without a name. */
export function sender({ clientId }: FoundRequest, { t }: PageView): string {
  if (clientId === 'patient') return t('requests.a_patient')
  return clientId || t('requests.nobody')
}

/** What to do about each error code on the page. */
function meanings(view: PageView, requests: readonly FoundRequest[]): Html | false {
  const codes = [...new Set(requests.map(each => each.errorCode).filter(each => each !== ''))].sort()
  return (
    codes.length > 0 &&
    html`<section><h2>${view.t('requests.errors')}</h2><dl>${codes.map(
      each => html`<dt id="${each}"><code>${each}</code></dt><dd>${advice(view, each)}</dd>\n`,
    )}</dl></section>`
  )
}
