// Bytes from a wire or a file as a message, or as the reason why they are none.
import { decoded } from './charset.ts'
import { type Fault, faultOf, type Header, headerOf, messagesOf } from './message.ts'

export interface Read {
  /** Undefined: the bytes do not begin with a header, so no answer can name the message. */
  readonly header: Header | undefined
  readonly text: string
  readonly fault: Fault | undefined
}

const byteOrderMark = /^(?:\uFEFF|\u00EF\u00BB\u00BF)/

/** @param charset that the config sets; absent: MSH-18 of the message. */
export function readMessage(bytes: Uint8Array, charset?: string): Read {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const trimmed = raw.replace(byteOrderMark, '').trimStart()
  const declared = headerOf(trimmed)?.charset ?? ''
  const text = decoded(bytes, declared, charset)
  if (typeof text !== 'string') return { header: headerOf(trimmed), text: trimmed, fault: text }
  const plain = text.replace(byteOrderMark, '').trimStart()
  const header = headerOf(plain)
  return { header, text: plain, fault: header && isBatch(plain) ? batchFault(plain) : faultOf(plain, header) }
}

/** Whether a text is a batch: FHS or BHS stands before its messages. */
export const isBatch = (text: string): boolean => /^(?:FHS|BHS)/.test(text)

/** A batch on the wire is taken whole or not at all: its answer is one. */
function batchFault(text: string): Fault | undefined {
  const messages = messagesOf(text)
  if (messages.length === 0)
    return { segment: text.slice(0, 3), sequence: 1, code: 100, answer: 'AE', text: 'The batch holds no message.' }
  for (const [index, message] of messages.entries()) {
    const fault = faultOf(message, headerOf(message))
    if (fault) return { ...fault, text: `Message ${index + 1} of the batch: ${fault.text}` }
  }
  return undefined
}
