// The types of resources, each of which leads to its search.
import { resourceTypes } from '../../../definitions/r4.ts'
import type { Route } from '../../../http/route.ts'
import { html } from '../html.ts'
import { page } from '../page.ts'

const usual = [
  'Patient',
  'Encounter',
  'Observation',
  'Condition',
  'MedicationRequest',
  'DiagnosticReport',
  'Organization',
  'Practitioner',
]

const link = (type: string) => html`<li><a href="/portal/resources/${type}">${type}</a></li>\n`

export const resourceTypesPage: Route = page({
  path: '/portal/resources',
  name: 'portalResources',
  title: 'resources.title',
  roles: [],
  show: (_request, { t }) => html`<p>${t('resources.about')} ${t('resources.reach')}</p>
<section><h2>${t('resources.usual')}</h2><ul class="columns">${usual.map(link)}</ul></section>
<section><h2>${t('resources.all')}</h2><ul class="columns">${resourceTypes
    .filter(each => each !== 'AuditEvent')
    .map(link)}<li><a href="/portal/audit">AuditEvent</a></li></ul></section>`,
})
