// The workbench: informaticists try changes of the maps, and save them once the folder as a whole is valid with them.

import type { Transactional } from '../../db/statement.ts'
import type { Structures } from '../../fml/structures.ts'
import { Failure } from '../../lib/failure.ts'
import { isMap, mapName } from '../files.ts'
import type { Mappings } from '../mappings.ts'
import type { Need } from '../needs.ts'
import type { Transformer, TransformerOptions } from '../transformer.ts'
import type { Answers, Ask, AskOf, DeskTask, Draft, ExampleResult, Listed, Marked } from './asks.ts'
import { changedAt, checkDraft, type Folder, isWritable, readWhole, writeWhole } from './folder.ts'
import {
  digestOf,
  lastVersions,
  listVersions,
  lockFolder,
  readVersion,
  recordVersions,
  type Version,
} from './versions.ts'

/** A file as it was when its author began to change it, and as it shall be. */
interface Change extends Draft {
  /** The digest of the text that the author began with; empty for a new file. */
  readonly basis: string
}

/** Who saves. */
interface Author {
  /** Whose turn the checks take. */
  readonly clientId: string
  readonly email: string
}

export interface Workbench {
  /** All files of the folder, which may be broken. @throws Failure UNAVAILABLE */
  folder(): Promise<Folder>
  isWritable(): Promise<boolean>
  /** Why the folder is not served as it is; none if it is. */
  refusal(): readonly string[]
  /** The types that maps can be between. */
  structures(): Structures
  /**
   * Answers what is asked about drafts, the first of which it is about.
   * @param client whose turn it takes
   * @throws Failure VALIDATION_FAILED if it takes too long, RATE_LIMITED if too many of the client wait
   */
  ask<Kind extends Ask['kind']>(client: string, drafts: readonly Draft[], ask: AskOf<Kind>): Promise<Answers[Kind]>
  /**
   * Saves changes, all or none, if the folder can then be served; they are served when it returns.
   * @param mayFail save although examples fail
   * @throws Failure CONFLICT if another user changed a file meanwhile, or the folder is read-only; VALIDATION_FAILED with what is wrong
   */
  save(author: Author, changes: readonly Change[], mayFail: boolean): Promise<void>
  /** What is known of each map of the folder. */
  list(client: string): Promise<readonly Listed[]>
  versions(name: string): Promise<Omit<Version, 'text'>[]>
  version(name: string, id: string): Promise<Version | undefined>
  /** The last version of each file. */
  changes(): Promise<ReadonlyMap<string, Omit<Version, 'text'>>>
}

export interface WorkbenchParts {
  readonly folder: string
  readonly needs: readonly Need[]
  readonly database: Transactional
  readonly transformer: Transformer
  readonly mappings: Mappings
}

/** The processes of the workbench: authors are few and may write maps of two million characters. */
export const authorProcesses: TransformerOptions = { limit: 20_000, processes: 2, megabytes: 1024 }

/** Milliseconds for which a look into the folder holds: an author who types asks several times in this time. */
const FRESH = 1000

export function createWorkbench({ folder, needs, database, transformer, mappings }: WorkbenchParts): Workbench {
  let known: { readonly folder: Folder; readonly at: number } | undefined
  let lists: { readonly id: string; readonly all: readonly Listed[] } | undefined

  /** Another process may have saved a moment ago: what a page shows is what is there now. */
  async function current(): Promise<Folder> {
    const before = known?.folder
    const now = await readWhole(folder, before)
    if (now !== before) await recordFound(now)
    known = { folder: now, at: performance.now() }
    return now
  }

  const recent = async (): Promise<Folder> => (known && performance.now() - known.at < FRESH ? known.folder : current())

  /** Files that were changed in the folder itself have versions too. */
  const recordFound = ({ files }: Folder): Promise<void> =>
    database.transaction(async transaction => {
      await lockFolder(transaction)
      const dated = files.map(async ({ name, text }) => ({ name, text, at: await changedAt(folder, name) }))
      await recordVersions(transaction, await Promise.all(dated), undefined)
    })

  async function ask<Kind extends Ask['kind']>(
    client: string,
    drafts: readonly Draft[],
    about: AskOf<Kind>,
    at?: Folder,
  ): Promise<Answers[Kind]> {
    const { id, files } = at ?? (await recent())
    const task: DeskTask = { base: { id }, needs, drafts, ask: about }
    const reply = await transformer.ask<Kind>(client, task)
    if (reply !== 'unknown base') return reply.answer
    const whole = await transformer.ask<Kind>(client, { ...task, base: { id, files } })
    if (whole === 'unknown base') throw new Error('a thread refused the files of the folder')
    return whole.answer
  }

  return {
    folder: () => current(),
    isWritable: () => isWritable(folder),
    refusal: () => mappings.problems(),
    structures: () => mappings.set().structures,
    ask: (client, drafts, about) => ask(client, drafts, about),
    async save({ clientId, email }, changes, mayFail) {
      await database.transaction(async transaction => {
        await lockFolder(transaction)
        const now = await readWhole(folder, known?.folder)
        for (const each of changes) checkChange(each, now)
        const { problems, affected } = await ask(clientId, changes, { kind: 'judge' }, now)
        mustBeSound(problems)
        if (!mayFail) mustPass(await inParts(affected, maps => ask(clientId, changes, { kind: 'examples', maps }, now)))
        for (const each of changes) await writeWhole(folder, each)
        const saved = changes.map(({ name, text }) => ({ name, text, at: new Date() }))
        await recordVersions(transaction, saved, email)
      })
      await mappings.refresh()
      known = undefined
    },
    async list(client) {
      const now = await current()
      if (lists?.id !== now.id) {
        const all = await inParts(mapsIn(now), maps => ask(client, [], { kind: 'list', maps }, now))
        lists = { id: now.id, all }
      }
      return lists.all
    },
    versions: name => listVersions(database, name),
    version: (name, id) => readVersion(database, name, id),
    changes: async () => {
      await current()
      return lastVersions(database)
    },
  }
}

/** @throws Failure CONFLICT */
function checkChange(change: Change, { files }: Folder): void {
  checkDraft(change, files)
  const found = files.find(({ name }) => name === change.name)
  const now = found ? digestOf(found.text) : ''
  if (now === change.basis) return
  throw new Failure(
    'CONFLICT',
    found
      ? `${change.name} was changed by another user after you opened it: copy your text, reload the page, and make the change again.`
      : `${change.name} was removed by another user after you opened it.`,
  )
}

/** Most problems that a refusal lists. */
const LISTED = 20

const mapsIn = ({ files }: Folder): string[] => files.flatMap(({ name }) => (isMap(name) ? [mapName(name)] : []))

/** Maps that are asked about at once: each answer has a limit of time. */
const AT_ONCE = 8

async function inParts<Item>(
  maps: readonly string[],
  asked: (maps: readonly string[]) => Promise<readonly Item[]>,
): Promise<Item[]> {
  const all: Item[] = []
  for (let i = 0; i < maps.length; i += AT_ONCE) all.push(...(await asked(maps.slice(i, i + AT_ONCE))))
  return all
}

/** @throws Failure VALIDATION_FAILED */
function mustBeSound(problems: readonly Marked[]): void {
  const errors = problems.filter(({ severity }) => severity === 'error')
  if (errors.length > 0)
    throw new Failure('VALIDATION_FAILED', 'The folder cannot be served with this change, so nothing was saved.', {
      details: errors.slice(0, LISTED).map(detailOf),
    })
}

/** @throws Failure VALIDATION_FAILED */
function mustPass(results: readonly ExampleResult[]): void {
  const failing = results.filter(each => !each.isPassed)
  if (failing.length === 0) return
  throw new Failure('VALIDATION_FAILED', 'Examples fail with this change, so nothing was saved.', {
    details: failing.slice(0, LISTED).map(({ map, name, findings }) => ({
      field: `${map}: ${name}`,
      code: 'example',
      message: findings[0] ?? '',
    })),
  })
}

const detailOf = ({ file, line, column, message }: Marked) => ({
  field: `${file}:${line}:${column}`,
  code: 'invalid',
  message,
})
