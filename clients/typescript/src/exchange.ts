// One attempt: a request goes out, and its whole response comes back in time, or a TransportError says why not.
import { TransportError } from './errors.ts'
import type { Headers, Transport } from './transport.ts'

/** A request, ready to be sent but for its token. */
export interface Prepared {
  readonly method: string
  readonly url: string
  /** Its path as logs may hold it. */
  readonly label: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly timeout: number
  readonly maxRetries: number
  readonly signal: AbortSignal | undefined
}

/** A whole response. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/**
 * Sends a request once.
 * @throws TransportError `connection` or `timeout`, or the reason of the caller's signal.
 */
export async function exchange(
  transport: Transport,
  { method, url, headers, body, timeout, signal }: Prepared,
  token: string | undefined,
  attempts: number,
): Promise<Answer> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    controller.abort()
  }, timeout)
  const end = () => controller.abort()
  signal?.addEventListener('abort', end, { once: true })
  try {
    const response = await transport(url, {
      method,
      headers: token === undefined ? { ...headers } : { ...headers, authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal: controller.signal,
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  } catch (error) {
    signal?.throwIfAborted()
    if (isLate)
      throw new TransportError('timeout', `No whole response came within ${timeout} milliseconds.`, { attempts })
    throw new TransportError('connection', `The connection failed or broke off${codeOf(error)}.`, { attempts })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}

/** The code of the platform, such as ECONNREFUSED. Its texts are left out: they may hold what was sent. */
function codeOf(error: unknown): string {
  const codes = [error, (error as { cause?: unknown } | null)?.cause].map(
    each => (each as { code?: unknown } | null)?.code,
  )
  const code = codes.find(each => typeof each === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(each))
  return code === undefined ? '' : ` (${code})`
}
