// Bytes from a wire or a file as messages, or as the reason why they are none.
import { decodeMessage, decoderOf } from '../../../src/hl7v2/charset.ts'
import { type Header, headerOf, messageType } from '../../../src/hl7v2/header.ts'
import { MessageError, type MessageProblem } from '../../../src/hl7v2/problem.ts'
import { isBatch, readMessage, splitMessages } from '../../../src/hl7v2/read.ts'

export interface Message {
  readonly text: string
  /** MSH-10, or empty. */
  readonly controlId: string
}

export interface Received {
  /** Undefined: the bytes do not begin with a header, so no answer can name the message. */
  readonly header: Header | undefined
  /** All of it, as text. */
  readonly text: string
  /** One message, or those of a batch; none where there is a problem. */
  readonly messages: readonly Message[]
  readonly problem?: MessageProblem
}

/**
 * Reads what one frame, or one request, holds. A batch is taken whole or not at all: its answer is one.
 * @param charset that the config sets; absent: MSH-18 of the message.
 */
export function receive(bytes: Buffer, charset?: string): Received {
  let text = withoutCharset(bytes)
  try {
    if (isBatch(text)) {
      text = decoderOf(charset ?? '')?.(bytes)?.trimStart() ?? text
      return { header: headerOf(text), text, messages: messagesOf(bytes, charset) }
    }
    text = decodeMessage(bytes, charset).trimStart()
    // What a message means, the maps of the server say.
    messageType(readMessage(text))
    const header = headerOf(text)!
    return { header, text, messages: [{ text, controlId: header.controlId }] }
  } catch (error) {
    if (!(error instanceof MessageError)) throw error
    return { header: headerOf(text), text, messages: [], problem: error.problem }
  }
}

/** Reads messages one by one, each in its own character set, so the bytes are split before they are read. @throws MessageError */
export function receiveEach(bytes: Buffer, charset?: string): Received[] {
  return splitMessages(withoutCharset(bytes)).map(each => receive(Buffer.from(each, 'latin1'), charset))
}

/** A character for each byte, without the mark that some systems put first: enough to find segments. */
const withoutCharset = (bytes: Buffer): string =>
  bytes
    .toString('latin1')
    .replace(/^\u00EF\u00BB\u00BF/, '')
    .trimStart()

/** The messages of a batch. @throws MessageError for the first that is wrong */
function messagesOf(bytes: Buffer, charset: string | undefined): Message[] {
  const all = receiveEach(bytes, charset)
  if (all.length === 0) {
    const segment = withoutCharset(bytes).slice(0, 3)
    throw new MessageError({ segment, occurrence: 1, code: 100, message: 'the batch holds no message' })
  }
  return all.flatMap(({ messages, problem }, index) => {
    if (!problem) return messages
    throw new MessageError({ ...problem, message: `message ${index + 1} of the batch: ${problem.message}` })
  })
}
