// The channel of a FHIR Subscription: where it sends what, whatever its type. https://hl7.org/fhir/R4/subscription.html
import { Failure } from '../lib/failure.ts'

/** A channel that is supported. */
export interface Channel {
  /** A URL to call, or the URN of a receiver behind a Bridge agent. */
  readonly url: string
  /** Of what is sent; undefined: a notification without content. */
  readonly mediaType: string | undefined
  readonly headers: Readonly<Record<string, string>>
  /** The Bridge agent that sends it; undefined: the service itself. */
  readonly agent?: string
}

/** The element `channel`, as it is stored. */
export interface ChannelElement {
  readonly endpoint?: unknown
  readonly payload?: unknown
  readonly header?: unknown
}

const mostHeaders = 20

/** Returns the lines of `channel.header`. @throws Failure VALIDATION_FAILED */
export function linesOf(header: unknown): string[] {
  const lines = Array.isArray(header) ? header.map(String) : []
  if (lines.length > mostHeaders) throw wrong('channel.header', 'too-long', `has more than ${mostHeaders} lines`)
  return lines
}

/** The failure for an element of a Subscription that is not supported. */
export function wrong(element: string, code: string, message: string): Failure {
  const field = `Subscription.${element}`
  return new Failure('VALIDATION_FAILED', `${field} ${message}.`, { details: [{ field, code, message }] })
}
