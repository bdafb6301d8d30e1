// One sender of HL7 v2: reads its frames, has their messages stored, and answers in the order in which they came.
import type { Socket } from 'node:net'
import { acknowledge } from '../../../src/hl7v2/acknowledge.ts'
import { headerOf } from '../../../src/hl7v2/header.ts'
import { type MessageProblem, placeText } from '../../../src/hl7v2/problem.ts'
import { random } from '../../../src/lib/ids.ts'
import type { Clock } from '../clock.ts'
import type { MllpSource } from '../config-shape.ts'
import { codeOf, itemOf, keepEvidence } from '../hl7/items.ts'
import { type Received, receive } from '../hl7/read.ts'
import type { Intake, Outcome, Unit } from '../intake.ts'
import type { Log } from '../log.ts'
import type { State } from '../state/state.ts'
import { createFrames, type Frame, type Frames, framed } from './frames.ts'

/** What every connection of a source shares. */
export interface Station {
  readonly name: string
  readonly source: MllpSource
  readonly longest: number
  readonly state: State
  readonly intake: Intake
  readonly clock: Clock
  /** Now, by the server's clock. */
  readonly time: () => Date
  readonly log: Log
}

export interface Connection {
  readonly socket: Socket
  /** When a byte last came. */
  heardAt(): number
  /** Whether something is under way: a message that is not complete, or one that is not answered. */
  isBusy(): boolean
  /** Closes the connection if the sender has been silent for too long, or too slow. */
  sweep(): void
}

/** Answers that a sender may leave unread before no more is taken from it. */
const mostUnanswered = 1000
const mostUnsent = 1_048_576

export function createConnection(station: Station, socket: Socket): Connection {
  const now = station.clock.now()
  const talk: Talk = { socket, frames: createFrames(station.longest), heardAt: now, beganAt: now, unanswered: 0 }
  socket.on('data', chunk => hear(station, talk, chunk))
  socket.on('drain', () => !isOverfull(talk) && socket.resume())
  return {
    socket,
    heardAt: () => talk.heardAt,
    isBusy: () => talk.frames.isOpen() || talk.unanswered > 0,
    sweep: () => sweep(station, talk),
  }
}

/** How far one sender is. */
interface Talk {
  readonly socket: Socket
  readonly frames: Frames
  /** When a byte last came. */
  heardAt: number
  /** When the message began that is not complete. */
  beganAt: number
  /** Messages that are not answered yet. */
  unanswered: number
}

const isOverfull = ({ unanswered, socket }: Talk): boolean =>
  unanswered > mostUnanswered || socket.writableLength > mostUnsent

function hear(station: Station, talk: Talk, chunk: Buffer): void {
  const { clock, log, name, intake } = station
  talk.heardAt = clock.now()
  if (!talk.frames.isOpen()) talk.beganAt = talk.heardAt
  for (const frame of talk.frames.take(chunk)) {
    talk.beganAt = talk.heardAt
    if (frame.kind === 'noise') {
      log.warn('bytes outside of a message', { source: name, bytes: frame.bytes.length })
      continue
    }
    talk.unanswered++
    intake.put(unitOf(station, frame, text => answer(talk, text)))
  }
  if (isOverfull(talk)) talk.socket.pause()
}

/** @param text undefined: the sender wants no answer */
function answer(talk: Talk, text: string | undefined): void {
  const { socket } = talk
  talk.unanswered--
  if (text !== undefined && socket.writable) socket.write(framed(text))
  if (socket.isPaused() && !isOverfull(talk)) socket.resume()
}

function sweep({ clock, log, name, source }: Station, { frames, unanswered, heardAt, beganAt, socket }: Talk): void {
  const now = clock.now()
  const isSlow = frames.isOpen() && now - beganAt > source.message_seconds * 1000
  const isIdle = unanswered === 0 && now - heardAt > source.idle_seconds * 1000
  if (isSlow) log.warn('connection closed: a message began and did not end', { source: name })
  if (isSlow || isIdle) socket.destroy()
}

/** What is to be stored for a frame, and how it is answered then. */
function unitOf(station: Station, frame: Frame, answered: (text: string | undefined) => void): Unit {
  const { state, name, source, time, longest } = station
  const isTooLong = frame.kind === 'too-long'
  const received = isTooLong ? tooLong(frame.bytes, longest) : receive(frame.bytes, source.charset)
  const done = (outcome: Outcome): void => answered(answerTo(station, received, outcome))
  const now = time()
  const items = received.messages.map(each => itemOf(name, each, now.toISOString()))
  const isKept = received.problem !== undefined && received.header !== undefined && !isTooLong
  return { items, done, ...(isKept ? { also: () => keepEvidence(state, name, received, now) } : {}) }
}

function tooLong(bytes: Buffer, longest: number): Received {
  const text = bytes.toString('latin1')
  const problem = refusal(`the message is longer than ${longest} bytes`)
  return { header: headerOf(text), text, messages: [], problem }
}

/** The answer's text; undefined: the sender wants none. */
function answerTo({ log, name, time }: Station, received: Received, outcome: Outcome): string | undefined {
  const problem = received.problem ?? problemFor(outcome)
  if (problem)
    log.warn('message refused', {
      source: name,
      answer: codeOf(problem),
      code: problem.code,
      field: placeText(problem),
    })
  return acknowledge(received.header, problem, { controlId: random(8).toString('hex'), now: time() })
}

/** AR: the sender is to keep the message and to send it again later (HL7 v2.5.1, 2.9.2). */
function problemFor(outcome: Outcome): MessageProblem | undefined {
  if (outcome.kind === 'stored') return undefined
  const why = outcome.kind === 'full' ? 'the agent is full' : 'the disk or the database of the agent failed'
  return refusal(`the message is not stored, ${why}: send it again later`)
}

const refusal = (message: string): MessageProblem => ({
  segment: 'MSH',
  occurrence: 1,
  code: 207,
  message,
  isRejection: true,
})
