// npm run admin -- subscription …: which clients receive which webhooks, and whether the whole resource is sent along.
import { UsageError } from '../../lib/command.ts'
import { type Listed, listAll, setFull } from '../../webhooks/endpoints.ts'
import { type AdminCommand, listing, mustBeNone } from './command.ts'

export const subscriptionList: AdminCommand = {
  name: 'subscription list',
  usage: '',
  summary: 'List all webhook subscriptions and FHIR Subscriptions, without their secrets',
  details: '',
  options: {},
  async run(call) {
    mustBeNone(call)
    const all = await listAll(call.database)
    return {
      isGood: true,
      text: all.map(described).join('\n') || 'There are no subscriptions.\n',
      json: { subscriptions: all.map(plain) },
    }
  },
}

export const subscriptionPayload: AdminCommand = {
  name: 'subscription payload',
  usage: 'ID thin|full',
  summary: 'Set whether events of a subscription include the FHIR resource',
  details:
    'Each delivery checks that the scopes of the client and the consent of the patient permit access to the resource.',
  options: {},
  async run({ positionals, database }) {
    const [id, mode, ...more] = positionals
    if (id === undefined || !isMode(mode) || more.length > 0)
      throw new UsageError('specify one subscription, and thin or full')
    await setFull(database, id, mode === 'full')
    return {
      isGood: true,
      text: `${id} now has ${mode} payloads.\n`,
      json: { subscription_id: id, payload_mode: mode },
    }
  },
}

const isMode = (mode: string | undefined): boolean => mode === 'thin' || mode === 'full'

const plain = (each: Listed) => ({
  subscription_id: each.id,
  client_id: each.clientId,
  organization_id: each.organizationId,
  callback_url: each.url,
  subscribed_events: each.events,
  criteria: each.criteria ?? null,
  payload_mode: each.criteria !== undefined ? null : each.isFull ? 'full' : 'thin',
  status: each.isActive ? (each.failures > 0 ? 'failing' : 'active') : 'disabled',
  disabled_reason: each.disabledBecause ?? null,
  pending: each.pending,
  last_delivery_at: each.lastDeliveryAt ?? null,
})

function described(each: Listed): string {
  const shown = plain(each)
  return listing([
    ['subscription_id', shown.subscription_id],
    ['client', `${shown.client_id} of ${shown.organization_id}`],
    ['URL', shown.callback_url],
    ['events', shown.criteria ?? shown.subscribed_events.join(' ')],
    ['payload', shown.payload_mode ?? 'as the Subscription says'],
    ['status', shown.disabled_reason === null ? shown.status : `${shown.status}: ${shown.disabled_reason}`],
    ['pending', String(shown.pending)],
  ])
}
