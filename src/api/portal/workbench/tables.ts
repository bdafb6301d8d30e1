// The concept maps of all maps as one table, with search, and the codes that have no line.

import type { Route } from '../../../http/route.ts'
import { Type } from '../../../lib/schema.ts'
import type { CodeTable } from '../../../mapping/workbench/asks.ts'
import { number } from '../format.ts'
import { type Html, html } from '../html.ts'
import { type PageView, page } from '../page.ts'
import { addressOf, roles, tabs, type WorkbenchPageParts } from './parts.ts'

/** Most lines on a page. */
const MOST = 500

export const conceptMapRoute = ({ workbench }: WorkbenchPageParts): Route =>
  page({
    path: '/portal/concept-maps',
    name: 'portalConceptMaps',
    title: 'tables.title',
    roles,
    query: Type.Object(
      { text: Type.Optional(Type.String({ maxLength: 100 })), missing: Type.Optional(Type.Literal('yes')) },
      { additionalProperties: false },
    ),
    async show({ query: { text = '', missing }, caller }, view) {
      const { t } = view
      const all = await workbench.ask(caller.clientId, [], { kind: 'tables' })
      const found = all
        .map(each => matching(each, text.trim().toLowerCase()))
        .filter(each => isShown(each, text, missing))
      return html`${tabs(view)}<p>${t('tables.about')}</p>
<form method="get" class="filters" role="search"><label>${t('tables.search')} <input name="text" value="${text}" maxlength="100"></label>
<label class="choice"><input type="checkbox" name="missing" value="yes"${missing && html` checked`}> <span>${t('tables.only_missing')}</span></label>
<button type="submit">${t('tables.find')}</button></form>${
        found.length === 0 ? html`<p>${t('tables.none')}</p>` : shown(view, found)
      }`
    },
  })

/** A concept map with the lines that contain the text. */
function matching(table: CodeTable, text: string): CodeTable {
  const isFound = (value: string): boolean => value.toLowerCase().includes(text)
  if (text === '' || isFound(`${table.map}#${table.id}`)) return table
  const rows = table.rows.filter(each => [each.from, each.to, each.fromSystem, each.toSystem].some(isFound))
  return { ...table, rows, missing: table.missing.filter(isFound) }
}

const isShown = ({ rows, missing }: CodeTable, text: string, only: string | undefined): boolean =>
  only ? missing.length > 0 : text === '' || rows.length + missing.length > 0

function shown(view: PageView, all: readonly CodeTable[]): Html {
  const { t, language } = view
  let left = MOST
  return html`<p>${t('tables.count', { count: all.length })}</p>${all.map(table => {
    const rows = table.rows.slice(0, Math.max(0, left))
    left -= table.rows.length
    return one(view, { ...table, rows })
  })}${left < 0 && html`<p>${t('tables.more', { count: number(-left, language) })}</p>`}`
}

function one({ t }: PageView, { map, id, rows, missing, isKept }: CodeTable): Html {
  return html`<section><h2><a href="${addressOf(map)}">${map}</a> <code>#${id}</code></h2>${
    missing.length > 0 &&
    html`<p class="failure">${t('tables.missing')} ${missing.map(each => html`<code>${each}</code> `)}</p>`
  }${isKept && html`<p>${t('tables.kept')}</p>`}<table class="cards-on-phones"><thead><tr><th scope="col">${t('tables.from')}</th><th scope="col">${t('tables.relation')}</th><th scope="col">${t('tables.to')}</th></tr></thead><tbody>
${rows.map(
  ({ from, fromSystem, relation, to, toSystem }) =>
    html`<tr><td data-name="${t('tables.from')}"><code>${from}</code> <small>${fromSystem}</small></td><td data-name="${t('tables.relation')}"><code>${relation}</code></td>
<td data-name="${t('tables.to')}">${to === '' ? '–' : html`<code>${to}</code> <small>${toSystem}</small>`}</td></tr>\n`,
)}</tbody></table></section>`
}
