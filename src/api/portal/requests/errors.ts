// The error codes of the interface: the status of each, and what a developer does about it.
import type { Route } from '../../../http/route.ts'
import { type FailureCode, failureCodes } from '../../../lib/failure.ts'
import { html } from '../html.ts'
import { type PageView, page } from '../page.ts'
import { tabs } from './parts.ts'

/** Returns what to do about an error code; empty for one that a former version had. */
export const advice = ({ t }: PageView, code: string): string =>
  Object.hasOwn(failureCodes, code) ? t(`errors.${code as FailureCode}`) : ''

export const errorCatalogue: Route = page({
  path: '/portal/requests/errors',
  name: 'portalErrors',
  title: 'requests.errors',
  roles: ['developer'],
  show(_request, view) {
    const { t } = view
    const columns = ['code', 'status', 'advice'] as const
    return html`${tabs(view)}<p>${t('requests.errors_about')}</p>
<table class="cards-on-phones"><thead><tr>${columns.map(each => html`<th scope="col">${t(`requests.${each}`)}</th>`)}</tr></thead><tbody>
${Object.entries(failureCodes).map(
  ([
    code,
    { status },
  ]) => html`<tr id="${code}"><th scope="row"><a href="/portal/requests?code=${code}"><code>${code}</code></a></th>
<td data-name="${t('requests.status')}">${status}</td><td data-name="${t('requests.advice')}">${advice(view, code)}</td></tr>\n`,
)}</tbody></table>`
  },
})
