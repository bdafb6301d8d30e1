// One patient as a privacy officer looks after the patient's rights: consents, accesses, and who could see what. No clinical data.

import { ownOrganization } from '../../../access/caller.ts'
import { purposes } from '../../../access/consent/purposes.ts'
import { auditorOf } from '../../../access/officer.ts'
import { aboutPerson, accessesOf } from '../../../audit/accesses.ts'
import type { ConsentStatus } from '../../../consents/service.ts'
import { resourceTypes } from '../../../definitions/r4.ts'
import type { Route } from '../../../http/route.ts'
import { callerNames } from '../../../identity/names.ts'
import { Type } from '../../../lib/schema.ts'
import { currentHealthIds } from '../../../mpi/register/health-ids.ts'
import { mergedWith } from '../../../mpi/register/merged.ts'
import { placeOf, placeText } from '../audit/filters.ts'
import { archivedNote, auditTable } from '../audit/row.ts'
import { moment } from '../format.ts'
import { type Html, html } from '../html.ts'
import { type PageView, page } from '../page.ts'
import { decisionSection } from './decision.ts'
import { knownPatient, type PatientPageParts } from './parts.ts'
import { timelineSection } from './timeline.ts'

const accessesShown = 20

export const patientRoute = (parts: PatientPageParts): Route =>
  page({
    path: '/portal/patients/{id}',
    name: 'portalPatient',
    title: 'patients.one',
    roles: ['privacy_officer'],
    params: Type.Object({ id: Type.String({ pattern: '^[A-Za-z0-9.-]{1,64}$' }) }),
    query: Type.Object({
      after: Type.Optional(Type.String({ maxLength: 50 })),
      timeline: Type.Optional(Type.String({ pattern: '^[1-9]\\d{0,3}$' })),
      client: Type.Optional(Type.String({ maxLength: 200 })),
      type: Type.Optional(Type.Enum([...resourceTypes])),
      purpose: Type.Optional(Type.Enum([...purposes])),
    }),
    async show({ params: { id }, query, requestId }, view) {
      const { caller, t } = view
      const on = parts.databaseFor(caller)
      const patient = await knownPatient(parts, caller, id, `portal/patients/${id}`)
      const healthId = (await currentHealthIds(on, [patient])).get(patient)
      const subject = { patient, healthId: healthId ?? patient }
      const consents = await parts.consents.list({ caller, requestId }, subject, ownOrganization(caller))
      return html`<dl class="facts"><div><dt>${t('patients.health_id')}</dt><dd>${healthId ?? '–'}</dd></div>
<div><dt>${t('patients.id')}</dt><dd><code>${patient}</code></dd></div></dl>
<section><h2>${t('patients.consents')}</h2>${await consentTable(parts, view, consents)}</section>
${await timelineSection(parts, view, requestId, subject, Number(query.timeline ?? 1))}
<section><h2>${t('patients.accesses')}</h2>${await accesses(parts, view, patient, query.after)}</section>
${await decisionSection(on, view, parts.timeZone, patient, query)}`
    },
  })

const columns = ['status', 'organization', 'opens', 'purpose', 'granted', 'ends', 'consent'] as const
const states = {
  ...{ active: 'done', pending: 'pending', denied: 'failed', revoked: 'failed', expired: 'repeated', none: '' },
} as const

async function consentTable(
  { organizationNames, timeZone }: PatientPageParts,
  { t, language }: PageView,
  consents: readonly ConsentStatus[],
): Promise<Html> {
  if (consents.length === 0) return html`<p>${t('patients.no_consents')}</p>`
  const names = await organizationNames(consents.flatMap(each => each.organization_id ?? []))
  const at = (time: string | null | undefined): Html => moment(time ? new Date(time) : undefined, language, timeZone)
  const cells = (each: ConsentStatus): readonly (Html | string)[] => [
    html`<span class="state ${states[each.status]}">${t(`patients.status.${each.status}`)}</span>`,
    [names.get(each.organization_id ?? ''), each.organization_id].filter(Boolean).join(' · ') || '–',
    [each.consent_type, ...(each.scopes ?? [])].filter(Boolean).join(', ') || '–',
    each.purpose ?? '–',
    at(each.granted_at),
    at(each.revoked_at ?? each.expires_at ?? each.request_expires_at),
    html`<code>${each.consent_id}</code>`,
  ]
  return html`<table class="cards-on-phones"><thead><tr>${columns.map(
    each => html`<th scope="col">${t(`patients.column.${each}`)}</th>`,
  )}</tr></thead><tbody>
${consents.map(
  each =>
    html`<tr>${cells(each).map(
      (cell, index) => html`<td data-name="${t(`patients.column.${columns[index]!}`)}">${cell}</td>`,
    )}</tr>\n`,
)}</tbody></table>`
}

async function accesses(
  { databaseFor, trailFor, timeZone }: PatientPageParts,
  view: PageView,
  patient: string,
  after: string | undefined,
): Promise<Html> {
  const auditor = auditorOf(view.caller)
  const trail = trailFor(auditor)
  const records = (await mergedWith(databaseFor(auditor), [patient])).get(patient)!
  const text = `patient=${patient}`
  const { accesses: found, isCut } = await accessesOf(trail, records, accessesShown, placeOf(after), text)
  const page = found.slice(0, accessesShown)
  const hasMore = found.length > accessesShown || isCut
  const rows = page.map(({ main }) => main)
  const archived = hasMore ? undefined : await trail.archivedUntil([aboutPerson(records)])
  const note = archivedNote(view, archived, timeZone)
  if (rows.length === 0) return html`<p>${view.t('audit.none')}</p>${note}`
  const names = await callerNames(databaseFor(auditor), [...new Set(rows.map(each => each.clientId))])
  const next = hasMore && `/portal/patients/${patient}?after=${placeText(page.at(-1)!.last)}`
  return html`${auditTable({ ...view, filters: { patient }, names, timeZone }, rows)}${note}
<p class="pages">${next && html`<a rel="next" href="${next}">${view.t('audit.older')}</a>`}</p>`
}
