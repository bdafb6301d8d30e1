// Published data that is too large to keep in the repository: `../shared/data` beside the project, or beside the folder
// of its git worktrees. Tests that need it are skipped, and say so, where it is absent; `npm test` leaves it to `npm run test:all`.

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isAll } from './rounds.ts'

const places = ['../../../shared/data/', '../../../../shared/data/'].map(place => new URL(place, import.meta.url))

/** The path of a file or folder of the published data; undefined if it is not on this machine, or not for this run. */
export function sharedData(path: string): string | undefined {
  return isAll ? places.map(place => fileURLToPath(new URL(path, place))).find(full => existsSync(full)) : undefined
}
