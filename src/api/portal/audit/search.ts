// The audit trail: a search over the accesses of an organisation, newest first.
import { auditorOf } from '../../../access/officer.ts'
import type { ChainedRecord } from '../../../audit/record.ts'
import type { Route } from '../../../http/route.ts'
import { callerNames } from '../../../identity/names.ts'
import { type Html, html } from '../html.ts'
import { type PageView, page } from '../page.ts'
import { type Filters, filterForm, filterQuery, placeOf, placeText, queryOf, testsOf } from './filters.ts'
import type { AuditPageParts } from './parts.ts'
import { archivedNote, auditTable } from './row.ts'

const count = 50

export const auditSearchRoute = ({ databaseFor, trailFor, timeZone }: AuditPageParts): Route =>
  page({
    path: '/portal/audit',
    name: 'portalAudit',
    title: 'audit.title',
    roles: ['privacy_officer'],
    query: filterQuery,
    async show({ query }, view) {
      const auditor = auditorOf(view.caller)
      const on = databaseFor(auditor)
      const tests = await testsOf(on, query, timeZone)
      const trail = trailFor(auditor)
      const found = await trail.search({ tests, count, after: placeOf(query.after), text: queryOf(query) })
      const rows = found.slice(0, count)
      const names = await callerNames(on, [...new Set(rows.map(each => each.clientId))])
      const archived = found.length > count ? undefined : await trail.archivedUntil(tests)
      const next = found.length > count && linkAfter(view, query, rows.at(-1)!)
      return html`<p>${view.t(auditor.consentExempt ? 'audit.about_all' : 'audit.about_own', { organization: auditor.organizationId })}</p>
${filterForm(view, query)}
${rows.length === 0 ? html`<p>${view.t('audit.none')}</p>` : auditTable({ ...view, filters: query, names, timeZone }, rows)}
${archivedNote(view, archived, timeZone)}
<p class="pages">${query.after && html`<a href="/portal/audit?${queryOf(query)}">${view.t('audit.newest')}</a> `}${next}</p>
<section><h2>${view.t('audit.verify')}</h2><p>${view.t('audit.verify_hint')}</p>
<form method="post" action="/portal/audit/verification"><button type="submit">${view.t('audit.verify')}</button></form></section>`
    },
  })

function linkAfter({ t }: PageView, filters: Filters, record: ChainedRecord): Html {
  return html`<a rel="next" href="/portal/audit?${queryOf(filters, { after: placeText(record) })}">${t('audit.older')}</a>`
}
