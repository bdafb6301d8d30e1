// npm run admin -- backup, backups, restore: of the embedded database.
import { join, resolve } from 'node:path'
import type { LogReach } from '../../db/backup/archived.ts'
import type { Manifest } from '../../db/backup/manifest.ts'
import { type Command, UsageError } from '../../lib/command.ts'
import { archiveOf, type Config, ConfigError } from '../../lib/config.ts'
import { type FilesCall, listing, mustBeNone, needed } from './command.ts'

type FilesCommand = Command<FilesCall>

export const backup: FilesCommand = {
  name: 'backup',
  usage: '[--to DIR] [--keep N]',
  summary: 'Back up the embedded database',
  details: [
    'The service can keep running. The backup has all that was committed when it ended. With BACKUP_DIR, it can also',
    'be restored to any later moment. It holds patient data: only the account that makes it can read it.',
  ].join('\n'),
  options: {
    to: { value: 'DIR', meaning: 'the folder in which the backup is made (default: BACKUP_DIR)' },
    keep: {
      value: 'N',
      meaning: 'afterwards remove older backups until N are left, and the log that these do not need',
    },
  },
  async run(call) {
    mustBeNone(call)
    const to = folderOf(call, call.text('to'))
    const count = keptCount(call.text('keep'))
    const began = performance.now()
    const { folder, manifest } = await backedUp(call.config, to)
    const seconds = secondsSince(began)
    const { bytesOf, keyFile } = await import('../../db/backup/manifest.ts')
    const { keepNewest } = await import('../../db/backup/list.ts')
    const removed = count === undefined ? [] : await keepNewest(to, count)
    const hasKey = manifest.files.some(({ path }) => path === keyFile)
    const { consistentAt, log } = manifest
    return {
      isGood: true,
      text: listing([
        ['backup', folder],
        ['bytes', `${bytesOf(manifest)}, in ${manifest.files.length} files`],
        ['seconds', String(seconds)],
        ['restores to', log ? `${consistentAt} and any later moment that is archived` : consistentAt],
        ...removed.map(each => ['removed', each] as const),
      ]),
      notes: [
        hasKey
          ? `The backup includes ${keyFile}.`
          : 'The backup does not include ENCRYPTION_KEY, without which it cannot be used: keep the key in another place.',
        ...(log === null && to === call.config.backupDir
          ? ['The server does not archive its log: restart the service with BACKUP_DIR.']
          : []),
        '',
      ].join('\n'),
      json: { folder, bytes: bytesOf(manifest), seconds, consistentAt, log, hasKey, removed },
    }
  },
}

export const backups: FilesCommand = {
  name: 'backups',
  usage: '[DIR]',
  summary: 'List backups and the moments to which they can be restored',
  details:
    'DIR is the folder in which the backups were made (default: BACKUP_DIR). Files are not read: restore checks them.',
  options: {},
  async run(call) {
    const [given, ...more] = call.positionals
    if (more.length > 0) throw new UsageError(`unexpected argument ${more[0]}`)
    const { backupsIn } = await import('../../db/backup/list.ts')
    const folder = folderOf(call, given)
    await mustBeThere(folder)
    const found = await Promise.all((await backupsIn(folder)).map(described))
    return {
      isGood: found.every(({ isDamaged }) => !isDamaged),
      text: found.length === 0 ? 'There are no backups.\n' : listing(found.map(each => [each.folder, rangeText(each)])),
      json: { backups: found },
    }
  },
}

export const restore: FilesCommand = {
  name: 'restore',
  usage: '--from BACKUP [--time TIME] [--data-dir DIR] [--move-aside]',
  summary: 'Restore a backup of the embedded database',
  details: [
    'Checks each file of the backup, recovers the database to TIME or to the end of the archived log, and puts it in place',
    'only then. Refuses a folder that is in use, or that holds a database. See docs/operations.md for what to do next.',
  ].join('\n'),
  options: {
    from: { value: 'BACKUP', meaning: 'the folder of the backup, as `backups` lists it; its log lies beside it' },
    time: { value: 'TIME', meaning: 'leave out what was committed after TIME: 2026-11-23T08:15:00Z, or +01:00 for Z' },
    'data-dir': { value: 'DIR', meaning: 'the folder to restore into (default: DATA_DIR)' },
    'move-aside': { meaning: 'rename the database that the folder holds' },
  },
  async run(call) {
    mustBeNone(call)
    mustBeEmbedded(call.config)
    const from = resolve(needed(call, 'from'))
    const until = moment(call.text('time'))
    const dataDir = resolve(call.text('data-dir') ?? call.config.dataDir)
    const { restoreBackup } = await import('../../db/backup/restore.ts')
    const began = performance.now()
    const restored = await restoreBackup({ from, dataDir, until, movesAside: call.isSet('move-aside') })
    const seconds = secondsSince(began)
    const lastChange = restored.lastChangeAt?.toISOString()
    const { aside = null, hasKey } = restored
    return {
      isGood: true,
      text: listing([
        ['restored', join(dataDir, 'postgres')],
        ['last change', lastChange ?? `before ${restored.manifest.consistentAt}`],
        ['seconds', String(seconds)],
        ...(aside ? [['moved aside', aside] as const] : []),
      ]),
      notes: nextSteps(hasKey),
      json: { dataDir, lastChange: lastChange ?? null, seconds, aside, hasKey },
    }
  },
}

/** In tenths. @param began in ms */
const secondsSince = (began: number): number => Math.round((performance.now() - began) / 100) / 10

const nextSteps = (hasKey: boolean): string =>
  [
    hasKey ? 'The key of the backup is in the folder.' : 'Start with the ENCRYPTION_KEY of then: the backup has none.',
    'Before you start: npm run admin -- audit verify (what the anchor saw and the database lacks is lost).',
    'Repeat what was revoked since: clients, consents. Then make a backup: older ones end here. See docs/operations.md.',
    '',
  ].join('\n')

/** The folder for backups. @throws ConfigError @throws UsageError if none is named. */
function folderOf({ config }: FilesCall, given: string | undefined): string {
  mustBeEmbedded(config)
  const folder = given ?? config.backupDir
  if (folder !== '') return resolve(folder)
  throw new UsageError('name a folder, or set BACKUP_DIR')
}

/** @throws ConfigError */
function mustBeEmbedded({ databaseUrl }: Config): void {
  if (databaseUrl !== '')
    throw new ConfigError(
      'DATABASE_URL names a server of your own, whose tools make and restore its backups: pg_basebackup, pgBackRest, WAL-G. See docs/operations.md, “Backup and restore”.',
    )
}

/** @throws UsageError */
function keptCount(text: string | undefined): number | undefined {
  if (text === undefined || /^[1-9]\d{0,5}$/.test(text)) return text === undefined ? undefined : Number(text)
  throw new UsageError(`--keep is ${text}, but must be a number from 1 on`)
}

/** @throws UsageError for what names no moment without a doubt. */
function moment(text: string | undefined): string | undefined {
  const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)$/
  if (text === undefined || (form.test(text) && !Number.isNaN(Date.parse(text)))) return text
  throw new UsageError(`--time is ${text}, but must be a time with its zone: 2026-11-23T08:15:00Z, or +01:00 for Z`)
}

async function backedUp(config: Config, to: string) {
  const [{ makeBackup }, { borrowEmbedded, mustHoldDatabase }, { createLog }] = await Promise.all([
    import('../../db/backup/make.ts'),
    import('../../db/embedded.ts'),
    import('../../lib/log.ts'),
  ])
  await mustHoldDatabase(config.dataDir)
  await mustBeThere(to)
  const server = await borrowEmbedded(config.dataDir, 10, createLog('warn'), archiveOf(config))
  try {
    return await makeBackup(server.connection, to, config.encryptionKey ? undefined : config.dataDir)
  } finally {
    await server.stop()
  }
}

/** @throws ConfigError if there is no folder for backups. */
async function mustBeThere(folder: string): Promise<void> {
  const { exists } = await import('../../lib/draft.ts')
  if (!(await exists(folder))) throw new ConfigError(`There is no ${folder}: the folder for backups is not there.`)
}

interface Described {
  readonly folder: string
  readonly isDamaged: boolean
  readonly bytes: number | null
  /** The first and about the last moment to which it can be restored. */
  readonly from: string | null
  readonly until: string | null
}

async function described({ folder, manifest }: { folder: string; manifest: Manifest | undefined }): Promise<Described> {
  if (!manifest) return { folder, isDamaged: true, bytes: null, from: null, until: null }
  const { bytesOf } = await import('../../db/backup/manifest.ts')
  const { reachOf } = await import('../../db/backup/archived.ts')
  const reach: LogReach | undefined = await reachOf(folder, manifest).catch(() => undefined)
  const { consistentAt: from } = manifest
  return { folder, isDamaged: false, bytes: bytesOf(manifest), from, until: reach?.archivedAt?.toISOString() ?? from }
}

const rangeText = ({ isDamaged, bytes, from, until }: Described): string =>
  isDamaged ? 'damaged' : `${from}${from === until ? '' : ` to ${until}`}, ${bytes} bytes`
