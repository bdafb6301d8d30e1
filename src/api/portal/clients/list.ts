// The clients of an organisation: which there are, what they may do, and when they last did it.

import { isAdministrator } from '../../../access/caller.ts'
import type { Route } from '../../../http/route.ts'
import { clientsSeenBy, createClientFor } from '../../../identity/client-rights.ts'
import type { ListedClient } from '../../../identity/clients.ts'
import { paths } from '../../../identity/paths.ts'
import { Type } from '../../../lib/schema.ts'
import { moment, shownOnce } from '../format.ts'
import { type Html, html } from '../html.ts'
import { action, type PageView, page } from '../page.ts'
import { newClientForm } from './form.ts'
import { type ClientPageParts, scopeList } from './parts.ts'

const perPage = 50
const roles = ['developer'] as const
const line = { pattern: '^\\P{Cc}*$' } as const

export const clientListRoutes = (parts: ClientPageParts): Route[] => [
  page({
    path: '/portal/clients',
    name: 'portalClients',
    title: 'clients.title',
    roles,
    query: Type.Object({ after: Type.Optional(Type.String({ maxLength: 200, ...line })) }),
    async show({ query: { after } }, view) {
      const found = await clientsSeenBy(parts.database, view.caller, { after, limit: perPage + 1 })
      const shown = found.slice(0, perPage)
      const { t } = view
      return html`<p>${t('clients.about')}</p>
${shown.length === 0 ? html`<p>${t('clients.none')}</p>` : table(parts, view, shown)}
${found.length > perPage && html`<p><a rel="next" href="/portal/clients?after=${encodeURIComponent(shown.at(-1)!.id)}">${t('clients.next')}</a></p>`}
${newClientForm(view)}`
    },
  }),
  createRoute(parts),
]

function createRoute(parts: ClientPageParts): Route {
  return action({
    path: '/portal/clients',
    name: 'portalClientCreate',
    title: 'clients.created',
    roles,
    form: Type.Object(
      {
        name: Type.String({ minLength: 1, maxLength: 200, ...line }),
        organization: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9.-]{0,64}$' })),
        scope: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 })),
        smart: Type.Optional(Type.String({ maxLength: 2000 })),
        reason: Type.Optional(Type.String({ maxLength: 500, ...line })),
        proof: Type.Enum(['secret', 'keys']),
      },
      { additionalProperties: false },
    ),
    async act({ path, body, caller, baseUrl }, view) {
      const { name, organization, scope = [], smart = '', reason = '', proof } = body
      const by = { user: caller, path }
      const { client, secret } = await createClientFor(parts.database, parts.environment, by, {
        ...{ name, reason, organizationId: organization || caller.organizationId, hasSecret: proof === 'secret' },
        scopes: [...scope, ...smart.split(/\s+/).filter(Boolean)],
      })
      return made(view, client.id, secret, baseUrl)
    },
  })
}

function made({ t }: PageView, id: string, secret: string | undefined, baseUrl: string): Html {
  const page = html`<p><a href="/portal/clients/${id}">${t('clients.to_client')}</a></p>`
  const named = [t('clients.id'), id] as const
  if (secret === undefined) return html`<p>${t('clients.created_keys')}</p>${shownOnce([named])}${page}`
  return html`<p>${t('clients.once')}</p>${shownOnce([named, [t('clients.secret'), secret]])}
<p>${t('clients.first_token')}</p>
<pre><code>curl ${baseUrl}${paths.token} -u ${id} -d grant_type=client_credentials</code></pre>${page}`
}

function table(parts: ClientPageParts, view: PageView, clients: readonly ListedClient[]): Html {
  const { t, language } = view
  const seesAll = isAdministrator(view.caller)
  const names = ['name', 'id', ...(seesAll ? (['organization'] as const) : []), 'scopes'] as const
  const times = ['made', 'used', 'state'] as const
  return html`<table class="cards-on-phones"><thead><tr>${[...names, ...times].map(
    each => html`<th scope="col">${t(`clients.${each}`)}</th>`,
  )}</tr></thead><tbody>
${clients.map(client => {
  const cells: readonly (readonly [string, Html | string] | false)[] = [
    ['id', html`<code>${client.id}</code>`],
    seesAll && ['organization', client.organizationId],
    ['scopes', scopeList(view, client.scopes)],
    ['made', moment(client.createdAt, language, parts.timeZone)],
    ['used', moment(client.lastUsedAt, language, parts.timeZone)],
    ['state', state(view, client)],
  ]
  return html`<tr><th scope="row"><a href="/portal/clients/${encodeURIComponent(client.id)}">${client.name}</a></th>${cells.map(
    cell => cell && html`<td data-name="${t(`clients.${cell[0]}` as 'clients.id')}"><div>${cell[1]}</div></td>`,
  )}</tr>\n`
})}</tbody></table>`
}

export const state = ({ t }: PageView, { revokedAt }: Pick<ListedClient, 'revokedAt'>): Html =>
  revokedAt
    ? html`<span class="state revoked">${t('clients.revoked')}</span>`
    : html`<span class="state done">${t('clients.active')}</span>`
