// Every setting, one value each: its name, default, meaning and check. docs/configuration.md is generated from this list.
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { isTimeZone } from './day.ts'
import { networks } from './networks.ts'
import { postgresAddress } from './postgres-url.ts'

export type Environment = 'local' | 'sandbox' | 'production'

interface Setting<T> {
  readonly name: string
  /** As a person would write it in the environment. */
  readonly default: string
  readonly meaning: string
  /** True if the value must never be shown. */
  readonly isSecret: boolean
  /** Returns the value, or throws an Error that states what was expected. */
  readonly parse: (text: string) => T
}

function setting<T>(name: string, fallback: string, meaning: string, parse: (text: string) => T): Setting<T> {
  return { name, default: fallback, meaning, isSecret: false, parse }
}

function secret<T>(name: string, meaning: string, parse: (text: string) => T): Setting<T> {
  return { name, default: '', meaning, isSecret: true, parse }
}

function whole(min: number, max: number): (text: string) => number {
  return text => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max) throw new Error(`a whole number from ${min} to ${max}`)
    return value
  }
}

function oneOf<T extends string>(...values: T[]): (text: string) => T {
  return text => {
    const found = values.find(value => value === text)
    if (found === undefined) throw new Error(`one of ${values.join(', ')}`)
    return found
  }
}

function httpUrl(text: string): string {
  if (text === '') return ''
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash) {
    throw new Error('an http or https URL without query, e.g. https://fhir.example.org')
  }
  return text.replace(/\/+$/, '')
}

function callableUrl(text: string): string {
  const url = URL.parse(text)
  if (text !== '' && (!url || !/^https?:$/.test(url.protocol)))
    throw new Error('an https URL, e.g. https://collector.example.org/anchors, or empty')
  return text
}

function origins(text: string): readonly string[] {
  return text
    .split(',')
    .map(each => each.trim())
    .filter(Boolean)
    .map(each => {
      const url = URL.parse(each)
      if (!url || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
        throw new Error('origins with commas, each without a path, e.g. https://files.example.org')
      return url.origin
    })
}

function postgresUrl(text: string): string {
  if (text !== '') postgresAddress(text)
  return text
}

/** Addresses of servers, separated by spaces. */
function postgresUrls(text: string): readonly string[] {
  return text.split(/\s+/).filter(Boolean).map(postgresUrl)
}

function key32(text: string): Buffer | undefined {
  if (text === '') return undefined
  const key = Buffer.from(text, 'base64')
  if (key.length !== 32 || !/^[A-Za-z0-9+/_-]{43}=?$/.test(text))
    throw new Error('32 bytes in base64, as `openssl rand -base64 32` prints them')
  return key
}

function token(text: string): string {
  if (!/^([!-~]{16,})?$/.test(text)) throw new Error('at least 16 letters, digits or signs, without spaces, or empty')
  return text
}

function timeZone(text: string): string {
  if (!isTimeZone(text)) throw new Error('the name of a time zone, e.g. Africa/Douala or UTC')
  return text
}

/** The settings in the order in which they are documented. */
export const settings = {
  port: setting('PORT', '8080', 'TCP port of the HTTP server; 0 takes a free one.', whole(0, 65_535)),
  host: setting('HOST', '127.0.0.1', 'Address to listen on; 0.0.0.0 for all.', text => text),
  baseUrl: setting(
    'BASE_URL',
    '',
    'Public address of the service, used in links. The first start makes it the origin of identifiers and the issuer of tokens; a later address is added and changes neither. Empty: http://localhost:PORT; links then have the address of the request.',
    httpUrl,
  ),
  trustedProxies: setting(
    'TRUSTED_PROXIES',
    '',
    'Addresses or networks of proxies, separated by commas, whose Forwarded or X-Forwarded-For, -Proto and -Host headers are trusted: 10.0.0.0/8,::1.',
    networks,
  ),
  databaseUrl: secret(
    'DATABASE_URL',
    'PostgreSQL 15 or newer. A primary and its standbys are named as libpq does: postgresql://user:password@one:5432,two:5432/database; connections go to the one that accepts changes. Empty: an embedded PostgreSQL 18 under DATA_DIR.',
    postgresUrl,
  ),
  databaseReadUrl: secret(
    'DATABASE_READ_URL',
    'Standbys of DATABASE_URL: postgresql://user:password@one:5432,two:5432/database, or several addresses separated by spaces. Searches, histories, `$everything` and exports run there while they show what the primary acknowledges. Empty: everything runs on the primary.',
    postgresUrls,
  ),
  dataDir: setting('DATA_DIR', './data', 'Folder of the embedded database and of exported files.', text =>
    resolve(text),
  ),
  backupDir: setting(
    'BACKUP_DIR',
    '',
    'Folder, best on another disk, for backups of the embedded database (`npm run admin -- backup`) and for its log, which is archived there while the service runs, so that a backup can be restored to any later moment. Empty: the log is not archived.',
    text => text && resolve(text),
  ),
  backupLogSeconds: setting(
    'BACKUP_LOG_SECONDS',
    '300',
    'Seconds after which the log of the embedded database is archived at the latest; changes of this time are lost with the disk. Each time takes 16 MB of BACKUP_DIR.',
    whole(10, 86_400),
  ),
  mappingsDir: setting(
    'MAPPINGS_DIR',
    './mappings',
    'Folder of the maps between records and FHIR. Changes take effect while the service runs.',
    text => resolve(text),
  ),
  transformTimeout: setting(
    'TRANSFORM_TIMEOUT',
    '5',
    'Longest time in seconds that a map of a request (`$transform`) may run.',
    whole(1, 60),
  ),
  environment: setting(
    'ENVIRONMENT',
    'local',
    'local (demo data and demo client), sandbox or production.',
    oneOf('local', 'sandbox', 'production'),
  ),
  timeZone: setting(
    'TIME_ZONE',
    'Africa/Douala',
    'IANA name of the time zone in which days begin and end: for payments, and for the expiry of medicines.',
    timeZone,
  ),
  encryptionKey: secret(
    'ENCRYPTION_KEY',
    'Key for secrets at rest: 32 bytes in base64. Required in production. Elsewhere, empty: created once and kept under DATA_DIR.',
    key32,
  ),
  auditAnchorFile: setting(
    'AUDIT_ANCHOR_FILE',
    '',
    'File of the signed heads of the audit trail, for `audit verify`; best on another disk or machine than the database. Empty: audit-anchor.ndjson under DATA_DIR; off: none.',
    text => (text === '' || text === 'off' ? text : resolve(text)),
  ),
  auditAnchorSeconds: setting(
    'AUDIT_ANCHOR_SECONDS',
    '60',
    'Seconds between two lines of AUDIT_ANCHOR_FILE; each process also writes one when it stops.',
    whole(1, 86_400),
  ),
  auditAnchorBytes: setting(
    'AUDIT_ANCHOR_BYTES',
    '16777216',
    'Largest size of AUDIT_ANCHOR_FILE in bytes, its first line aside; a full file is renamed to end in .1 and replaces the previous one.',
    whole(1024, 134_217_728),
  ),
  auditAnchorUrl: setting(
    'AUDIT_ANCHOR_URL',
    '',
    'URL to which each line of AUDIT_ANCHOR_FILE is also sent by POST. The rules of webhooks apply: https, and private addresses only in WEBHOOK_NETWORKS.',
    callableUrl,
  ),
  auditOnlineDays: setting(
    'AUDIT_ONLINE_DAYS',
    '0',
    'Days for which audit rows stay in the database after the end of their month; then they move to a file in AUDIT_ARCHIVE_DIR. 0: they stay.',
    whole(0, 36_500),
  ),
  auditArchiveDir: setting(
    'AUDIT_ARCHIVE_DIR',
    '',
    'Folder for archived audit rows, shared by all machines of the service. Empty: audit-archive under DATA_DIR.',
    text => (text === '' ? '' : resolve(text)),
  ),
  workers: setting(
    'WORKERS',
    String(Math.max(1, Math.min(8, Math.floor((availableParallelism() * 2) / 3)))),
    'Processes that answer requests. Default: two thirds of the cores, from 1 to 8; PostgreSQL needs the rest.',
    whole(1, 64),
  ),
  logLevel: setting(
    'LOG_LEVEL',
    'info',
    'debug, info, warn, error or silent; one JSON object a line on standard output.',
    oneOf('debug', 'info', 'warn', 'error', 'silent'),
  ),
  metricsToken: secret(
    'METRICS_TOKEN',
    'Token that a scraper sends to read `/metrics`: `Authorization: Bearer METRICS_TOKEN`. Empty: `/metrics` does not exist, except in the local environment, where it is open.',
    token,
  ),
  poolSize: setting(
    'DATABASE_POOL',
    '16',
    'Database connections of each process that clients share, for reads by id and again for everything else. One client holds at most three quarters of them; the service opens up to six more for itself.',
    whole(2, 200),
  ),
  databaseLayout: setting(
    'DATABASE_LAYOUT',
    'whole',
    'distributed: the tables of resources are distributed over the nodes of a cluster (`npm run admin -- distribute`): statements are sent in forms that the cluster answers, which cost more. whole: they are on one server.',
    oneOf('whole', 'distributed'),
  ),
  statementTimeout: setting(
    'STATEMENT_TIMEOUT',
    '30000',
    'Milliseconds after which PostgreSQL ends a single statement.',
    whole(100, 3_600_000),
  ),
  searchTimeout: setting(
    'SEARCH_TIMEOUT',
    '10000',
    'Milliseconds after which a read or a search ends. Operations (`$…`), changes and exports have STATEMENT_TIMEOUT.',
    whole(100, 3_600_000),
  ),
  rateLimit: setting(
    'RATE_LIMIT',
    '60000',
    'Requests a minute of one client (and of one address on open routes), counted in each process.',
    whole(1, 100_000_000),
  ),
  rateLimitLookup: setting(
    'RATE_LIMIT_LOOKUP',
    '120',
    'Of these, requests that look up patients: resolve, verify and search by Health ID.',
    whole(1, 100_000_000),
  ),
  rateLimitToken: setting(
    'RATE_LIMIT_TOKEN',
    '30',
    'Of these, requests for access tokens; a token is valid for an hour.',
    whole(1, 100_000_000),
  ),
  maxBodyBytes: setting(
    'MAX_BODY_BYTES',
    '52428800',
    'Largest request body in bytes; a larger one gets 413.',
    whole(1024, 1_073_741_824),
  ),
  bodyMemory: setting(
    'BODY_MEMORY',
    '268435456',
    'Memory in bytes for request bodies in each process, about three times what is sent; one client holds at most half. Further bodies wait.',
    whole(1_048_576, 1_099_511_627_776),
  ),
  maxConnections: setting(
    'MAX_CONNECTIONS',
    '5000',
    'Connections to each process at a time; one address, unless it is in TRUSTED_PROXIES, holds at most half.',
    whole(16, 1_000_000),
  ),
  searchParametersPerClient: setting(
    'SEARCH_PARAMETERS_PER_CLIENT',
    '100',
    'SearchParameter resources of one client that define search parameters; further ones get 422.',
    whole(0, 10_000),
  ),
  searchParameters: setting(
    'SEARCH_PARAMETERS',
    '1000',
    'The limit of such SearchParameter resources for all clients together.',
    whole(0, 10_000),
  ),
  maxIncluded: setting(
    'MAX_INCLUDED',
    '1000',
    'Most resources that a search page includes in addition to its matches (_include, _revinclude); the rest follows on `next`.',
    whole(1, 10_000),
  ),
  bulkFileResources: setting(
    'BULK_FILE_RESOURCES',
    '100000',
    'Most resources in one file of an export.',
    whole(1, 100_000_000),
  ),
  bulkExpiryHours: setting(
    'BULK_EXPIRY_HOURS',
    '24',
    'Hours for which the result of an export or import is kept.',
    whole(1, 8760),
  ),
  bulkJobsPerClient: setting(
    'BULK_JOBS_PER_CLIENT',
    '4',
    'Exports and imports of one client that wait or run at a time; further ones get 429.',
    whole(1, 10_000),
  ),
  bulkJobs: setting(
    'BULK_JOBS',
    '100',
    'The limit of exports and imports for all clients together.',
    whole(1, 100_000),
  ),
  bulkLeaseSeconds: setting(
    'BULK_LEASE_SECONDS',
    '15',
    'Seconds without a sign of life after which another process takes over an export or import.',
    whole(1, 3600),
  ),
  bulkImportBytes: setting(
    'BULK_IMPORT_BYTES',
    '10737418240',
    'Largest file of an import in bytes, unpacked; a larger one is refused.',
    whole(1024, 1_000_000_000_000),
  ),
  bulkImportOrigins: setting(
    'BULK_IMPORT_ORIGINS',
    '',
    'Origins from which an import may fetch files, separated by commas, e.g. https://files.example.org. Empty: none; files come in the request.',
    origins,
  ),
  webhookNetworks: setting(
    'WEBHOOK_NETWORKS',
    '',
    'Private addresses or networks, separated by commas, to which webhooks may be sent: 10.20.0.0/16. Other addresses that are not public are never called.',
    networks,
  ),
  webhookConcurrency: setting(
    'WEBHOOK_CONCURRENCY',
    '10',
    'Webhooks that each process sends to one receiver at a time.',
    whole(1, 1000),
  ),
  webhookHistoryDays: setting(
    'WEBHOOK_HISTORY_DAYS',
    '30',
    'Days for which events and attempts to deliver them are kept, and can be sent again.',
    whole(2, 3650),
  ),
  requestLogDays: setting(
    'REQUEST_LOG_DAYS',
    '14',
    'Days for which the request log of the portal keeps requests: time, client, route, status, error code, duration and sizes. 0: none is written.',
    whole(0, 3650),
  ),
}

export type Config = { readonly [K in keyof typeof settings]: ReturnType<(typeof settings)[K]['parse']> } & {
  /** The settings as they were written, by their names; of secrets, none. */
  readonly texts: Readonly<Record<string, string>>
}

/** A setting that cannot be used; `message` names each one, what it holds and what it should hold. */
export class ConfigError extends Error {}

/**
 * Reads all settings from the environment.
 * @throws ConfigError naming every setting that is wrong, not only the first.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  const texts: Record<string, string> = {}
  for (const [key, entry] of Object.entries(settings)) {
    const text = env[entry.name]?.trim() || entry.default
    try {
      values[key] = entry.parse(text)
      if (!entry.isSecret) texts[entry.name] = text
    } catch (error) {
      const shown = entry.isSecret ? 'set' : JSON.stringify(text)
      problems.push(`${entry.name} is ${shown}, but must be ${(error as Error).message}`)
    }
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  return { ...values, texts } as unknown as Config
}

/** A setting as it is in force. */
export interface SettingInForce {
  readonly name: string
  /** Undefined: it is a secret. */
  readonly text: string | undefined
  readonly isDefault: boolean
  readonly meaning: string
}

/** Returns all settings. An address is shown without what could prove who calls it: user, password and query. */
export const settingsInForce = ({ texts }: Pick<Config, 'texts'>): SettingInForce[] =>
  Object.values(settings).map(({ name, default: usual, meaning, isSecret }) => {
    const text = isSecret ? undefined : (texts[name] ?? '')
    return { name, text: text && withoutProof(text), isDefault: text === usual, meaning }
  })

function withoutProof(text: string): string {
  const url = /^https?:/.test(text) ? URL.parse(text) : null
  return url && (url.username || url.password || url.search) ? `${url.origin}${url.pathname} …` : text
}

/** @throws ConfigError naming every setting that production needs and that is empty. */
export function mustSuitProduction({ environment, baseUrl, encryptionKey }: Config): void {
  if (environment !== 'production') return
  const missing = [
    ...(baseUrl === '' ? ['BASE_URL is empty, but production needs the public address: it is in every link.'] : []),
    ...(encryptionKey ? [] : ['ENCRYPTION_KEY is empty, but production needs one: openssl rand -base64 32']),
  ]
  if (missing.length > 0) throw new ConfigError(missing.join('\n'))
}

/** @throws ConfigError if standbys are named, and not their primary. */
export function mustNamePrimary({ databaseUrl, databaseReadUrl }: Config): void {
  if (databaseReadUrl.length > 0 && databaseUrl === '')
    throw new ConfigError(
      'DATABASE_READ_URL names standbys, but DATABASE_URL is empty: the embedded database has none. Set DATABASE_URL to their primary.',
    )
}

/** The file of the audit trail's anchor; undefined: there is none. */
export function anchorFileOf({
  auditAnchorFile,
  dataDir,
}: Pick<Config, 'auditAnchorFile' | 'dataDir'>): string | undefined {
  if (auditAnchorFile === 'off') return undefined
  return auditAnchorFile || join(dataDir, 'audit-anchor.ndjson')
}

/** The folder of the audit trail's archives. */
export function archiveFolderOf({ auditArchiveDir, dataDir }: Pick<Config, 'auditArchiveDir' | 'dataDir'>): string {
  return auditArchiveDir || join(dataDir, 'audit-archive')
}
/** Where the log of the embedded database is archived; undefined: nowhere. */
export const archiveOf = ({ backupDir, backupLogSeconds }: Pick<Config, 'backupDir' | 'backupLogSeconds'>) =>
  backupDir === '' ? undefined : { folder: backupDir, seconds: backupLogSeconds }

/** Address of the service in links: BASE_URL, or this machine's where that is not set. */
export function addressOf({ baseUrl, port }: Pick<Config, 'baseUrl' | 'port'>): string {
  return baseUrl || `http://localhost:${port}`
}
