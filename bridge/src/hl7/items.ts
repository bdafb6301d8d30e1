// Messages as items to be stored, and as evidence of what was refused.
import { type MessageProblem, placeText } from '../../../src/hl7v2/problem.ts'
import { fingerprintOf, type Incoming } from '../state/items.ts'
import { newItemId, quarantineIncoming } from '../state/quarantine.ts'
import type { State } from '../state/state.ts'
import type { Message, Received } from './read.ts'

/**
 * The same message, byte for byte and with the same control id, from the same source, is one item. A message without a control id is
 * known by its bytes alone.
 */
export function itemOf(source: string, { text, controlId }: Message, occurredAt: string): Incoming {
  return {
    source,
    itemId: newItemId(),
    type: 'hl7v2',
    op: 'upsert',
    occurredAt,
    payload: JSON.stringify({ message: text }),
    fingerprint: fingerprintOf('hl7v2', source, controlId, text),
  }
}

/** Entries of refused messages that are kept; they were never acknowledged, so the oldest may go. */
const evidenceKept = 1000

/**
 * Keeps a refused message in quarantine, once however often it is sent. What has no header is not kept: it may be anything.
 * Within the transaction under way.
 */
export function keepEvidence(state: State, source: string, { header, text, problem }: Received, at: Date): void {
  if (!header || !problem) return
  const item = itemOf(source, { text, controlId: header.controlId }, at.toISOString())
  const known = fingerprintOf('refused', item.fingerprint!)
  const { changes } = state.sql('insert or ignore into seen values (?, ?)').run(known, at.getTime())
  if (Number(changes) === 0) return
  quarantineIncoming(state, item, reasonOf(problem), at.getTime())
  state
    .sql(
      `delete from quarantine where origin = 'intake' and item_id in
         (select item_id from quarantine where origin = 'intake' order by quarantined_at desc limit -1 offset ${evidenceKept})`,
    )
    .run()
}

/** Where and why, as the operator reads it. */
const reasonOf = (problem: MessageProblem) => ({
  origin: 'intake' as const,
  code: `HL7_${codeOf(problem)}_${problem.code}`,
  message: problem.message,
  field: placeText(problem),
})

/** As the operator and the log read it: AR, the agent cannot take it; AE, the message is wrong. */
export const codeOf = ({ isRejection }: MessageProblem): string => (isRejection ? 'AR' : 'AE')
