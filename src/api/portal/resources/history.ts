// The versions of a resource, the newest first, each with what it changed.

import { readerOf } from '../../../access/officer.ts'
import type { Route } from '../../../http/route.ts'
import { Failure } from '../../../lib/failure.ts'
import { isObject, type JsonObject, parseJson } from '../../../lib/json.ts'
import type { Piece } from '../../../lib/pieces.ts'
import { Type } from '../../../lib/schema.ts'
import { type Difference, differences } from '../../../mapping/difference.ts'
import type { HistoryPlace } from '../../../store/history.ts'
import { typeNumber } from '../../../store/type-number.ts'
import type { Version } from '../../../store/versions.ts'
import { moment, number } from '../format.ts'
import { type Html, html } from '../html.ts'
import { type PageView, page } from '../page.ts'
import { resourceParams, tabs } from './one.ts'
import type { ResourcePageParts } from './parts.ts'
import { mustBeType } from './search.ts'

const perPage = 20
/** Most places that are shown of one change, and the longest value. */
const most = { places: 100, text: 300 }

export const resourceHistory = (parts: ResourcePageParts): Route =>
  page({
    path: '/portal/resources/{type}/{id}/history',
    name: 'portalResourceHistory',
    title: 'resources.history',
    roles: [],
    params: resourceParams,
    query: Type.Object({ after: Type.Optional(Type.String({ maxLength: 30 })) }),
    async show({ params: { type, id }, query }, view) {
      mustBeType(type)
      const { t } = view
      const store = parts.storeFor(readerOf(view.caller))
      const after = placeOf(type, id, query.after)
      const { versions } = await store.history({ type, id, count: perPage, ...(after && { after }) })
      const shown = versions.slice(0, perPage)
      const last = shown.at(-1)
      const next = versions.length > perPage && last && `${last.updatedAt.getTime()}-${last.version}`
      return html`${tabs(view, type, id, 'history')}<p><a href="/portal/resources/${type}/${id}">${type}/${id}</a></p>
<ol class="timeline">${shown.map((each, index) => entry(parts, view, each, versions[index + 1]))}</ol>
<p class="pages">${next && html`<a rel="next" href="/portal/resources/${type}/${id}/history?after=${next}">${t('resources.older')}</a>`}</p>`
    },
  })

/** @throws Failure MALFORMED_REQUEST */
function placeOf(type: string, id: string, after: string | undefined): HistoryPlace | undefined {
  if (after === undefined) return undefined
  const [, time, version] = /^(\d{1,15})-(\d{1,9})$/.exec(after) ?? []
  if (time === undefined)
    throw new Failure('MALFORMED_REQUEST', 'The page link is not valid: follow the links of the previous page.')
  return { time: Number(time), type: typeNumber(type), id, version: Number(version) }
}

function entry(parts: ResourcePageParts, view: PageView, version: Version, before: Version | undefined): Html {
  const { t, language } = view
  const { type, id, version: nth, body, updatedAt } = version
  const title =
    body === null
      ? html`<strong class="state failed">${t('resources.deleted')}</strong>`
      : html`<a href="/portal/resources/${type}/${id}?version=${nth}">${t('resources.version')} ${nth}</a>`
  const isChange = body !== null && before?.body != null && before.version === nth - 1
  return html`<li>${title} ${moment(updatedAt, language, parts.timeZone)}
${isChange ? changes(view, nth, differences(comparable(before.body!), comparable(body))) : body !== null && html`<p>${t('resources.whole')}</p>`}</li>\n`
}

/** Version and time differ always. */
function comparable(body: Piece): JsonObject {
  const { meta, ...rest } = parseJson(body) as JsonObject
  const { versionId: _version, lastUpdated: _time, ...kept } = isObject(meta) ? meta : {}
  return { ...rest, meta: kept }
}

function changes({ t, language }: PageView, version: number, all: readonly Difference[]): Html {
  if (all.length === 0) return html`<p>${t('resources.same')}</p>`
  const more = all.length - most.places
  const item = ({ path, expected, got }: Difference): Html =>
    html`<li><code>${path || '/'}</code>: ${shown(expected) ?? html`<em>${t('resources.nothing')}</em>`} → ${
      shown(got) ?? html`<em>${t('resources.nothing')}</em>`
    }</li>\n`
  return html`<details${all.length <= 10 && html` open`}><summary>${t('resources.changes', { count: all.length })}<span class="hidden"> (${t('resources.version')} ${version})</span></summary>
<ul>${all.slice(0, most.places).map(item)}</ul>${more > 0 && html`<p>${t('resources.more_changes', { more: number(more, language) })}</p>`}</details>`
}

function shown(value: unknown): Html | undefined {
  if (value === undefined) return undefined
  const text = JSON.stringify(value)
  return html`<code>${text.length > most.text ? `${text.slice(0, most.text).toWellFormed()}…` : text}</code>`
}
