// Files as they are named in a command.

import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UsageError } from '../../lib/command.ts'
import type { MapCall } from './command.ts'

/** Where the command was typed: npm runs scripts in the folder of the project. */
const here = process.env['INIT_CWD'] ?? process.cwd()

/** The path of a file that need not be there, named from where the command was typed. */
export function pathHere(given: string): string {
  return resolve(here, given)
}

/** A file that is there: by its path, or a map of the folder by its name. @throws UsageError */
export function existing(given: string, { folder }: Pick<MapCall, 'folder'>): string {
  const places = [
    pathHere(given),
    resolve(given),
    join(folder, given),
    ...['fml', 'map'].map(ending => join(folder, `${given}.${ending}`)),
  ]
  const found = places.find(place => statSync(place, { throwIfNoEntry: false })?.isFile())
  if (found === undefined) throw new UsageError(`there is no file ${given}, and no map with this name in ${folder}`)
  return found
}
