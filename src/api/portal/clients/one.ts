// One client: what it may do, its live secrets and public keys, and the forms that change these.

import type { Route } from '../../../http/route.ts'
import { clientSeenBy, mayChangeCredentials } from '../../../identity/client-rights.ts'
import type { ListedClient } from '../../../identity/clients.ts'
import { Type } from '../../../lib/schema.ts'
import { moment } from '../format.ts'
import { type Html, html } from '../html.ts'
import { type PageView, page } from '../page.ts'
import { overlaps } from './credentials.ts'
import { state } from './list.ts'
import { type ClientPageParts, meaning, risk } from './parts.ts'

export const clientPage = (parts: ClientPageParts): Route =>
  page({
    path: '/portal/clients/{id}',
    name: 'portalClient',
    title: 'clients.one',
    roles: ['developer'],
    params: Type.Object({ id: Type.String({ maxLength: 200 }) }),
    async show({ params: { id } }, view) {
      const client = await clientSeenBy(parts.database, view.caller, id)
      const { t } = view
      const mayChange = mayChangeCredentials(view.caller, client)
      return html`${facts(parts, view, client)}
<section><h2>${t('clients.scopes')}</h2>${scopeTable(view, client.scopes)}</section>
${
  !client.revokedAt &&
  html`${!mayChange && html`<p>${t('clients.only_administrators')}</p>`}
<section><h2>${t('clients.secrets')}</h2>${secretTable(parts, view, client)}${mayChange && rotateForm(view, client)}</section>
<section><h2>${t('clients.keys')}</h2>${keys(view, client)}${mayChange && keyForm(view, client)}</section>
<section><h2>${t('clients.revoke')}</h2>${revokeForm(view, client)}</section>`
}`
    },
  })

function facts(parts: ClientPageParts, view: PageView, client: ListedClient): Html {
  const { t, language } = view
  const rows: readonly (readonly [string, Html | string] | false)[] = [
    [t('clients.name'), client.name],
    [t('clients.id'), html`<code>${client.id}</code>`],
    [t('clients.organization'), client.organizationId],
    [t('clients.state'), state(view, client)],
    [t('clients.made'), moment(client.createdAt, language, parts.timeZone)],
    [t('clients.used'), moment(client.lastUsedAt, language, parts.timeZone)],
    client.revokedAt !== undefined && [t('clients.revoked_at'), moment(client.revokedAt, language, parts.timeZone)],
    client.consentExempt && [t('clients.consent'), t('clients.consent_exempt')],
  ]
  return html`<dl class="facts">${rows.map(row => row && html`<div><dt>${row[0]}</dt><dd>${row[1]}</dd></div>\n`)}</dl>`
}

function scopeTable(view: PageView, held: readonly string[]): Html {
  const { t } = view
  const names = ['scope', 'meaning', 'risk'] as const
  return html`<table class="cards-on-phones"><thead><tr>${names.map(
    each => html`<th scope="col">${t(`clients.${each}`)}</th>`,
  )}</tr></thead><tbody>
${held.map(
  each => html`<tr><th scope="row"><code>${each}</code></th><td data-name="${t('clients.meaning')}">${meaning(view, each)}</td>
<td data-name="${t('clients.risk')}">${risk(view, each)}</td></tr>\n`,
)}</tbody></table>`
}

function secretTable(parts: ClientPageParts, view: PageView, { secrets }: ListedClient): Html {
  const { t, language } = view
  if (secrets.length === 0) return html`<p>${t('clients.no_secrets')}</p>`
  const names = ['label', 'made', 'used', 'ends'] as const
  const at = (each: Date | undefined) => moment(each, language, parts.timeZone)
  return html`<table class="cards-on-phones"><thead><tr>${names.map(
    each => html`<th scope="col">${t(`clients.${each}`)}</th>`,
  )}</tr></thead><tbody>
${secrets.map(
  ({ label, createdAt, lastUsedAt, expiresAt }) => html`<tr><th scope="row">${label ?? t('clients.unlabelled')}</th>
<td data-name="${t('clients.made')}">${at(createdAt)}</td><td data-name="${t('clients.used')}">${lastUsedAt ? at(lastUsedAt) : t('clients.never')}</td>
<td data-name="${t('clients.ends')}">${expiresAt ? at(expiresAt) : t('clients.never_ends')}</td></tr>\n`,
)}</tbody></table>`
}

const addressOf = ({ id }: ListedClient): string => `/portal/clients/${encodeURIComponent(id)}`

function rotateForm({ t }: PageView, client: ListedClient): Html {
  return html`<form method="post" action="${addressOf(client)}/secret" class="fields">
<label>${t('clients.label')} <input name="label" maxlength="100"></label>
<label>${t('clients.overlap')} <select name="overlap">${overlaps.map(
    each =>
      html`<option value="${each}"${each === '86400' && html` selected`}>${t(`clients.overlap.${each}`)}</option>`,
  )}</select> <small>${t('clients.overlap_hint')}</small></label>
<button type="submit">${t('clients.rotate')}</button></form>`
}

function keys({ t }: PageView, { jwks, jwksUrl }: ListedClient): Html {
  if (jwksUrl !== undefined) return html`<p>${t('clients.keys_url')} <code>${jwksUrl}</code></p>`
  if (!jwks) return html`<p>${t('clients.no_keys')}</p>`
  return html`<ul>${jwks.keys.map(
    ({ kid, kty, crv, alg }) =>
      html`<li><code>${kid ?? t('clients.unlabelled')}</code> ${[kty, crv, alg].filter(Boolean).join(' ')}</li>`,
  )}</ul>`
}

function keyForm({ t }: PageView, client: ListedClient): Html {
  return html`<form method="post" action="${addressOf(client)}/keys" class="fields wide">
<label>${t('clients.keys_url')} <input name="url" type="url" maxlength="2000" placeholder="https://"></label>
<label>${t('clients.jwks')} <textarea name="jwks" rows="5" maxlength="20000" spellcheck="false"></textarea> <small>${t('clients.jwks_hint')}</small></label>
<button type="submit">${t('clients.set_keys')}</button></form>`
}

function revokeForm({ t }: PageView, client: ListedClient): Html {
  return html`<form method="post" action="${addressOf(client)}/revoke" class="fields">
<p>${t('clients.revoke_hint')}</p>
<label class="choice"><input type="checkbox" name="sure" value="yes" required> <span>${t('clients.revoke_sure')}</span></label>
<button type="submit">${t('clients.revoke')}</button></form>`
}
