// The maps that the service runs: those of a folder. A change there is served at once, but only as a whole and only if the set is
// valid; until then the set before is served.

import { basename } from 'node:path'
import type { Program } from '../fml/compile.ts'
import { render } from '../fml/render.ts'
import { ConfigError } from '../lib/config.ts'
import type { Log } from '../lib/log.ts'
import type { Matching } from '../mpi/matching/weights.ts'
import type { ConsentTypes } from '../shapes/consent-types.ts'
import { lookInto, type SourceFile } from './files.ts'
import { type Follower, follow } from './follow.ts'
import { calmFiles, isSame, isSound, type Judged, judge, type Standard, unreadable } from './judge.ts'
import { keep, readKept } from './kept.ts'
import type { MappingSet } from './set.ts'

export interface MappingsParts extends Standard {
  readonly folder: string
  /** The file that keeps the last valid set for the next start. */
  readonly kept: string
  readonly log: Log
  /** Milliseconds between looks into the folder, for systems that do not report changes. */
  readonly every?: number
}

export interface Mappings {
  /** The map of this name as it is now. @throws Error if there is none; what is named as a need is always there. */
  program(name: string): Program
  /** Returns the weights for matching patients. @throws Error if there are none; where they are required they are always there. */
  matching(): Matching
  /** Returns what patients can consent to now. @throws Error if no file defines it; where it is required it is always there. */
  consents(): ConsentTypes
  /** Returns the set that is served now, which is valid. */
  set(): MappingSet
  /** The files that these come from. */
  files(): readonly SourceFile[]
  /** Returns `ok`, or that the folder's content is not what is served. */
  state(): string
  /** Why the folder is not served, as `file:line:column: message` without the path of the folder; the first twenty. */
  problems(): readonly string[]
  /** Looks into the folder now; resolves when what is there is served, or refused. */
  refresh(): Promise<void>
  /** Serves changes in the folder from now on. */
  follow(): void
  close(): Promise<void>
}

/** The maps of the folder are broken, and no earlier ones were kept; `message` lists every problem. */
class MappingsError extends ConfigError {}

interface Served {
  readonly set: MappingSet
  readonly files: readonly SourceFile[]
  /** When it was first found valid. */
  readonly since: string
}

interface Live extends MappingsParts {
  /** The state of the folder when it was checked. */
  mark: string
  judged: Judged
  served: Served
}

/**
 * Loads the maps of a folder. If these are broken, the last valid ones are served, so that a restart does not interrupt care.
 * Without any, the service must not start, for it could translate nothing.
 * @throws MappingsError
 */
export async function createMappings(parts: MappingsParts): Promise<Mappings> {
  const { mark, judged } = await judgedFolder(parts)
  const served = isSound(judged) ? await adopted(judged, parts) : await lastSound(judged, parts)
  const live: Live = { ...parts, mark, judged, served }
  if (!isSound(judged)) logProblems(live)
  let follower: Follower | undefined
  // One look at a time, so that none ends with what another has replaced.
  let last: Promise<unknown> = Promise.resolve()
  const next = (): Promise<readonly string[]> => {
    const looking = last.then(() => look(live))
    last = looking
    return looking
  }
  return {
    program(name) {
      const program = live.served.set.mappings.get(name)?.program
      if (!program) throw new Error(`there is no map ${name}`)
      return program
    },
    matching() {
      const { matching } = live.served.set
      if (!matching) throw new Error('there are no weights for matching patients')
      return matching
    },
    consents() {
      const { consents } = live.served.set
      if (!consents) throw new Error('there are no types of consent')
      return consents
    },
    set: () => live.served.set,
    files: () => live.served.files,
    state: () => (isSound(live.judged) ? 'ok' : refusal(live)),
    problems: () => problemsOf(live.judged),
    refresh: async () => void (await next()),
    follow: () => void (follower ??= follow(parts.folder, parts.every ?? 1000, next)),
    close: async () => follower?.close(),
  }
}

/** Checks the folder if something in it has changed. @returns the folders that exist now */
async function look(live: Live): Promise<readonly string[]> {
  const seen = await lookInto(live.folder).catch(() => undefined)
  if (seen === undefined || seen.mark !== live.mark) await lookCloser(live)
  return seen?.folders ?? [live.folder]
}

async function lookCloser(live: Live): Promise<void> {
  const { mark, judged } = await judgedFolder(live, live.judged)
  const before = live.judged
  const isNew = judged !== before && (judged.set !== undefined || before.set !== undefined)
  // All at once: maps are served by the time they are reported as valid.
  const served = isNew && isSound(judged) ? await adopted(judged, live) : live.served
  Object.assign(live, { mark, judged, served })
  if (!isNew) return
  if (!isSound(judged)) return logProblems(live)
  live.log.info({ maps: live.served.set.mappings.size }, 'mappings: now using the maps of the folder')
}

/** Returns the checked folder as it is now; `before` itself if nothing has changed. */
async function judgedFolder(parts: MappingsParts, before?: Judged): Promise<{ mark: string; judged: Judged }> {
  try {
    const { mark, files } = await calmFiles(parts.folder)
    return { mark, judged: before && isSame(before, files) ? before : await judge(files, parts, before?.set) }
  } catch (error) {
    return { mark: '', judged: unreadable(parts.folder, error) }
  }
}

async function adopted({ files, set }: Judged, { kept, log }: MappingsParts): Promise<Served> {
  const now = new Date().toISOString()
  const since = await keep(kept, { since: now, files }).catch(error => {
    log.warn({ err: error }, 'mappings: could not store the maps for the next start')
    return now
  })
  return { set: set!, files, since }
}

async function lastSound(broken: Judged, parts: MappingsParts): Promise<Served> {
  const kept = await readKept(parts.kept)
  const judged = kept && (await judge(kept.files, parts))
  if (judged && isSound(judged)) return { set: judged.set!, files: kept.files, since: kept.since }
  const texts = new Map(broken.files.map(({ path, text }) => [path, text]))
  const problems = broken.problems.map(each => render(each, texts.get(each.file ?? '') ?? ''))
  throw new MappingsError(
    `The maps of ${parts.folder} are broken, and there are no earlier ones to serve:\n\n${problems.join('\n\n')}`,
  )
}

/** Logs every problem. Messages are about maps, never about data. */
function logProblems(live: Live): void {
  for (const { file, span, message } of live.judged.problems)
    live.log.error({ place: `${file}:${span.line}:${span.column}` }, `mappings: ${message}`)
  live.log.error(`mappings: ${refusal(live)}`)
}

/** Most problems that are shown at once. */
const SHOWN = 20

function problemsOf({ files, set, problems }: Judged): string[] {
  // The system's error for a folder that cannot be read names its path, which only the log may show.
  if (!set && problems.length > 0) return ['the folder of the maps cannot be read; see the log']
  const names = new Map(files.map(({ path, name }) => [path, name]))
  const texts = problems
    .slice(0, SHOWN)
    .map(
      ({ file = '', span, message }) => `${names.get(file) ?? basename(file)}:${span.line}:${span.column}: ${message}`,
    )
  return problems.length > SHOWN ? [...texts, `${problems.length - SHOWN} more`] : texts
}

function refusal({ judged, served }: Live): string {
  const count = judged.problems.length
  return `refused: ${count} ${count === 1 ? 'problem' : 'problems'}, serving the set of ${served.since}`
}
