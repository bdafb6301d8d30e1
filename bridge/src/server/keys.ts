// The agent's key and, around a rotation, its neighbour: one of the two is valid at any time.
import { createHash, randomBytes } from 'node:crypto'
import { readSealed, writeSealed } from '../state/meta.ts'
import type { State } from '../state/state.ts'

/** As it is kept, sealed: the key of the config file that these succeed, the one in use, and the one before or after it. */
interface Kept {
  /** SHA-256 of the config file's key: after a new enrolment the file comes first again. */
  readonly enrolled: string
  readonly current: string
  readonly other?: string
}

export interface Keys {
  current(): string
  /** The neighbour of a key, to be tried where that one is refused; undefined: there is none. */
  besides(key: string): string | undefined
  /** This one of the two works: it is used from now on. */
  use(key: string): void
  /** Makes the next key and keeps it beside the current one; returns its SHA-256, which is all that leaves this machine. */
  next(): string
  /** The server knows the key of this SHA-256: it is used from now on. */
  confirm(digest: string): void
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** @param enrolled the key of the config file */
export function createKeys(state: State, enrolled: string): Keys {
  const stored = readSealed(state, 'keys') as Kept | undefined
  const digest = sha256(enrolled)
  let kept: Kept = stored?.enrolled === digest ? stored : { enrolled: digest, current: enrolled }
  const keep = (keys: Kept): void => {
    writeSealed(state, 'keys', keys)
    kept = keys
  }
  const use = (key: string): void => {
    if (kept.other === key) keep({ ...kept, current: key, other: kept.current })
  }
  return {
    current: () => kept.current,
    besides: key => (key === kept.current ? kept.other : kept.current),
    use,
    next() {
      const other = `bak_${randomBytes(32).toString('base64url')}`
      keep({ ...kept, other })
      return sha256(other)
    },
    confirm(confirmed) {
      if (kept.other !== undefined && sha256(kept.other) === confirmed) use(kept.other)
    },
  }
}
