// What became of a patient's consents over time, and emergencies between them, as one ordered list.
import { ownOrganization } from '../../../access/caller.ts'
import { type Review, reviewsOf } from '../../../access/consent/reviews.ts'
import type { ConsentStep, Subject } from '../../../consents/service.ts'
import { mergedWith } from '../../../mpi/register/merged.ts'
import { moment } from '../format.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'
import type { PatientPageParts } from './parts.ts'

const perPage = 30

interface Entry {
  readonly at: Date
  readonly content: Html
}

/** Returns the section. @param number of the page of the list, from 1 */
export async function timelineSection(
  parts: PatientPageParts,
  view: PageView,
  requestId: string,
  subject: Subject,
  number: number,
): Promise<Html> {
  const { t, caller } = view
  const { patient } = subject
  const same = (await mergedWith(parts.databaseFor(caller), [patient])).get(patient)!
  const { steps, isCut } = await parts.consents.timeline({ caller, requestId }, subject, ownOrganization(caller))
  const emergencies = await reviewsOf(parts, caller, same)
  const names = await parts.organizationNames([
    ...steps.flatMap(({ by, record }) => [by?.replace(/^.*\//, '') ?? '', record.organization_id ?? '']),
    ...emergencies.map(({ organizationId }) => organizationId),
  ])
  const shown: Shown = {
    ...view,
    timeZone: parts.timeZone,
    nameOf: id => [names.get(id), id].filter(Boolean).join(' · '),
  }
  const entries: Entry[] = [
    ...steps.map(each => ({ at: each.at, content: stepEntry(shown, each) })),
    ...emergencies.map(each => ({ at: each.from, content: emergencyEntry(shown, each) })),
  ].sort((one, other) => other.at.getTime() - one.at.getTime())
  const begin = (number - 1) * perPage
  const page = entries.slice(begin, begin + perPage)
  return html`<section id="timeline"><h2>${t('patients.timeline')}</h2>
${page.length === 0 ? html`<p>${t('patients.timeline.none')}</p>` : list(shown, page, entries.length - begin)}
${isCut && html`<p>${t('patients.timeline.cut')}</p>`}
<p class="pages">${number > 1 && link(patient, number - 1, 'prev', t('patients.timeline.newer'))} ${
    entries.length > begin + perPage && link(patient, number + 1, 'next', t('patients.timeline.older'))
  }</p></section>`
}

const link = (patient: string, number: number, relation: string, words: string): Html =>
  html`<a rel="${relation}" href="/portal/patients/${patient}?timeline=${number}#timeline">${words}</a>`

interface Shown extends PageView {
  readonly timeZone: string
  readonly nameOf: (organization: string) => string
}

/** @param first the number of the first entry, counted from the oldest */
const list = ({ language, timeZone }: Shown, entries: readonly Entry[], first: number): Html =>
  html`<ol class="timeline" reversed start="${first}">
${entries.map(({ at, content }) => html`<li>${moment(at, language, timeZone)} ${content}</li>\n`)}</ol>`

const states = {
  ...{ requested: 'pending', granted: 'done', changed: 'pending', denied: 'failed', revoked: 'failed' },
  ...{ expired: 'repeated', unanswered: 'repeated', withdrawn: 'failed' },
} as const

function stepEntry(
  { t, language, timeZone, nameOf }: Shown,
  { kind, at, consent, version, by, record }: ConsentStep,
): Html {
  const { organization_id: organization, consent_type: type, scopes, purpose, granted_at: granted } = record
  const opens = [type, ...(scopes ?? [])].filter(Boolean).join(', ')
  const end = record.expires_at ?? (kind === 'requested' ? record.request_expires_at : null)
  const isEarlier = granted && Math.abs(Date.parse(granted) - at.getTime()) > 60_000
  return html`<strong class="state ${states[kind]}">${t(`patients.step.${kind}`)}</strong>
${organization && html` ${t('patients.timeline.for')} ${nameOf(organization)}.`}
${opens && html` ${t('patients.column.opens')}: ${opens}.`}${purpose && html` ${t('patients.column.purpose')}: ${purpose}.`}
${kind === 'granted' && isEarlier && html` ${t('patients.timeline.from')} ${moment(new Date(granted), language, timeZone)}.`}
${end && html` ${t('patients.timeline.until')} ${moment(new Date(end), language, timeZone)}.`}
${by && html` ${t('patients.timeline.by')} ${by.startsWith('Patient/') ? t('audit.the_patient') : nameOf(by.replace(/^.*\//, ''))}.`}
<small><code>Consent/${consent}</code> ${t('audit.version', { version })}</small>`
}

const emergencyEntry = ({ t, language, timeZone, nameOf }: Shown, review: Review): Html =>
  html`<strong class="state failed">${t('audit.deed.emergency')}</strong>
${review.clientId || '–'} (${nameOf(review.organizationId)}): <q>${review.reason}</q>
${t('patients.timeline.until')} ${moment(review.until, language, timeZone)}.
<a href="/portal/emergencies?state=${review.state}">${t(`emergencies.state.${review.state}`)}</a>`
