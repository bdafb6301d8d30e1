// Sends one delivery to its receiver and says what came of it (interface §6.3: a 2xx status within 10 seconds).
import type { LookupFunction } from 'node:net'
import type { Dispatcher } from 'undici'
import type { Reach } from './address.ts'
import { type Connections, connections } from './connect.ts'
import { answered, isClosing, noAnswer, reasonOf, redirected } from './reasons.ts'
import { createExcerpt, retryAfterOf } from './reply.ts'

export interface Outgoing {
  readonly method: 'POST' | 'PUT'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Answer {
  /** The HTTP status, whatever became of the body; undefined if none came. */
  readonly status: number | undefined
  /** Why the delivery has failed, as a person reads it in a log of attempts; undefined after a 2xx. */
  readonly error: string | undefined
  /** The first 1000 characters of the reply, without control characters. */
  readonly excerpt: string | undefined
  readonly milliseconds: number
  /** Seconds that the receiver wants to be left alone (Retry-After). */
  readonly retryAfter: number | undefined
}

export interface Sender {
  /** Never rejects: what went wrong is in the answer. */
  send(outgoing: Outgoing): Promise<Answer>
  /** Drops all connections; what is still under way fails. */
  close(): Promise<void>
}

export interface SenderOptions {
  readonly reach: Reach
  /** Milliseconds for all of one delivery: name, connection, headers and body. */
  readonly timeout?: number
  readonly lookup?: LookupFunction
  /** Certificates to trust instead of those Node trusts, in PEM. */
  readonly ca?: string
  readonly now?: () => number
}

export function createSender(options: SenderOptions): Sender {
  const { timeout = 10_000, now = Date.now } = options
  const open = connections({ ...options, timeout })
  return {
    send: outgoing => new Promise(resolve => exchange(outgoing, open, { timeout, now, resolve })),
    close: () => open.agent.destroy(),
  }
}

interface Terms {
  readonly timeout: number
  readonly now: () => number
  resolve(answer: Answer): void
}

/** One request and its reply; ends exactly once, whichever comes first of reply, error and timeout. */
function exchange(outgoing: Outgoing, { agent, isOpening }: Connections, { timeout, now, resolve }: Terms): void {
  const began = performance.now()
  const body = createExcerpt()
  let controller: Dispatcher.DispatchController | undefined
  let status: number | undefined
  let retryAfter: number | undefined
  let isOver = false
  /** The request went out on a connection that had served others, and nothing has come back yet. */
  let mayBeStale = false
  let isSecond = false

  function end(reason: string | undefined): void {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    const error = status === undefined ? reason : verdict(status)
    resolve({ status, error, excerpt: body.text(), milliseconds: Math.round(performance.now() - began), retryAfter })
  }
  function drop(reason: string | undefined): void {
    end(reason)
    controller?.abort(dropped)
  }
  const timer = setTimeout(() => drop(noAnswer(timeout)), timeout)

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started
      mayBeStale = !isOpening()
      // Nothing is sent any more once its failure has been told.
      if (isOver) started.abort(dropped)
    },
    onResponseStarted() {
      mayBeStale = false
    },
    onResponseStart(_, code, headers) {
      if (code < 200) return
      status = code
      retryAfter = retryAfterOf(headers, now())
    },
    onResponseData(_, chunk) {
      if (!body.add(chunk)) drop(undefined)
    },
    onResponseEnd: () => end(undefined),
    onResponseError(_, error) {
      if (isOver || isSecond || !mayBeStale || !isClosing(error)) return end(reasonOf(error, timeout))
      // The receiver closed an idle connection just as it was used again: that is not its answer.
      isSecond = true
      queueMicrotask(dispatch)
    },
  }
  function dispatch(): void {
    try {
      agent.dispatch(optionsOf(outgoing), handler)
    } catch (error) {
      end(reasonOf(error, timeout))
    }
  }
  dispatch()
}

const dropped = new Error('Nobody waits for this request any more.')

function verdict(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined
  return status < 400 ? redirected : answered(status)
}

/** The one timer of `exchange` covers everything, so undici sets none. */
function optionsOf({ method, url, headers, body }: Outgoing): Dispatcher.DispatchOptions {
  const { origin, pathname, search } = new URL(url)
  return {
    origin,
    path: pathname + search,
    method,
    headers: headers as Record<string, string>,
    body,
    headersTimeout: 0,
    bodyTimeout: 0,
  }
}
