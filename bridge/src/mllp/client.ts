// Sends one HL7 v2 message to a system of the clinic and waits for the answer that belongs to it, and to no other.
import { readFileSync } from 'node:fs'
import { connect, isIP, type Socket } from 'node:net'
import { headerOf } from '../../../src/hl7v2/header.ts'
import { segmentLines } from '../../../src/hl7v2/read.ts'
import type { Target } from '../config-shape.ts'
import { tls as nodeTls } from '../lazy-tls.ts'
import { createFrames, framed } from './frames.ts'

export type Delivery =
  | { readonly kind: 'accepted' }
  /** The receiver said no: AE, AR, CE or CR. */
  | { readonly kind: 'refused'; readonly text: string }
  /** Nobody knows whether it arrived. */
  | { readonly kind: 'unanswered'; readonly text: string }

const longestAnswer = 1_048_576

/** A connection serves one message: an answer that comes late meets no other message (MSA-2 is compared all the same). */
export function deliver(target: Target, message: string, controlId: string): Promise<Delivery> {
  return new Promise(done => {
    const socket = open(target)
    const frames = createFrames(longestAnswer)
    const end = (delivery: Delivery): void => {
      clearTimeout(timer)
      socket.destroy()
      done(delivery)
    }
    const lost = (text: string): void => end({ kind: 'unanswered', text })
    const timer = setTimeout(() => lost(`no answer in ${target.answer_seconds} seconds`), target.answer_seconds * 1000)
    socket.on(target.tls ? 'secureConnect' : 'connect', () => socket.write(framed(message)))
    socket.on('error', error =>
      lost(`the connection failed (${(error as NodeJS.ErrnoException).code ?? error.message})`),
    )
    socket.on('close', () => lost('the receiver closed the connection without an answer'))
    socket.on('data', chunk => {
      for (const { kind, bytes } of frames.take(chunk)) {
        const found = kind === 'message' ? answerIn(bytes.toString('utf8'), controlId) : undefined
        if (found) end(found)
      }
    })
  })
}

function open({ host, port, tls }: Target): Socket {
  if (!tls) return connect({ host, port })
  return nodeTls().connect({
    host,
    port,
    ...(isIP(host) ? {} : { servername: host }),
    ...(tls.ca_file ? { ca: readFileSync(tls.ca_file) } : {}),
  })
}

/** What an acknowledgement says of the message; undefined: it is of another one, or none. */
function answerIn(text: string, controlId: string): Delivery | undefined {
  const separator = headerOf(text)?.delimiters.field
  const acknowledged = segmentLines(text).find(line => line.startsWith('MSA'))
  if (!separator || !acknowledged) return undefined
  const [, code = '', answered, words = ''] = acknowledged.split(separator).map(each => each.trim())
  if (answered !== controlId) return undefined
  if (code === 'AA' || code === 'CA') return { kind: 'accepted' }
  return { kind: 'refused', text: `${code}${words ? `: ${words}` : ''}` }
}
