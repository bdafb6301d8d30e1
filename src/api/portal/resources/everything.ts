// Everything about a patient, day by day and type by type, as far as the user may see it.

import { readerOf } from '../../../access/officer.ts'
import { isResourceType } from '../../../definitions/r4.ts'
import type { Route } from '../../../http/route.ts'
import { dayIn } from '../../../lib/day.ts'
import { type JsonObject, parseJson } from '../../../lib/json.ts'
import { Type } from '../../../lib/schema.ts'
import { noDate } from '../../../store/index/draft.ts'
import type { Hit } from '../../../store/search/hit.ts'
import { number } from '../format.ts'
import { type Html, html } from '../html.ts'
import { type PageView, page } from '../page.ts'
import { resourceParams, tabs } from './one.ts'
import { type ResourcePageParts, titleOf } from './parts.ts'

/** Most resources that are read for one page, and that a page shows. */
const most = { read: 500, shown: 100 }

export const everythingPage = (parts: ResourcePageParts): Route =>
  page({
    path: '/portal/resources/Patient/{id}/everything',
    name: 'portalResourceEverything',
    title: 'resources.everything',
    roles: [],
    params: Type.Object({ id: resourceParams.properties.id }),
    query: Type.Object({
      type: Type.Optional(Type.String({ maxLength: 60 })),
      page: Type.Optional(Type.String({ pattern: '^[1-9]\\d?$' })),
    }),
    async show({ params: { id }, query }, view) {
      const { t, language } = view
      const type = query.type !== undefined && isResourceType(query.type) ? query.type : undefined
      const nth = Number(query.page ?? 1)
      const { matches, next } = await parts.storeFor(readerOf(view.caller)).everything({
        ...{ patient: id, start: undefined, end: undefined, since: undefined, after: undefined },
        ...{ types: type === undefined ? undefined : [type], count: most.read },
      })
      const items = matches.map(each => itemOf(parts, each)).sort(byDay)
      const begin = (nth - 1) * most.shown
      const shown = items.slice(begin, begin + most.shown)
      const link = (to: number, relation: string, words: string): Html =>
        html`<a rel="${relation}" href="/portal/resources/Patient/${id}/everything?${new URLSearchParams({ ...(type && { type }), page: String(to) }).toString()}">${words}</a> `
      return html`${tabs(view, 'Patient', id, 'everything')}
<p>${t('resources.count', { count: number(items.length, language) })} ${next && t('resources.more', { count: number(most.read, language) })}</p>
${typeForm(view, id, type, items)}
${days(view, shown)}
<p class="pages">${nth > 1 && link(nth - 1, 'prev', t('resources.newer'))}${items.length > begin + most.shown && link(nth + 1, 'next', t('resources.older'))}</p>`
    },
  })

interface Item extends Pick<Hit, 'type' | 'id'> {
  /** YYYY-MM-DD; empty: the resource has no date of its own. */
  readonly day: string
  readonly title: string
}

function itemOf({ indexer, timeZone }: ResourcePageParts, { type, id, body }: Hit): Item {
  const resource = parseJson(body) as JsonObject
  const { date } = indexer.entry(resource, true)
  const day = date === noDate ? '' : dayIn(timeZone, new Date(date))
  return { type, id, day, title: titleOf(resource) }
}

/** The newest day first; what has none comes last. */
const byDay = (one: Item, other: Item): number => other.day.localeCompare(one.day) || one.type.localeCompare(other.type)

function typeForm({ t }: PageView, id: string, chosen: string | undefined, items: readonly Item[]): Html {
  const types = [...new Set([...(chosen ? [chosen] : []), ...items.map(({ type }) => type)])].sort()
  return html`<form method="get" action="/portal/resources/Patient/${id}/everything" class="filters">
<label>${t('resources.type')} <select name="type"><option value="">${t('resources.all_types')}</option>${types.map(
    each => html`<option value="${each}"${each === chosen && html` selected`}>${each}</option>`,
  )}</select></label>
<button type="submit">${t('resources.show')}</button></form>`
}

function days({ t, language }: PageView, items: readonly Item[]): Html {
  const words = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' })
  const dayWords = (day: string): Html =>
    day === ''
      ? html`${t('resources.undated')}`
      : html`<time datetime="${day}">${words.format(new Date(`${day}T00:00:00Z`))}</time>`
  const ofType = (type: string, all: readonly Item[]): Html =>
    html`<h3>${type}</h3><ul>${all.map(({ id, title }) => html`<li><a href="/portal/resources/${type}/${id}">${title || id}</a></li>\n`)}</ul>`
  return html`${[...Map.groupBy(items, ({ day }) => day)].map(
    ([day, all]) =>
      html`<section><h2>${dayWords(day)}</h2>${[...Map.groupBy(all, ({ type }) => type)].map(([type, some]) => ofType(type, some))}</section>\n`,
  )}`
}
