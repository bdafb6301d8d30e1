// One resource as formatted JSON, as it is or as it was in one of its versions.

import { readerOf } from '../../../access/officer.ts'
import type { Route } from '../../../http/route.ts'
import { type JsonObject, parseJson } from '../../../lib/json.ts'
import { Type } from '../../../lib/schema.ts'
import { moment, number } from '../format.ts'
import { type Html, html } from '../html.ts'
import { type PageView, page } from '../page.ts'
import { jsonView } from './json.ts'
import { idPattern, type ResourcePageParts, titleOf } from './parts.ts'
import { mustBeType } from './search.ts'

export const resourceParams = Type.Object({
  type: Type.String({ maxLength: 60 }),
  id: Type.String({ pattern: idPattern }),
})

/** The pages of a resource. */
export function tabs({ t }: PageView, type: string, id: string, here: 'json' | 'history' | 'everything'): Html {
  const path = `/portal/resources/${type}/${id}`
  const all = [
    ['json', path],
    ['history', `${path}/history`],
    ...(type === 'Patient' ? [['everything', `${path}/everything`] as const] : []),
  ] as const
  return html`<nav aria-label="${t('resources.pages')}"><ul>${all.map(
    ([name, to]) =>
      html`<li><a href="${to}"${name === here && html` aria-current="page"`}>${t(`resources.tab.${name}`)}</a></li>`,
  )}</ul></nav>`
}

export const resourcePage = (parts: ResourcePageParts): Route =>
  page({
    path: '/portal/resources/{type}/{id}',
    name: 'portalResource',
    title: 'resources.one',
    roles: [],
    params: resourceParams,
    query: Type.Object({ version: Type.Optional(Type.String({ pattern: '^[1-9]\\d{0,8}$' })) }),
    async show({ params: { type, id }, query }, view) {
      mustBeType(type)
      const { t, language } = view
      const store = parts.storeFor(readerOf(view.caller))
      const { body, version, updatedAt } =
        query.version === undefined
          ? await store.read(type, id)
          : await store.readVersion(type, id, Number(query.version))
      const resource = parseJson(body) as JsonObject
      const cut = (count: number): string => t('resources.cut', { count: number(count, language) })
      return html`${tabs(view, type, id, 'json')}
<dl class="facts"><div><dt>${t('resources.column.resource')}</dt><dd><a href="/portal/resources/${type}">${type}</a>/<code>${id}</code></dd></div>
<div><dt>${t('resources.column.what')}</dt><dd>${titleOf(resource) || '–'}</dd></div>
<div><dt>${t('resources.version')}</dt><dd>${version}${query.version !== undefined && html` · <a href="/portal/resources/${type}/${id}">${t('resources.current')}</a>`}</dd></div>
<div><dt>${t('resources.column.updated')}</dt><dd>${moment(updatedAt, language, parts.timeZone)}</dd></div></dl>
${jsonView(resource, parts.base, cut)}`
    },
  })
