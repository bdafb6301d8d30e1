// That the server refuses whole batches, whatever they hold: kept until it takes one, so that the page, heartbeats and commands say so.
import { read, write } from './meta.ts'
import type { State } from './state.ts'

/** Why a batch was refused. The server's words may hold what was received: only its code and the names of fields are kept. */
export interface Refusal {
  readonly status: number
  readonly code: string
  readonly fields: readonly string[]
}

export function noteRefused(state: State, refusal: Refusal): void {
  write(state, 'refused', refusal)
}

/** The server takes batches again. */
export function noteTaken(state: State): void {
  if (read(state, 'refused')) write(state, 'refused', null)
}

/** Returns a warning, or none. */
export function refused(state: State): string[] {
  const refusal = read(state, 'refused')
  if (!refusal) return []
  const { status, code, fields } = refusal
  const answer = `${status} ${code}${fields.length > 0 ? ` for ${fields.join(', ')}` : ''}`
  return [
    `the server refuses every batch: it answers ${answer}; what is received is kept and sent later; tell the operator of the service`,
  ]
}
