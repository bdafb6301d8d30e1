// npm run admin -- client …: integration clients and their secrets.
import { type Client, createClient, listClients, revokeClient, rotateSecret, type SecretInfo } from '../auth/clients.ts'
import type { Answer } from '../lib/command.ts'
import { type Call, type Command, listing, mustBeNone, needed, theOne } from './command.ts'
import { duration } from './duration.ts'

const once = 'The secret is shown this once: only a hash of it is kept.\n'
const day = 86_400

export const clientCreate: Command = {
  name: 'client create',
  usage: '--name NAME --organization NAME --scopes "a b" [--consent-exempt]',
  summary: 'Creates a client, and shows its id and secret once',
  details: 'The scopes are those that its tokens can carry: patients:read, or FHIR ones such as system/Observation.rs.',
  options: {
    name: { value: 'NAME', meaning: 'what people call it' },
    organization: { value: 'NAME', meaning: 'the organization that it belongs to' },
    scopes: { value: 'SCOPES', meaning: 'what it may do, with spaces' },
    'consent-exempt': { meaning: 'it keeps the records itself, so its reads are not filtered by consent' },
  },
  async run(call) {
    mustBeNone(call)
    const { client, secret } = await createClient(call.database, call.config.environment, {
      name: needed(call, 'name'),
      organizationId: needed(call, 'organization'),
      scopes: needed(call, 'scopes').split(/\s+/),
      consentExempt: call.isSet('consent-exempt'),
    })
    return credentials(client.id, secret!, plain(client))
  },
}

export const clientList: Command = {
  name: 'client list',
  usage: '',
  summary: 'Lists all clients with their live secrets, never the secrets themselves',
  details: '',
  options: {},
  async run(call) {
    mustBeNone(call)
    const clients = await listClients(call.database)
    return {
      isGood: true,
      text: clients.map(described).join('\n') || 'There are no clients.\n',
      json: { clients: clients.map(each => ({ ...plain(each), secrets: each.secrets.map(plainSecret) })) },
    }
  },
}

export const clientRotateSecret: Command = {
  name: 'client rotate-secret',
  usage: 'ID [--overlap 24h]',
  summary: 'Gives a client a new secret, and shows it once',
  details: 'The secret before it goes on working for the overlap; an older one ends now.',
  options: { overlap: { value: 'TIME', meaning: '30m, 24h, up to 7d; 0 ends the old secret now; 24h if left out' } },
  run: rotate,
}

async function rotate(call: Call): Promise<Answer> {
  const id = theOne(call, 'client')
  const overlap = duration(call.text('overlap') ?? '24h', 7 * day)
  const secret = await rotateSecret(call.database, call.config.environment, id, { overlap })
  return credentials(id, secret, { overlap_seconds: overlap })
}

export const clientRevoke: Command = {
  name: 'client revoke',
  usage: 'ID',
  summary: 'Ends a client for good: its secrets and its tokens stop working at once',
  details: '',
  options: {},
  async run(call) {
    const id = theOne(call, 'client')
    await revokeClient(call.database, id)
    return { isGood: true, text: `${id} is revoked.\n`, json: { client_id: id, revoked: true } }
  },
}

function credentials(id: string, secret: string, more: object): Answer {
  const rows = [
    ['client_id', id],
    ['client_secret', secret],
  ] as const
  return { isGood: true, text: listing(rows), notes: once, json: { client_id: id, client_secret: secret, ...more } }
}

const plain = (client: Client) => ({
  client_id: client.id,
  name: client.name,
  organization_id: client.organizationId,
  scopes: client.scopes,
  consent_exempt: client.consentExempt,
  created_at: client.createdAt,
  revoked_at: client.revokedAt ?? null,
})

const plainSecret = ({ label, createdAt, expiresAt, lastUsedAt }: SecretInfo) => ({
  label: label ?? null,
  created_at: createdAt,
  expires_at: expiresAt ?? null,
  last_used_at: lastUsedAt ?? null,
})

function described(client: Client & { secrets: readonly SecretInfo[] }): string {
  return listing([
    ['client_id', client.id],
    ['name', client.name],
    ['organization', client.organizationId],
    ['scopes', client.scopes.join(' ')],
    ['consent_exempt', client.consentExempt ? 'yes' : 'no'],
    ['created', client.createdAt.toISOString()],
    ...(client.revokedAt ? [['revoked', client.revokedAt.toISOString()] as const] : []),
    ...client.secrets.map(secret => ['secret', inWords(secret)] as const),
  ])
}

function inWords({ createdAt, expiresAt, lastUsedAt }: SecretInfo): string {
  const used = lastUsedAt ? `last used ${lastUsedAt.toISOString()}` : 'never used'
  return `of ${createdAt.toISOString()}, ${used}${expiresAt ? `, ends ${expiresAt.toISOString()}` : ''}`
}
