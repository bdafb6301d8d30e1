// Cursors of lists: where a page ended, sealed, so that clients can neither forge one nor use it for another list.

import { createHmac } from 'node:crypto'
import { seal, unseal } from './encryption.ts'
import { Failure } from './failure.ts'

export interface Cursors {
  /** The cursor that goes on after a position in a list. */
  write(list: string, position: readonly string[]): string
  /**
   * The position that a cursor stands for.
   * @param list names the list with everything that decides what is in it: the same as when the cursor was written.
   * @throws Failure VALIDATION_FAILED for a cursor that was changed, or is of another list.
   */
  read(list: string, cursor: string): string[]
}

/** Creates cursors that all processes of a deployment can read, and no client can forge. */
export function createCursors(encryptionKey: Buffer): Cursors {
  const key = createHmac('sha256', encryptionKey).update('cursors of lists').digest()
  return {
    write: (list, position) => seal(key, JSON.stringify(position), list).toString('base64url'),
    read(list, cursor) {
      const sealed = Buffer.from(cursor, 'base64url')
      // Several texts mean the same bytes; only the one that was given out is taken.
      if (sealed.toString('base64url') !== cursor) throw unknown()
      try {
        return JSON.parse(unseal(key, sealed, list)) as string[]
      } catch (cause) {
        throw unknown(cause)
      }
    },
  }
}

function unknown(cause?: unknown): Failure {
  const message = 'is not a cursor of this list: send next_cursor unchanged with the same filters, or omit it'
  return new Failure('VALIDATION_FAILED', `query.cursor ${message}.`, {
    details: [{ field: 'query.cursor', code: 'cursor', message }],
    cause,
  })
}
