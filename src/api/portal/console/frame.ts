// What each page of the console has: the form for a token, which the page keeps in memory only, and the script that sends calls.
import type { UserCaller } from '../../../access/caller.ts'
import { clientsSeenBy } from '../../../identity/client-rights.ts'
import { consoleTokenLifetime } from '../../../identity/console-token.ts'
import { assetAddress } from '../assets.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'
import type { ConsolePageParts } from './parts.ts'

/** The script puts the values into the text. */
const places = { client: '{client}', time: '{time}', scopes: '{scopes}' }

/** Most clients to choose from. */
const mostClients = 200

/** Returns a page of the console around its content. @param scopes of which the operation needs one */
export async function inConsole(
  { database }: Pick<ConsolePageParts, 'database'>,
  view: PageView,
  caller: UserCaller,
  scopes: readonly string[],
  content: Html,
): Promise<Html> {
  const clients = (await clientsSeenBy(database, caller, { limit: mostClients })).filter(each => !each.revokedAt)
  const { t } = view
  return html`<script type="module" src="${assetAddress('console.js')}"></script>
<section id="token" class="panel" aria-label="${t('console.token')}">
<p role="status" data-token-state data-none="${t('console.no_token')}" data-some="${t('console.has_token', places)}">${t('console.no_token')}</p>
<details data-token-form><summary>${t('console.get_token')}</summary>
<p>${t('console.token_about', { count: consoleTokenLifetime / 60 })}</p>
${
  clients.length === 0
    ? html`<p><a href="/portal/clients">${t('console.no_client')}</a></p>`
    : html`<form method="post" action="/portal/console/token" class="fields">
<label>${t('console.client')} <select name="client">${clients.map(({ id, name }) => html`<option value="${id}">${name} (${id})</option>`)}</select></label>
<label>${t('console.scopes')} <input name="scopes" maxlength="4000" autocomplete="off" spellcheck="false" value="${scopes[0] ?? ''}"> <small>${t('console.scopes_hint')}</small></label>
<button type="submit">${t('console.get_token')}</button></form>`
}</details></section>
<div data-console>${content}</div>`
}
