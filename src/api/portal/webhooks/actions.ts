// The forms of one webhook subscription: a test event, on and off, a new secret, and an event once more.

import type { Transaction } from '../../../db/statement.ts'
import { isEventType } from '../../../events/event-types.ts'
import type { Route } from '../../../http/route.ts'
import { Failure } from '../../../lib/failure.ts'
import { Type } from '../../../lib/schema.ts'
import { changeEndpoint, type Listed, rotateEndpoint } from '../../../webhooks/endpoints.ts'
import { replay, sendSample } from '../../../webhooks/replay.ts'
import { endpointSeenBy } from '../../../webhooks/rights.ts'
import { shownOnce } from '../format.ts'
import { html } from '../html.ts'
import { action } from '../page.ts'
import type { WebhookPageParts } from './parts.ts'

/** Seconds for which deliveries may be signed with the previous secret too. */
export const overlaps = ['0', '3600', '86400', '604800'] as const

const strict = { additionalProperties: false } as const

const forms = {
  test: Type.Object({ type: Type.String({ maxLength: 60 }) }, strict),
  status: Type.Object({ status: Type.Enum(['active', 'disabled']) }, strict),
  secret: Type.Object({ overlap: Type.Enum([...overlaps]) }, strict),
  replay: Type.Object({ event: Type.String({ pattern: '^evt_[A-Za-z0-9]{1,90}$' }) }, strict),
}

const common = {
  title: 'webhooks.one',
  roles: ['developer'],
  params: Type.Object({ id: Type.String({ maxLength: 100 }) }),
} as const

export const webhookActions = (parts: WebhookPageParts): Route[] => [
  testAction(parts),
  statusAction(parts),
  secretAction(parts),
  replayAction(parts),
]

/** Does something to an endpoint, as its client would, and has its deliveries looked at. */
const changing = (parts: WebhookPageParts, work: (within: Transaction) => Promise<unknown>): Promise<unknown> =>
  parts.database.transaction(async within => {
    within.afterwards(parts.wakeWebhooks)
    return work(within)
  })

const pageOf = ({ id }: Listed) => ({ to: `/portal/webhooks/${id}` })

const testAction = (parts: WebhookPageParts): Route =>
  action({
    ...common,
    path: '/portal/webhooks/{id}/test',
    name: 'portalWebhookTest',
    form: forms.test,
    async act({ params: { id }, body: { type }, caller, requestId }) {
      const endpoint = await endpointSeenBy(parts.database, caller, id)
      if (!isEventType(type) || !endpoint.events.includes(type))
        throw new Failure('VALIDATION_FAILED', 'The subscription is not for events of this type.')
      const { organizationId } = endpoint
      const sample = { type, organizationId, requestId, environment: parts.environment }
      await changing(parts, within => sendSample(within, endpoint, sample))
      return pageOf(endpoint)
    },
  })

const statusAction = (parts: WebhookPageParts): Route =>
  action({
    ...common,
    path: '/portal/webhooks/{id}/status',
    name: 'portalWebhookStatus',
    form: forms.status,
    async act({ params: { id }, body: { status }, caller }) {
      const endpoint = await endpointSeenBy(parts.database, caller, id)
      const change = { isActive: status === 'active' }
      await changing(parts, within => changeEndpoint(within, id, endpoint.clientId, change))
      return pageOf(endpoint)
    },
  })

const secretAction = (parts: WebhookPageParts): Route =>
  action({
    ...common,
    path: '/portal/webhooks/{id}/secret',
    name: 'portalWebhookSecret',
    title: 'webhooks.rotated',
    form: forms.secret,
    async act({ params: { id }, body: { overlap }, caller }, { t }) {
      const { clientId } = await endpointSeenBy(parts.database, caller, id)
      const terms = { overlap: Number(overlap), now: parts.now().getTime() }
      const { secret } = await parts.database.transaction(on =>
        rotateEndpoint(on, parts.encryptionKey, id, clientId, terms),
      )
      return html`<p>${t('webhooks.once')}</p>${shownOnce([
        [t('webhooks.id'), id],
        [t('webhooks.secret'), secret],
      ])}<p>${t(`webhooks.rotated.${overlap}`)}</p>
<p><a href="/portal/webhooks/${id}">${t('webhooks.to_one')}</a></p>`
    },
  })

const replayAction = (parts: WebhookPageParts): Route =>
  action({
    ...common,
    path: '/portal/webhooks/{id}/replay',
    name: 'portalWebhookReplay',
    form: forms.replay,
    async act({ params: { id }, body: { event }, caller }) {
      const endpoint = await endpointSeenBy(parts.database, caller, id)
      await changing(parts, within => replay(within, event, endpoint.clientId))
      return pageOf(endpoint)
    },
  })
