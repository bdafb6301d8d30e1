// Sends one delivery to its receiver and returns the outcome (interface §6.3: a 2xx status within 10 seconds).
import type { LookupFunction } from 'node:net'
import type { Dispatcher } from 'undici'
import type { Reach } from './address.ts'
import { type Connections, connections } from './connect.ts'
import { answered, isClosing, noAnswer, reasonOf, redirected } from './reasons.ts'
import { createExcerpt, type Excerpt, retryAfterOf } from './reply.ts'

export interface Outgoing {
  readonly method: 'POST' | 'PUT'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface DeliveryResponse {
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
  send(outgoing: Outgoing): Promise<DeliveryResponse>
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
    send: outgoing => new Promise(resolve => start({ outgoing, connections: open, timeout, now, resolve })),
    close: open.close,
  }
}

interface Task {
  readonly outgoing: Outgoing
  readonly connections: Connections
  readonly timeout: number
  readonly now: () => number
  resolve(answer: DeliveryResponse): void
}

/** One request and its reply; over exactly once, whichever comes first of reply, error and timeout. */
interface Exchange extends Task {
  readonly began: number
  readonly body: Excerpt
  timer: NodeJS.Timeout | undefined
  controller: Dispatcher.DispatchController | undefined
  status: number | undefined
  retryAfter: number | undefined
  isOver: boolean
  /** It went out on a connection that had served others, and nothing has come back yet. */
  mayBeStale: boolean
  isSecondTry: boolean
}

function start(task: Task): void {
  const exchange: Exchange = {
    ...task,
    began: performance.now(),
    body: createExcerpt(),
    timer: undefined,
    controller: undefined,
    status: undefined,
    retryAfter: undefined,
    isOver: false,
    mayBeStale: false,
    isSecondTry: false,
  }
  exchange.timer = setTimeout(() => drop(exchange, noAnswer(task.timeout)), task.timeout)
  dispatch(exchange)
}

function dispatch(exchange: Exchange): void {
  try {
    exchange.connections.agent().dispatch(optionsOf(exchange.outgoing), handlerOf(exchange))
  } catch (error) {
    end(exchange, reasonOf(error, exchange.timeout))
  }
}

/** The one timer of the exchange covers everything, so undici sets none. */
function optionsOf({ method, url, headers, body }: Outgoing): Dispatcher.DispatchOptions {
  const { origin, pathname, search } = new URL(url)
  const path = pathname + search
  return { origin, path, method, headers: { ...headers }, body, headersTimeout: 0, bodyTimeout: 0 }
}

function handlerOf(exchange: Exchange): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller) {
      exchange.controller = controller
      exchange.mayBeStale = !exchange.connections.isOpening()
      // No more data is sent once the failure has been reported.
      if (exchange.isOver) controller.abort(dropped)
    },
    onResponseStarted() {
      exchange.mayBeStale = false
    },
    onResponseStart(_, status, headers) {
      if (status < 200) return
      exchange.status = status
      exchange.retryAfter = retryAfterOf(headers, exchange.now())
    },
    onResponseData(_, chunk) {
      if (!exchange.body.add(chunk)) drop(exchange, undefined)
    },
    onResponseEnd: () => end(exchange, undefined),
    onResponseError: (_, error) => fail(exchange, error),
  }
}

function fail(exchange: Exchange, error: unknown): void {
  const { mayBeStale, isSecondTry, timeout } = exchange
  if (isSecondTry || !mayBeStale || !isClosing(error)) return end(exchange, reasonOf(error, timeout))
  // The receiver closed an idle connection just as it was used again: that is not its answer.
  exchange.isSecondTry = true
  queueMicrotask(() => dispatch(exchange))
}

function drop(exchange: Exchange, reason: string | undefined): void {
  end(exchange, reason)
  exchange.controller?.abort(dropped)
}

const dropped = new Error('The caller no longer waits for this reply.')

/**
 * Ends the exchange with what is known of the reply. Only the first call has an effect.
 * @param reason why there is no status, if there is none.
 */
function end(exchange: Exchange, reason: string | undefined): void {
  exchange.isOver = true
  clearTimeout(exchange.timer)
  const { status, body, began, retryAfter, resolve } = exchange
  const error = status === undefined ? reason : verdict(status)
  resolve({ status, error, excerpt: body.text(), milliseconds: Math.round(performance.now() - began), retryAfter })
}

function verdict(status: number): string | undefined {
  if (status < 300) return undefined
  return redirects.has(status) ? redirected : answered(status)
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
