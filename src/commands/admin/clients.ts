// npm run admin -- client …: integration clients, their secrets and their keys.
import { readFile } from 'node:fs/promises'
import type { Client, ClientKeys, SecretInfo } from '../../identity/clients.ts'
import { type CommandResult, UsageError } from '../../lib/command.ts'
import { mustBeCallable, reachOf } from '../../outbound/address.ts'
import { type AdminCall, type AdminCommand, listing, mustBeNone, needed, theOne } from './command.ts'
import { duration } from './duration.ts'

/** Loaded by the command that runs, not for help. */
const loaded = () => import('../../identity/clients.ts')

const once = 'The secret is shown only once: the service stores only its hash.\n'
const day = 86_400

const keyOptions = {
  jwks: { value: 'FILE', meaning: 'the public keys, a JSON Web Key Set (RSA 2048 or EC P-384)' },
  'jwks-url': { value: 'URL', meaning: 'where it publishes them' },
} as const

export const clientCreate: AdminCommand = {
  name: 'client create',
  usage: '--name NAME --organization ID --scopes "a b" [--consent-exempt] [--jwks FILE | --jwks-url URL]',
  summary: 'Create an integration client and show its id and secret once',
  details:
    'The scopes limit its access tokens: patients:read, or SMART scopes such as system/Observation.rs. A client with keys signs assertions (private_key_jwt) and gets no secret.',
  options: {
    name: { value: 'NAME', meaning: 'the name of the client' },
    organization: { value: 'ID', meaning: 'the id of the organization of the client, as in Organization/ID' },
    scopes: { value: 'SCOPES', meaning: 'the scopes, separated by spaces' },
    'consent-exempt': { meaning: 'a record-keeping system: consent does not filter its reads' },
    ...keyOptions,
  },
  async run(call) {
    mustBeNone(call)
    const keys = await keysIn(call)
    const { createClient } = await loaded()
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
  summary: 'List all clients with the state of their secrets, without the secrets themselves',
  details: '',
  options: {},
  async run(call) {
    mustBeNone(call)
    const { listClients } = await loaded()
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
  summary: 'Rotate the secret of a client and show the new one once',
  details: 'The previous secret remains valid for the overlap; older secrets end immediately.',
  options: {
    overlap: { value: 'TIME', meaning: '30m, 24h, up to 7d; 0 ends the old secret immediately (default 24h)' },
  },
  run: rotate,
}

async function rotate(call: AdminCall): Promise<CommandResult> {
  const id = theOne(call, 'client')
  const overlap = duration(call.text('overlap') ?? '24h', 7 * day)
  const { rotateSecret } = await loaded()
  const secret = await rotateSecret(call.database, call.config.environment, id, { overlap })
  return credentials(id, secret, { overlap_seconds: overlap })
}

export const clientSetKeys: AdminCommand = {
  name: 'client set-keys',
  usage: 'ID (--jwks FILE | --jwks-url URL | --none)',
  summary: 'Set the public keys of a client for signed assertions (private_key_jwt)',
  details: 'The keys apply from the next assertion on. Secrets remain valid.',
  options: { ...keyOptions, none: { meaning: 'remove the keys: the client can no longer use assertions' } },
  async run(call) {
    const id = theOne(call, 'client')
    const keys = await keysIn(call)
    if (call.isSet('none') === (keys !== undefined))
      throw new UsageError('specify exactly one of --jwks, --jwks-url and --none')
    const { setKeys } = await loaded()
    return shown(await setKeys(call.database, id, keys ?? {}))
  },
}

/** @throws UsageError for both, or for a file that cannot be read or holds no JSON; Failure VALIDATION_FAILED for a URL that is never called. */
async function keysIn(call: AdminCall): Promise<ClientKeys | undefined> {
  const [file, url] = [call.text('jwks'), call.text('jwks-url')]
  if (file !== undefined && url !== undefined) throw new UsageError('specify --jwks or --jwks-url, not both')
  if (url !== undefined) return { jwksUrl: mustBeCallable(url, reachOf(call.config), '--jwks-url') }
  if (file === undefined) return undefined
  const text = await readFile(file, 'utf8').catch(error => {
    throw new UsageError(
      `--jwks ${file} cannot be read: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}`,
    )
  })
  try {
    return { jwks: JSON.parse(text) }
  } catch {
    throw new UsageError(`${file} does not contain a JSON Web Key Set: {"keys": [...]}`)
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
  summary: 'Revoke a client permanently: its secrets and access tokens stop working immediately',
  details: '',
  options: {},
  async run(call) {
    const id = theOne(call, 'client')
    const { revokeClient } = await loaded()
    await revokeClient(call.database, id)
    return { isGood: true, text: `Revoked ${id}.\n`, json: { client_id: id, revoked: true } }
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
