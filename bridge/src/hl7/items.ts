// Messages as items to be stored, and as evidence of what was refused.
import { fingerprintOf, type Incoming } from '../state/items.ts'
import { newItemId, quarantineIncoming } from '../state/quarantine.ts'
import type { State } from '../state/state.ts'
import { type Fault, type Header, headerOf, messagesOf } from './message.ts'
import { isBatch, type Read } from './read.ts'

/** The items of a text: one, or those of a batch. */
export function itemsOf(source: string, text: string, occurredAt: string): Incoming[] {
  const messages = isBatch(text) ? messagesOf(text) : [text]
  return messages.map(message => itemOf(source, message, occurredAt))
}

/** The same message, byte for byte and with the same control id, from the same source, is one item. */
export function itemOf(source: string, message: string, occurredAt: string): Incoming {
  const controlId = headerOf(message)?.controlId ?? ''
  return {
    source,
    itemId: newItemId(),
    type: 'hl7v2',
    op: 'upsert',
    occurredAt,
    payload: JSON.stringify({ message }),
    fingerprint: fingerprintOf('hl7v2', source, controlId, message),
  }
}

/** Entries of refused messages that are kept; they were never acknowledged, so the oldest may go. */
const evidenceKept = 1000

/**
 * Keeps a refused message in quarantine, once however often it is sent. What has no header is not kept: it may be anything.
 * Within the transaction under way.
 */
export function keepEvidence(state: State, source: string, { header, text, fault }: Refused, at: Date): void {
  if (!header) return
  const item = itemOf(source, text, at.toISOString())
  const known = fingerprintOf('refused', item.fingerprint!)
  const { changes } = state.sql('insert or ignore into seen values (?, ?)').run(known, at.getTime())
  if (Number(changes) === 0) return
  quarantineIncoming(state, item, reasonOf(fault), at.getTime())
  state
    .sql(
      `delete from quarantine where origin = 'intake' and item_id in
         (select item_id from quarantine where origin = 'intake' order by quarantined_at desc limit -1 offset ${evidenceKept})`,
    )
    .run()
}

interface Refused extends Read {
  readonly header: Header | undefined
  readonly fault: Fault
}

/** Where and why, as the operator reads it. */
const reasonOf = ({ segment, sequence, field, answer, code, text }: Fault) => ({
  origin: 'intake' as const,
  code: `HL7_${answer}_${code}`,
  message: text,
  field: field ? `${segment}-${field}` : `${segment}[${sequence}]`,
})
