// The operations of the API by tag: the way into the console.
import type { Route } from '../../../http/route.ts'
import { html } from '../html.ts'
import { page } from '../page.ts'
import { inConsole } from './frame.ts'
import type { Operation } from './operations.ts'
import type { ConsolePageParts, Operations } from './parts.ts'

export const consoleList = (parts: ConsolePageParts, operations: Operations): Route =>
  page({
    path: '/portal/console',
    name: 'portalConsole',
    title: 'console.title',
    roles: ['developer'],
    async show({ caller }, view) {
      const { t } = view
      const byTag = Map.groupBy(operations.all(), each => each.tag)
      return inConsole(
        parts,
        view,
        caller,
        [],
        html`<p>${t('console.about')}</p>
<p><a href="/portal/console/search" data-inside>${t('console.search_help')}</a> · <a href="/openapi.json">OpenAPI</a></p>
${[...byTag].map(
  ([tag, all]) => html`<section><h2 lang="en">${tag}</h2><ul class="operations">${all.map(line)}</ul></section>\n`,
)}`,
      )
    },
  })

const line = ({ id, method, path, summary }: Operation) =>
  html`<li><a href="/portal/console/${id}" data-inside lang="en">${summary}</a> <small><code>${method} ${path}</code></small></li>\n`
