// npm run admin -- audit verify: whether the audit trail is what was written.
import type { KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { anchorTexts } from '../../audit/anchor-file.ts'
import { type Anchored, readAnchor, type SeenHead } from '../../audit/anchored.ts'
import { archivesText, isWhole as isWholeArchive, verifyArchives } from '../../audit/archive/verify.ts'
import { sealingKey } from '../../audit/chain.ts'
import { settledAnchor } from '../../audit/check.ts'
import { anchorText, reportedHeads, verdictText } from '../../audit/verdict.ts'
import { type ChainVerdict, verifyTrail } from '../../audit/verify.ts'
import { UsageError } from '../../lib/command.ts'
import { anchorFileOf, archiveFolderOf } from '../../lib/config.ts'
import { encryptionKey } from '../../lib/encryption.ts'
import { type AdminCall, type AdminCommand, mustBeNone } from './command.ts'

export const auditVerify: AdminCommand = {
  name: 'audit verify',
  usage: '[--anchor FILE] [--known FILE] [--archives DIR]',
  summary: 'Verify the whole audit trail and report the first broken row of each chain',
  details: [
    'Checks every row against its hash and the previous row, every chain against its sealed head, the chains against',
    'each other, and all of them against the anchor: AUDIT_ANCHOR_FILE, or the file of a collector. Reads the rows of',
    'archived periods from their files: a missing file is a break.',
    'The service can keep running. Store the --json output in a safe place: it contains the head of each chain.',
    'The exit code is also 1 if the anchor is broken or the trail cannot be checked.',
  ].join('\n'),
  options: {
    anchor: {
      value: 'FILE',
      meaning: 'the anchor to use instead of AUDIT_ANCHOR_FILE and its predecessor (FILE.1)',
    },
    archives: {
      value: 'DIR',
      meaning: 'the folder of archives to use instead of AUDIT_ARCHIVE_DIR',
    },
    known: {
      value: 'FILE',
      meaning:
        'the --json output of an earlier check, whose heads must still exist: detects rows that were cut off and sealed again',
    },
  },
  async run(call) {
    mustBeNone(call)
    const key = sealingKey(await encryptionKey(call.config))
    const known = await knownHeads(call)
    // Before the trail, which may be further than its anchor, but never behind it.
    const { file, anchored } = await anchorOf(call, key)
    const seen = [...(anchored?.seen ?? []), ...known]
    const verdict = await verifyTrail(call.database, key, seen)
    const folder = call.text('archives') ?? archiveFolderOf(call.config)
    const archives = await verifyArchives(folder, verdict.archived, key, seen)
    const isWhole = verdict.isWhole && archives.every(isWholeArchive) && !anchored?.problems.length
    const anchor = anchored && { file, lines: anchored.lines, last: anchored.last?.time, problems: anchored.problems }
    return {
      isGood: isWhole,
      text: verdictText(verdict) + archivesText(folder, archives) + anchorText(file, anchored),
      json: { ...jsonOf(verdict), isWhole, archives, anchor: anchor ?? null },
    }
  },
}

/** What the database says of archived periods is in the verdicts on their files. */
const jsonOf = ({ archived: _, ...verdict }: ChainVerdict): object => verdict

interface Found {
  /** Undefined: the settings name none. */
  readonly file: string | undefined
  /** Undefined: there is none. */
  readonly anchored: Anchored | undefined
}

/** @throws UsageError if the file of --anchor is not there. */
async function anchorOf(call: AdminCall, key: KeyObject): Promise<Found> {
  const given = call.text('anchor')
  const file = given ?? anchorFileOf(call.config)
  if (file === undefined) return { file, anchored: undefined }
  if (given === undefined) return { file, anchored: await settledAnchor(call.database, key, file) }
  const texts = await anchorTexts(file)
  if (texts.length === 0) throw new UsageError(`${file} does not exist`)
  return { file, anchored: readAnchor(key, texts) }
}

/** @throws UsageError if the file cannot be read, or is none. */
async function knownHeads(call: AdminCall): Promise<readonly SeenHead[]> {
  const file = call.text('known')
  if (file === undefined) return []
  try {
    return reportedHeads(await readFile(file, 'utf8'))
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
