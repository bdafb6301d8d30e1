// The form for a new client: its scopes with meaning and risk, and how it proves who it is.
import { isAdministrator } from '../../../access/caller.ts'
import { scopes } from '../../../access/scopes.ts'
import { isGuarded } from '../../../identity/client-rights.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'
import { meaning, risk } from './parts.ts'

export function newClientForm(view: PageView): Html {
  const { t, caller } = view
  const grantsAll = isAdministrator(caller)
  return html`<section><h2>${t('clients.create')}</h2>
<form method="post" action="/portal/clients" class="fields wide">
<label>${t('clients.name')} <input name="name" required maxlength="200"></label>
${
  grantsAll &&
  html`<label>${t('clients.organization')} <input name="organization" pattern="[A-Za-z0-9.\\-]{1,64}" placeholder="${caller.organizationId}"></label>`
}<fieldset><legend>${t('clients.scopes')}</legend>
${!grantsAll && html`<p>${t('clients.guarded')}</p>`}
<ul class="choices">${Object.keys(scopes).map(
    each => html`<li><label><input type="checkbox" name="scope" value="${each}"${!grantsAll && isGuarded(each) && html` disabled`}>
<span><code>${each}</code> ${risk(view, each)} <small>${meaning(view, each)}</small></span></label></li>\n`,
  )}</ul></fieldset>
<label>${t('clients.smart')} <input name="smart" maxlength="2000" placeholder="system/Observation.rs"> <small>${t('clients.smart_hint')}</small></label>
${
  grantsAll &&
  html`<label>${t('clients.reason')} <input name="reason" maxlength="500"> <small>${t('clients.reason_hint')}</small></label>`
}<fieldset><legend>${t('clients.proof')}</legend>
<label class="choice"><input type="radio" name="proof" value="secret" checked> <span>${t('clients.proof_secret')}</span></label>
<label class="choice"><input type="radio" name="proof" value="keys"> <span>${t('clients.proof_keys')}</span></label></fieldset>
<button type="submit">${t('clients.create')}</button>
</form></section>`
}
