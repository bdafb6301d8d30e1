// Sending many events of a subscription again: which ones, how many that would be, and what came of earlier replays.

import type { Route } from '../../../http/route.ts'
import { callerNames } from '../../../identity/names.ts'
import { Failure } from '../../../lib/failure.ts'
import { type Static, Type } from '../../../lib/schema.ts'
import { asAct } from '../../../store/recording.ts'
import type { Listed } from '../../../webhooks/endpoints.ts'
import { lastReplays, type Replayed, replayMany } from '../../../webhooks/replay-many.ts'
import {
  mostReplayed,
  type Replayable,
  type ReplayWish,
  replayable,
  replayStates,
} from '../../../webhooks/replayable.ts'
import { endpointSeenBy } from '../../../webhooks/rights.ts'
import { moment, number } from '../format.ts'
import { type Html, html } from '../html.ts'
import { action, type PageView, page } from '../page.ts'
import { minuteField, readMinute } from '../span.ts'
import { tabs, type WebhookPageParts } from './parts.ts'

const shown = 5

const common = {
  path: '/portal/webhooks/{id}/replays',
  title: 'replays.title',
  roles: ['developer'],
  params: Type.Object({ id: Type.String({ maxLength: 100 }) }),
} as const

const fields = {
  state: Type.Optional(Type.Enum([...replayStates])),
  ...{ from: minuteField, to: minuteField },
  /** Events up to this one were sent, or looked at, before. */
  after: Type.Optional(Type.String({ pattern: '^evt_[0-9a-f]+$', maxLength: 100 })),
}

const Wish = Type.Object(fields)
const Form = Type.Object(fields, { additionalProperties: false })

type Sent = Static<typeof Wish>

export const replayRoutes = (parts: WebhookPageParts): Route[] => [
  page({
    ...common,
    name: 'portalWebhookReplays',
    query: Wish,
    async show({ params: { id }, query, caller }, view) {
      const endpoint = await endpointSeenBy(parts.database, caller, id)
      const on = parts.databaseFor(caller)
      const wish = wishOf(query, parts)
      const found = wish && (await replayable(on, endpoint, wish))
      const last = await lastReplays(on, endpoint, shown)
      const names = await callerNames(on, [...new Set(last.map(({ userId }) => userId))])
      const { t } = view
      return html`${tabs(view)}<p>${t('replays.about', { count: number(mostReplayed, view.language) })} <a href="/portal/webhooks/${id}">${endpoint.url}</a></p>
${form(view, endpoint, query)}
${found && preview(view, endpoint, query, found)}
<section><h2>${t('replays.last')}</h2>${last.length === 0 ? html`<p>${t('replays.none')}</p>` : table(parts, view, last, names)}</section>`
    },
  }),
  action({
    ...common,
    name: 'portalWebhookReplayMany',
    form: Form,
    async act({ params: { id }, path, body, caller }) {
      const endpoint = await endpointSeenBy(parts.database, caller, id)
      const wish = wishOf(body, parts)
      if (!wish) throw new Failure('VALIDATION_FAILED', 'Say from when to when.')
      const query = `${path}?${new URLSearchParams({ ...body, state: wish.state })}`
      const act = { deed: 'operation', query, patients: [], resources: 0 } as const
      let to = pathOf(id)
      await asAct(parts.database, caller, act, async within => {
        within.afterwards(parts.wakeWebhooks)
        const { begun, next } = await replayMany(within, endpoint, wish, caller.clientId)
        if (next !== undefined) to = goingOn(id, body, next)
        if (begun > 0) return true
        throw new Failure('CONFLICT', 'Nothing is left to send again: look at the deliveries that wait.')
      })
      return { to }
    },
  }),
]

const pathOf = (id: string): string => `/portal/webhooks/${id}/replays`

/** The address of the same wish after an event. */
const goingOn = (id: string, sent: Sent, after: string): string =>
  `${pathOf(id)}?${new URLSearchParams({ state: 'missed', ...sent, after })}`

/** Returns what is asked for; undefined without a beginning. It ends now unless it says when. */
function wishOf(
  { state = 'missed', from, to, after }: Sent,
  { now, timeZone }: Pick<WebhookPageParts, 'now' | 'timeZone'>,
): ReplayWish | undefined {
  const begin = readMinute(from, 'from', timeZone)
  const end = readMinute(to, 'to', timeZone)
  return begin && { state, from: begin, to: end ?? now(), ...(after === undefined ? {} : { after }) }
}

function form({ t }: PageView, { id }: Listed, { state = 'missed', from, to }: Sent): Html {
  return html`<form method="get" action="${pathOf(id)}" class="filters">
<label>${t('replays.state')} <select name="state">${replayStates.map(
    each => html`<option value="${each}"${each === state && html` selected`}>${t(`replays.state.${each}`)}</option>`,
  )}</select></label>
<label>${t('replays.from')} <input type="datetime-local" name="from" required value="${from}"></label>
<label>${t('replays.to')} <input type="datetime-local" name="to" value="${to}"></label>
<button type="submit">${t('replays.preview')}</button>
</form>`
}

/** How many events that would be, and the button that sends them. */
function preview({ t, language }: PageView, endpoint: Listed, sent: Sent, { events, next }: Replayable): Html {
  const { id, isActive } = endpoint
  const count = events.length
  const hidden = Object.entries({ state: 'missed', ...sent }).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  return html`<section><h2>${t('replays.preview')}</h2>
<p role="status">${t('replays.found', { count })} ${next && count > 0 && t('replays.more', { most: number(mostReplayed, language) })}${
    next !== undefined &&
    count === 0 &&
    html`${t('replays.later')} <a href="${goingOn(id, sent, next)}">${t('replays.go_on')}</a>`
  }</p>
${!isActive && html`<p class="failure">${t('replays.disabled')}</p>`}${
  isActive &&
  count > 0 &&
  html`<form method="post" action="${pathOf(id)}">${hidden}<button type="submit">${t('replays.send', { count })}</button></form>`
}</section>`
}

function table(
  { timeZone }: WebhookPageParts,
  { t, language }: PageView,
  replays: readonly Replayed[],
  names: ReadonlyMap<string, string>,
): Html {
  const columns = ['at', 'by', 'what', 'events', 'delivered', 'waiting', 'missed'] as const
  return html`<table class="cards-on-phones"><thead><tr>${columns.map(
    each => html`<th scope="col">${t(`replays.${each}`)}</th>`,
  )}</tr></thead><tbody>
${replays.map(each => {
  const cells: Readonly<Record<(typeof columns)[number], Html | string>> = {
    at: moment(each.at, language, timeZone),
    by: names.get(each.userId) ?? each.userId,
    what: html`${t(`replays.state.${each.state}`)}, ${moment(each.from, language, timeZone)} – ${moment(each.to, language, timeZone)}`,
    events: number(each.events, language),
    delivered: html`<span class="state done">${number(each.delivered, language)}</span>`,
    waiting: number(each.waiting, language),
    missed: html`<span class="state ${each.missed > 0 && 'failed'}">${number(each.missed, language)}</span>`,
  }
  return html`<tr>${columns.map(name => html`<td data-name="${t(`replays.${name}`)}"><div>${cells[name]}</div></td>`)}</tr>\n`
})}</tbody></table>`
}
