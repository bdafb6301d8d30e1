// The folder of maps as the workbench sees it: all its files, and how one is replaced.

import { randomUUID } from 'node:crypto'
import { access, constants, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { MAX_CHARACTERS } from '../../fml/parser.ts'
import { Failure } from '../../lib/failure.ts'
import { lookInto, readFiles, type SourceFile } from '../files.ts'
import type { Draft } from './asks.ts'
import { digestOf } from './versions.ts'

/** The folder at a time. */
export interface Folder {
  /** Of the contents: two folders with the same id have the same files. */
  readonly id: string
  readonly files: readonly SourceFile[]
  readonly mark: string
}

/** Reads the folder; `before` itself if nothing has changed. @throws Failure UNAVAILABLE */
export async function readWhole(folder: string, before?: Folder): Promise<Folder> {
  try {
    const { mark, files: paths } = await lookInto(folder)
    if (mark === before?.mark) return before
    const files = await readFiles(folder, paths)
    const id = digestOf(files.map(({ name, text }) => `${name}\0${digestOf(text)}`).join('\n'))
    return { id, files, mark }
  } catch (cause) {
    throw new Failure('UNAVAILABLE', 'The folder of the maps cannot be read: see the log of the service.', { cause })
  }
}

/** When a file was changed; now, if it is gone. */
export const changedAt = (folder: string, name: string): Promise<Date> =>
  stat(join(folder, name)).then(
    ({ mtime }) => mtime,
    () => new Date(),
  )

/** True if files of the folder can be written. */
export const isWritable = (folder: string): Promise<boolean> =>
  access(folder, constants.W_OK).then(
    () => true,
    () => false,
  )

const NAME = /^(?:[a-z0-9][a-z0-9-]*\/)?[a-z0-9][a-z0-9-]*(?:\.fml|\.examples\.json|\.json)$/

/**
 * Checks the name of a file to be written.
 * @throws Failure VALIDATION_FAILED for one that is not of the folder or too long
 */
export function checkDraft({ name, text }: Draft, files: readonly SourceFile[]): void {
  const isKnown = files.some(each => each.name === name)
  if (!isKnown && (!NAME.test(name) || name.length > 100))
    throw new Failure(
      'VALIDATION_FAILED',
      'The name of a map has lower-case letters, digits and hyphens, such as allergy-to-fhir, optionally in a folder: hl7v2/oru-r01-to-fhir.',
    )
  if (text.length > MAX_CHARACTERS)
    throw new Failure('VALIDATION_FAILED', `The file has ${text.length} characters; it may have ${MAX_CHARACTERS}.`)
}

/** Writes a file of the folder as a whole: readers find the old one or the new one. @throws Failure CONFLICT if the folder is read-only */
export async function writeWhole(folder: string, { name, text }: Draft): Promise<void> {
  const path = join(folder, name)
  // Names that begin with a dot are no files of the folder.
  const draft = join(dirname(path), `.${randomUUID()}`)
  try {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(draft, text, { flag: 'wx' })
    await rename(draft, path)
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => {})
    const { code } = cause as NodeJS.ErrnoException
    if (code !== 'EROFS' && code !== 'EACCES' && code !== 'EPERM') throw cause
    throw new Failure('CONFLICT', 'The folder of the maps is read-only here: download the change as a patch.', {
      cause,
    })
  }
}
