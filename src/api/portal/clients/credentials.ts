// The forms of one client: a new secret, public keys, and the end of it.

import type { JSONWebKeySet } from 'jose'
import type { Route } from '../../../http/route.ts'
import { clientSeenBy, clientToChange } from '../../../identity/client-rights.ts'
import { type ClientKeys, revokeClient, rotateSecret, setKeys } from '../../../identity/clients.ts'
import { Failure } from '../../../lib/failure.ts'
import { isObject } from '../../../lib/json.ts'
import { Type } from '../../../lib/schema.ts'
import { mustBeCallable, type Reach } from '../../../outbound/address.ts'
import { shownOnce } from '../format.ts'
import { html } from '../html.ts'
import { action } from '../page.ts'
import type { ClientPageParts } from './parts.ts'

/** Seconds for which the previous secret may remain valid. */
export const overlaps = ['0', '3600', '86400', '604800'] as const

const common = {
  title: 'clients.one',
  roles: ['developer'],
  params: Type.Object({ id: Type.String({ maxLength: 200 }) }),
} as const

export const clientActions = (parts: ClientPageParts): Route[] => [
  action({
    ...common,
    path: '/portal/clients/{id}/secret',
    name: 'portalClientRotate',
    title: 'clients.rotated',
    form: Type.Object(
      {
        overlap: Type.Enum([...overlaps]),
        label: Type.Optional(Type.String({ maxLength: 100, pattern: '^\\P{Cc}*$' })),
      },
      { additionalProperties: false },
    ),
    async act({ params: { id }, body: { overlap, label }, caller }, { t }) {
      await clientToChange(parts.database, caller, id)
      const terms = { overlap: Number(overlap), label: label || undefined }
      const secret = await rotateSecret(parts.database, parts.environment, id, terms)
      return html`<p>${t('clients.once')}</p>${shownOnce([
        [t('clients.id'), id],
        [t('clients.secret'), secret],
      ])}<p>${t(`clients.rotated.${overlap}`)}</p>
<p><a href="/portal/clients/${encodeURIComponent(id)}">${t('clients.to_client')}</a></p>`
    },
  }),
  action({
    ...common,
    path: '/portal/clients/{id}/keys',
    name: 'portalClientKeys',
    form: Type.Object(
      { url: Type.String({ maxLength: 2000 }), jwks: Type.String({ maxLength: 20_000 }) },
      { additionalProperties: false },
    ),
    async act({ params: { id }, body, caller }) {
      await clientToChange(parts.database, caller, id)
      await setKeys(parts.database, id, keysIn(body, parts.reach))
      return { to: `/portal/clients/${encodeURIComponent(id)}` }
    },
  }),
  action({
    ...common,
    path: '/portal/clients/{id}/revoke',
    name: 'portalClientRevoke',
    form: Type.Object({ sure: Type.Literal('yes') }, { additionalProperties: false }),
    async act({ params: { id }, caller }) {
      await clientSeenBy(parts.database, caller, id)
      await revokeClient(parts.database, id)
      return { to: `/portal/clients/${encodeURIComponent(id)}` }
    },
  }),
]

/** @throws Failure VALIDATION_FAILED for both, for what is no JSON, or for an address that is never called. */
function keysIn({ url, jwks }: { readonly url: string; readonly jwks: string }, reach: Reach): ClientKeys {
  const [address, text] = [url.trim(), jwks.trim()]
  if (address !== '' && text !== '')
    throw new Failure('VALIDATION_FAILED', 'Give the address of the keys or the keys themselves, not both.')
  if (address !== '') return { jwksUrl: mustBeCallable(address, reach, 'url') }
  if (text === '') return {}
  const set = parsed(text)
  if (isObject(set)) return { jwks: set as unknown as JSONWebKeySet }
  throw new Failure('VALIDATION_FAILED', 'The keys are not a JSON Web Key Set: {"keys": [...]}.')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
