// The files of a folder of maps, as text: maps, their examples, and the FHIR resources that maps refer to.

import { isUtf8 } from 'node:buffer'
import { type BigIntStats, readFileSync, statSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** A file as it was read. */
export interface SourceFile {
  /** As messages name it: from the working directory. */
  readonly path: string
  /** Below the folder of maps, with `/`: `codes/severity.fml`. */
  readonly name: string
  readonly text: string
  /** The line of the first bytes that are not UTF-8; absent: there are none. */
  readonly foreignLine?: number
}

/** The state of a folder without reading its files: two equal looks mean that nothing has changed. */
export interface Look {
  readonly folders: readonly string[]
  readonly files: readonly string[]
  /** Of all files: name, size, time of change, and which file it is on the disk. */
  readonly mark: string
}

/**
 * Lists the files of a folder and its folders, in order of name. Names that begin with a dot are left out: editors
 * and container schedulers keep theirs there. Links to files are followed.
 * @throws Error if there is no such folder.
 */
export async function lookInto(folder: string): Promise<Look> {
  const folders = [folder]
  const files: string[] = []
  const marks: string[] = []
  for (const each of folders) {
    const paths = (await readdir(each))
      .filter(name => !name.startsWith('.'))
      .toSorted()
      .map(name => join(each, name))
    const found = await Promise.all(paths.map(path => stat(path, { bigint: true }).catch(() => undefined)))
    for (const [index, path] of paths.entries()) {
      const stats = found[index]
      if (stats?.isDirectory()) folders.push(path)
      else if (stats?.isFile() && isSource(path)) {
        files.push(path)
        marks.push(markOf(path, stats))
      }
    }
  }
  return { folders, files, mark: marks.join('\n') }
}

/** Reads the files that were found in a folder. */
export async function readFiles(folder: string, paths: readonly string[]): Promise<SourceFile[]> {
  return Promise.all(paths.map(async path => sourceFile(folder, path, await readFile(path))))
}

/** Reads a whole folder. @throws Error if there is no such folder. */
export async function readFolder(folder: string): Promise<SourceFile[]> {
  const { files } = await lookInto(folder)
  return readFiles(folder, files)
}

/** Reads one file. @throws Error if there is no such file. */
export function readSource(folder: string, path: string): SourceFile {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw new Error(`There is no file ${path}.`)
  return sourceFile(folder, path, readFileSync(path))
}

/** The ending of maps is `.fml`; `.map` is an older one. */
const MAP = /\.(?:fml|map)$/

export function isMap(name: string): boolean {
  return MAP.test(name)
}

/** The name of a map: its file without its ending. */
export function mapName(name: string): string {
  return name.replace(MAP, '')
}

function isSource(name: string): boolean {
  return isMap(name) || name.endsWith('.json')
}

function markOf(path: string, { size, mtimeNs, ctimeNs, ino }: BigIntStats): string {
  return `${path} ${size} ${mtimeNs} ${ctimeNs} ${ino}`
}

function sourceFile(folder: string, path: string, bytes: Buffer): SourceFile {
  const shown = relative(process.cwd(), path)
  return {
    path: shown.startsWith('..') ? path : shown,
    name: relative(folder, path).replaceAll('\\', '/'),
    text: bytes.toString('utf8').replace(/^\uFEFF/, ''),
    ...(isUtf8(bytes) ? {} : { foreignLine: foreignLineOf(bytes) }),
  }
}

function foreignLineOf(bytes: Buffer): number {
  for (let line = 1, from = 0; ; line++) {
    const end = bytes.indexOf('\n', from)
    if (end < 0 || !isUtf8(bytes.subarray(from, end))) return line
    from = end + 1
  }
}
