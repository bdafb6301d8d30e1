// Who could see what, and why: the store's decision about one client and one type of resource of a patient.
import { ownOrganization, type UserCaller } from '../../../access/caller.ts'
import { type Decision, decide } from '../../../access/consent/decision.ts'
import { purposes, usualPurpose } from '../../../access/consent/purposes.ts'
import type { Queryable } from '../../../db/statement.ts'
import { isResourceType, resourceTypes } from '../../../definitions/r4.ts'
import { clientsOf, findClient } from '../../../identity/clients.ts'
import { moment } from '../format.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'

export interface Question {
  readonly client?: string
  readonly type?: string
  readonly purpose?: string
}

/** Returns the form, and the answer to what it asked. */
export async function decisionSection(
  on: Queryable,
  view: PageView,
  timeZone: string,
  patient: string,
  question: Question,
): Promise<Html> {
  const { t } = view
  const answer = await answered(on, view.caller, patient, question)
  const clients = await clientsOf(on, ownOrganization(view.caller))
  return html`<section id="decision"><h2>${t('patients.decision')}</h2><p>${t('patients.decision_hint')}</p>
${clients.length === 0 ? html`<p>${t('patients.no_clients')}</p>` : form(view, patient, clients, question)}
${answer === 'unknown' ? html`<p role="status">${t('patients.no_client')}</p>` : answer && shown(view, timeZone, answer)}</section>`
}

/** A client of another organisation is one that is not there. */
async function answered(
  on: Queryable,
  caller: UserCaller,
  patient: string,
  { client: id, type, purpose = usualPurpose }: Question,
): Promise<Decision | 'unknown' | undefined> {
  if (!id || !type || !isResourceType(type)) return undefined
  const client = (await findClient(on, id))?.client
  const bound = ownOrganization(caller)
  if (!client || (bound !== undefined && client.organizationId !== bound)) return 'unknown'
  return decide(on, { ...client, isRevoked: client.revokedAt !== undefined }, purpose, patient, type)
}

/** Clients that can be chosen. */
const mostClients = 500

function form(
  { t }: PageView,
  patient: string,
  clients: readonly { readonly id: string; readonly name: string }[],
  { client, type = 'Observation', purpose = usualPurpose }: Question,
): Html {
  const option = (value: string, words: string, chosen: string | undefined): Html =>
    html`<option value="${value}"${value === chosen && html` selected`}>${words}</option>`
  return html`<form method="get" action="/portal/patients/${patient}#decision" class="filters">
<label>${t('patients.client')} <select name="client">${clients.slice(0, mostClients).map(({ id, name }) => option(id, `${name} (${id})`, client))}</select></label>
<label>${t('patients.type')} <select name="type">${resourceTypes.map(each => option(each, each, type))}</select></label>
<label>${t('patients.purpose')} <select name="purpose">${purposes.map(each =>
    option(each, t(`audit.purpose.${each}` as 'audit.purpose.TREAT'), purpose),
  )}</select></label>
<button type="submit">${t('patients.decide')}</button>
</form>`
}

function shown({ t, language }: PageView, timeZone: string, { extent, reason, consents }: Decision): Html {
  return html`<div role="status"><p><strong class="state ${extent === 'none' ? 'failed' : 'done'}">${t(`patients.extent.${extent}`)}</strong> ${t(
    `patients.reason.${reason}`,
  )}</p>
${
  consents.length > 0 &&
  html`<ul>${consents.map(
    ({ id, until }) =>
      html`<li><code>Consent/${id}</code> ${until ? html`${t('patients.until')} ${moment(until, language, timeZone)}` : t('patients.no_end')}</li>`,
  )}</ul>`
}<p>${t('patients.decision_rest')}</p></div>`
}
