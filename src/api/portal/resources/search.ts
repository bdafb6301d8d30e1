// A search of one type of resource by FHIR's parameters: a form, a free line, and the matches as a table.

import { readerOf } from '../../../access/officer.ts'
import type { SearchParamModel } from '../../../definitions/model.ts'
import { isResourceType } from '../../../definitions/r4.ts'
import type { Route } from '../../../http/route.ts'
import { Failure } from '../../../lib/failure.ts'
import { isObject, type JsonObject, parseJson } from '../../../lib/json.ts'
import { Type } from '../../../lib/schema.ts'
import type { Hit } from '../../../store/search/hit.ts'
import { encodeCursor } from '../../../store/search/request.ts'
import { moment, number } from '../format.ts'
import { type Html, html, type Piece } from '../html.ts'
import { type PageView, page } from '../page.ts'
import { table } from '../table.ts'
import { type ResourcePageParts, referenceLink, titleOf } from './parts.ts'

const usualCount = 25
const mostCount = 100
/** Those that have no field of their own. */
const withoutField = new Set(['_content', '_filter', '_has', '_list', '_query', '_text', '_type'])

type Pair = readonly [name: string, value: string]

export const resourceSearch = (parts: ResourcePageParts): Route =>
  page({
    path: '/portal/resources/{type}',
    name: 'portalResourceSearch',
    title: 'resources.search',
    roles: [],
    params: Type.Object({ type: Type.String({ maxLength: 60 }) }),
    async show({ params: { type }, search }, view) {
      mustBeType(type)
      const { t } = view
      const fields = [...parts.indexer.params.of(type).values()].filter(({ code }) => !withoutField.has(code))
      const pairs = pairsOf(search)
      const isAsked = search.size > 0
      return html`<p><strong>${type}</strong> · <a href="/portal/resources">${t('resources.other_type')}</a></p>
${form(view, type, fields, pairs)}
${isAsked ? await results(parts, view, type, pairs, search.get('_cursor')) : html`<p>${t('resources.ask')}</p>`}`
    },
  })

/** @throws Failure NOT_FOUND */
export function mustBeType(type: string): void {
  if (!isResourceType(type)) throw new Failure('NOT_FOUND', 'FHIR R4 has no such type of resource.')
  if (type === 'AuditEvent')
    throw new Failure('FORBIDDEN', 'The audit trail is searched on its own page: /portal/audit.')
}

/** Returns what is searched for: the fields that are filled, and the free line, which may be a whole address. */
function pairsOf(search: URLSearchParams): Pair[] {
  const line = (search.get('q') ?? '').trim().replace(/^[^=]*\?/s, '')
  const named = [...search].filter(([name]) => name !== 'q' && name !== '_cursor')
  return [...named, ...new URLSearchParams(line)]
    .map(([name, value]) => [name.trim(), value.trim()] as const)
    .filter(([name, value]) => name !== '' && value !== '' && name !== '_cursor')
}

const queryOf = (pairs: readonly Pair[]): string =>
  new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value])).toString()

/** What has a field stands there, everything else in the free line: modifiers, chains, includes, repetitions. */
function form({ t }: PageView, type: string, fields: readonly SearchParamModel[], pairs: readonly Pair[]): Html {
  const placed = new Map<string, string>()
  const rest: Pair[] = []
  for (const [name, value] of pairs)
    if (fields.some(({ code }) => code === name) && !placed.has(name)) placed.set(name, value)
    else rest.push([name, value])
  return html`<form method="get" action="/portal/resources/${type}" role="search">
<label>${t('resources.line')} <input name="q" maxlength="2000" spellcheck="false" autocomplete="off" value="${decoded(rest)}" placeholder="_sort=-_lastUpdated&amp;_include=*"></label>
<details${placed.size > 0 && html` open`}><summary>${t('resources.parameters', { count: fields.length })}</summary>
<div class="filters">${fields.map(
    ({ code, type: kind, description }) =>
      html`<label><span>${code} <small>${kind}</small></span> <input name="${code}" maxlength="1000" autocomplete="off" title="${description.slice(0, 300)}" value="${placed.get(code)}"></label>\n`,
  )}</div></details>
<p><button type="submit">${t('resources.find')}</button></p></form>`
}

/** A query as people write it; characters that would end a value stay encoded. */
const decoded = (pairs: readonly Pair[]): string =>
  pairs.map(pair => pair.map(each => each.replace(/[%&=+#]/g, encodeURIComponent)).join('=')).join('&')

async function results(
  parts: ResourcePageParts,
  view: PageView,
  type: string,
  pairs: readonly Pair[],
  cursor: string | null,
): Promise<Html> {
  const { t, language, caller } = view
  const store = parts.storeFor(readerOf(caller))
  const counted = pairs.some(([name]) => name === '_count')
    ? pairs
    : [...pairs, ['_count', String(usualCount)] as const]
  const request = store.parse([type], [...counted, ...(cursor === null ? [] : [['_cursor', cursor] as const])], true)
  const found = await store.search({ ...request, count: Math.min(request.count, mostCount) })
  const { matches, included, total, next, warnings, withheld } = found
  const address = (more: readonly Pair[]): string => `/portal/resources/${type}?${queryOf([...pairs, ...more])}`
  return html`<section aria-labelledby="found"><h2 id="found">${t('resources.found')}</h2>
${total !== undefined && html`<p role="status">${t('resources.total', { count: number(total, language) })}</p>`}
${[...warnings, ...withheld].map(each => html`<p class="failure" role="status">${each}</p>`)}
${matches.length === 0 ? request.summary !== 'count' && html`<p>${t('resources.none')}</p>` : hitTable(parts, view, matches)}
${included.length > 0 && html`<h3>${t('resources.included')}</h3>${hitTable(parts, view, included)}`}
<p class="pages">${cursor !== null && html`<a href="${address([['_count', String(request.count)]])}">${t('resources.first')}</a> `}${
    next && html`<a rel="next" href="${address([['_cursor', encodeCursor(next)]])}">${t('resources.next')}</a>`
  }</p></section>`
}

const columns = ['resource', 'what', 'status', 'about', 'updated'] as const

function hitTable(parts: ResourcePageParts, { t, language }: PageView, hits: readonly Hit[]): Html {
  const row = ({ type, id, body }: Hit): Piece[] => {
    const resource = parseJson(body) as JsonObject
    const meta = isObject(resource['meta']) ? resource['meta'] : {}
    const subject = [resource['subject'], resource['patient'], resource['for']].find(isObject)
    const reference = subject?.['reference']
    const updated = meta['lastUpdated']
    return [
      html`<a href="/portal/resources/${type}/${id}">${type}/${id}</a>`,
      titleOf(resource) || '–',
      typeof resource['status'] === 'string' ? resource['status'] : '–',
      typeof reference === 'string' ? referenceLink(reference, parts.base) : '–',
      moment(typeof updated === 'string' ? new Date(updated) : undefined, language, parts.timeZone),
    ]
  }
  return table(
    columns.map(each => t(`resources.column.${each}`)),
    hits.map(row),
  )
}
