// The list of maps: what each translates, its coverage, examples and last change; and the form for a new one.

import type { Structures } from '../../../fml/structures.ts'
import type { Route } from '../../../http/route.ts'
import { Failure } from '../../../lib/failure.ts'
import { Type } from '../../../lib/schema.ts'
import { draftMap } from '../../../mapping/draft/draft.ts'
import { OWN } from '../../../mapping/resources.ts'
import type { Listed } from '../../../mapping/workbench/asks.ts'
import { sampleOf } from '../../../mapping/workbench/sample.ts'
import { moment, number } from '../format.ts'
import { type Html, html } from '../html.ts'
import { action, type PageView, page } from '../page.ts'
import { editorOf } from './editor.ts'
import { addressOf, filesOf, roles, tabs, type WorkbenchPageParts } from './parts.ts'

const common = { path: '/portal/maps', title: 'maps.title', roles } as const

export const mapListRoutes = (parts: WorkbenchPageParts): Route[] => [
  page({
    ...common,
    name: 'portalMaps',
    async show({ caller }, view) {
      const { workbench } = parts
      const { t } = view
      const all = await workbench.list(caller.clientId)
      const changes = await workbench.changes()
      const problems = workbench.refusal()
      return html`${tabs(view)}<p>${t('maps.about_page')}</p>${
        problems.length > 0 &&
        html`<div class="failure" role="alert"><p>${t('maps.refused')}</p><ul>${problems.map(each => html`<li>${each}</li>`)}</ul></div>`
      }${table(parts, view, all, changes)}${newForm(view, typesIn(workbench.structures()))}`
    },
  }),
  action({
    ...common,
    name: 'portalMapNew',
    title: 'maps.new',
    form: Type.Object(
      {
        name: Type.String({ maxLength: 100 }),
        from: Type.String({ maxLength: 200 }),
        to: Type.String({ maxLength: 200 }),
      },
      { additionalProperties: false },
    ),
    async act({ body: { name, from, to }, caller }, view) {
      const { workbench } = parts
      if (!/^(?:[a-z0-9][a-z0-9-]*\/)?[a-z0-9][a-z0-9-]*$/.test(name))
        throw new Failure('VALIDATION_FAILED', view.t('maps.bad_name'))
      const { files } = await workbench.folder()
      if (filesOf(name, files).map) throw new Failure('CONFLICT', view.t('maps.exists', { name }))
      const structures = workbench.structures()
      const url = (type: string): string => {
        const found = structures.urls.find(each => each === type || structures.byUrl(each) === type)
        if (found) return found
        throw new Failure('VALIDATION_FAILED', view.t('maps.no_type', { type }))
      }
      const text = draftMap(`${OWN}/StructureMap/${name}`, url(from), url(to), structures)
      const sample = sampleOf(structures.byUrl(url(from)) ?? '', structures)
      const input = sample ? JSON.stringify(sample, null, 2) : ''
      return editorOf(parts, view, caller.clientId, name, { text, input })
    },
  }),
]

function table(
  { timeZone }: WorkbenchPageParts,
  view: PageView,
  all: readonly Listed[],
  changes: Awaited<ReturnType<WorkbenchPageParts['workbench']['changes']>>,
): Html {
  const { t, language } = view
  const names = ['map', 'translates', 'covered', 'examples', 'problems', 'changed'] as const
  return html`<table class="cards-on-phones" data-filter="${t('maps.filter')}"><thead><tr>${names.map(
    each => html`<th scope="col">${t(`maps.${each}`)}</th>`,
  )}</tr></thead><tbody>
${all.map(({ name, from = '–', to = '–', read, readable, unset, examples, failing, errors, warnings }) => {
  const last = changes.get(`${name}.fml`)
  return html`<tr><td data-name="${t('maps.map')}"><a href="${addressOf(name)}">${name}</a></td>
<td data-name="${t('maps.translates')}">${from} → ${to}</td>
<td data-name="${t('maps.covered')}">${readable === 0 ? '–' : `${number(read, language)} / ${number(readable, language)}`}${
    unset.length > 0 && html` <span class="state failed">${t('maps.missing', { count: unset.length })}</span>`
  }</td>
<td data-name="${t('maps.examples')}">${examples === 0 ? '–' : html`<span class="state ${failing > 0 ? 'failed' : 'done'}">${examples - failing} / ${examples}</span>`}</td>
<td data-name="${t('maps.problems')}">${
    errors + warnings === 0
      ? '–'
      : html`<span class="state ${errors > 0 ? 'failed' : 'pending'}">${t('maps.counts', { errors, warnings })}</span>`
  }</td>
<td data-name="${t('maps.changed')}">${moment(last?.savedAt, language, timeZone)} ${last?.savedBy}</td></tr>\n`
})}</tbody></table>`
}

function newForm({ t }: PageView, types: readonly string[]): Html {
  return html`<section><h2>${t('maps.new')}</h2><p>${t('maps.new_about')}</p>
<form method="post" action="/portal/maps" class="fields">
<label>${t('maps.name')} <input name="name" required maxlength="100" pattern="([a-z0-9][a-z0-9\\-]*/)?[a-z0-9][a-z0-9\\-]*" placeholder="vaccination-to-fhir"></label>
<label>${t('maps.from')} <input name="from" required maxlength="200" list="types"></label>
<label>${t('maps.to')} <input name="to" required maxlength="200" list="types"></label>
<datalist id="types">${types.map(each => html`<option value="${each}"></option>`)}</datalist>
<button type="submit">${t('maps.draft')}</button></form></section>`
}

/** Every type that a map can be between, those of this service first. */
function typesIn(structures: Structures): string[] {
  const names = structures.urls.map(url => [url.startsWith(OWN) ? 0 : 1, structures.byUrl(url) ?? url] as const)
  return [...new Set(names.toSorted(([a, x], [b, y]) => a - b || (x < y ? -1 : 1)).map(([, name]) => name))]
}
