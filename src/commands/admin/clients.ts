// npm run admin -- client …: integration clients, their secrets and their keys.
import { readFile } from 'node:fs/promises'
import {
  type Client,
  type ClientKeys,
  createClient,
  listClients,
  revokeClient,
  rotateSecret,
  type SecretInfo,
  setKeys,
} from '../../identity/clients.ts'
import { type CommandResult, UsageError } from '../../lib/command.ts'
import { mustBeCallable, reachOf } from '../../outbound/address.ts'
import { type AdminCall, type AdminCommand, listing, mustBeNone, needed, theOne } from './command.ts'
import { duration } from './duration.ts'

const once = 'The secret is shown this once: only a hash of it is kept.\n'
const day = 86_400

const keyOptions = {
  jwks: { value: 'FILE', meaning: 'its public keys, a JSON Web Key Set (RSA 2048 or EC P-384)' },
  'jwks-url': { value: 'URL', meaning: 'where it publishes them' },
} as const

export const clientCreate: AdminCommand = {
  name: 'client create',
  usage: '--name NAME --organization NAME --scopes "a b" [--consent-exempt] [--jwks FILE | --jwks-url URL]',
  summary: 'Creates a client, and shows its id and secret once',
  details:
    'The scopes are those that its tokens can carry: patients:read, or FHIR ones such as system/Observation.rs. A client with keys signs assertions (private_key_jwt) and gets no secret.',
  options: {
    name: { value: 'NAME', meaning: 'what people call it' },
    organization: { value: 'NAME', meaning: 'the organization that it belongs to' },
    scopes: { value: 'SCOPES', meaning: 'what it may do, with spaces' },
    'consent-exempt': { meaning: 'it keeps the records itself, so its reads are not filtered by consent' },
    ...keyOptions,
  },
  async run(call) {
    mustBeNone(call)
    const keys = await keysIn(call)
    const { client, secret } = await createClient(call.database, call.config.environment, {
      name: needed(call, 'name'),
      organizationId: needed(call, 'organization'),
      scopes: needed(call, 'scopes').split(/\s+/),
      consentExempt: call.isSet('consent-exempt'),
      ...keys,
      ...(keys ? { secret: null } : {}),
    })
    return secret === undefined ? shown(client) : credentials(client.id, secret, plain(client))
  },
}

export const clientList: AdminCommand = {
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

export const clientRotateSecret: AdminCommand = {
  name: 'client rotate-secret',
  usage: 'ID [--overlap 24h]',
  summary: 'Gives a client a new secret, and shows it once',
  details: 'The secret before it goes on working for the overlap; an older one ends now.',
  options: { overlap: { value: 'TIME', meaning: '30m, 24h, up to 7d; 0 ends the old secret now; 24h if left out' } },
  run: rotate,
}

async function rotate(call: AdminCall): Promise<CommandResult> {
  const id = theOne(call, 'client')
  const overlap = duration(call.text('overlap') ?? '24h', 7 * day)
  const secret = await rotateSecret(call.database, call.config.environment, id, { overlap })
  return credentials(id, secret, { overlap_seconds: overlap })
}

export const clientSetKeys: AdminCommand = {
  name: 'client set-keys',
  usage: 'ID (--jwks FILE | --jwks-url URL | --none)',
  summary: 'Gives a client the public keys that its assertions are signed with (private_key_jwt)',
  details: 'They count from its next assertion on. Its secrets go on working.',
  options: { ...keyOptions, none: { meaning: 'it signs no assertions any more' } },
  async run(call) {
    const id = theOne(call, 'client')
    const keys = await keysIn(call)
    if (call.isSet('none') === (keys !== undefined)) throw new UsageError('give one of --jwks, --jwks-url and --none')
    return shown(await setKeys(call.database, id, keys ?? {}))
  },
}

/** @throws UsageError for both, or for a file that holds no JSON; Failure VALIDATION_FAILED for a URL that is never called. */
async function keysIn(call: AdminCall): Promise<ClientKeys | undefined> {
  const [file, url] = [call.text('jwks'), call.text('jwks-url')]
  if (file !== undefined && url !== undefined) throw new UsageError('give --jwks or --jwks-url, not both')
  if (url !== undefined) return { jwksUrl: mustBeCallable(url, reachOf(call.config), '--jwks-url') }
  if (file === undefined) return undefined
  try {
    return { jwks: JSON.parse(await readFile(file, 'utf8')) }
  } catch {
    throw new UsageError(`${file} holds no JSON Web Key Set: {"keys": [...]}`)
  }
}

const shown = (client: Client): CommandResult => ({
  isGood: true,
  text: described({ ...client, secrets: [] }),
  json: plain(client),
})

export const clientRevoke: AdminCommand = {
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

function credentials(id: string, secret: string, more: object): CommandResult {
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
  jwks_url: client.jwksUrl ?? null,
  key_ids: client.jwks?.keys.map(each => each.kid ?? null) ?? null,
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
    ...keysInWords(client).map(each => ['keys', each] as const),
    ['created', client.createdAt.toISOString()],
    ...(client.revokedAt ? [['revoked', client.revokedAt.toISOString()] as const] : []),
    ...client.secrets.map(secret => ['secret', inWords(secret)] as const),
  ])
}

function keysInWords({ jwks, jwksUrl }: Client): string[] {
  if (jwksUrl !== undefined) return [jwksUrl]
  return jwks ? [jwks.keys.map(each => each.kid ?? 'without a kid').join(', ')] : []
}

function inWords({ createdAt, expiresAt, lastUsedAt }: SecretInfo): string {
  const used = lastUsedAt ? `last used ${lastUsedAt.toISOString()}` : 'never used'
  return `of ${createdAt.toISOString()}, ${used}${expiresAt ? `, ends ${expiresAt.toISOString()}` : ''}`
}
