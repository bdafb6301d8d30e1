// npm run admin -- audit periods, audit archive: which rows of the audit trail are in the database, and which in files.
import { ArchiveError, archiveDue, type NewArchive } from '../../audit/archive/make.ts'
import { type PeriodState, periodStates } from '../../audit/archive/periods.ts'
import { sealingKey } from '../../audit/chain.ts'
import { UsageError } from '../../lib/command.ts'
import { archiveFolderOf } from '../../lib/config.ts'
import { encryptionKey } from '../../lib/encryption.ts'
import { type AdminCommand, mustBeNone } from './command.ts'

export const auditPeriods: AdminCommand = {
  name: 'audit periods',
  usage: '',
  summary: 'List the periods of the audit trail and where their rows are',
  details: 'A period ends with its month (UTC), or when it has 200 million rows.',
  options: {},
  async run(call) {
    mustBeNone(call)
    const periods = await periodStates(call.database)
    return { isGood: true, text: periods.map(periodText).join(''), json: periods }
  },
}

export const auditArchive: AdminCommand = {
  name: 'audit archive',
  usage: '[--days N] [--to DIR]',
  summary: 'Move the audit rows of ended periods from the database to files',
  details: [
    'Closes each period that ended so many days ago, writes it to a compressed file, reads the file back and verifies',
    'every row. Only then do the rows leave the database. A broken period stays. The service can keep running: with',
    'AUDIT_ONLINE_DAYS it does the same every hour.',
  ].join('\n'),
  options: {
    days: { value: 'N', meaning: 'days since the end of a period, instead of AUDIT_ONLINE_DAYS; 0: all that ended' },
    to: { value: 'DIR', meaning: 'the folder of archives to use instead of AUDIT_ARCHIVE_DIR' },
  },
  async run(call) {
    mustBeNone(call)
    const made: NewArchive[] = []
    const parts = {
      database: call.database,
      key: sealingKey(await encryptionKey(call.config)),
      folder: call.text('to') ?? archiveFolderOf(call.config),
    }
    const days = daysOf(call.text('days'), call.config.auditOnlineDays)
    const problem = await archiveDue(parts, days, each => made.push(each)).then(() => undefined, messageOf)
    const text = made.map(({ period, rows, file }) => `Period ${period}: ${rows} rows moved to ${file}\n`).join('')
    if (problem !== undefined) return { isGood: false, text: `${text}${problem}\n`, json: { made, problem } }
    return { isGood: true, text: text || 'No period is due.\n', json: { made, problem: null } }
  },
}

/** What is wrong with a period. @throws every other error */
function messageOf(error: unknown): string {
  if (error instanceof ArchiveError) return error.message
  throw error
}

/** @throws UsageError */
function daysOf(given: string | undefined, setting: number): number {
  if (given === undefined && setting > 0) return setting
  if (given === undefined) throw new UsageError('--days is required, because AUDIT_ONLINE_DAYS is 0')
  if (!/^\d{1,5}$/.test(given)) throw new UsageError('--days must be a whole number up to 99999')
  return Number(given)
}

function periodText({ number, beganAt, endedAt, rows, archive }: PeriodState): string {
  const [from, to] = [beganAt, endedAt].map(each => each?.toISOString().slice(0, 16).replace('T', ' ') ?? 'now')
  const place = archive ? `in ${archive.file}` : 'in the database'
  return `${number}  ${from} to ${to}  ${rows} rows  ${place}\n`
}
