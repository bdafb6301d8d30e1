// Decides about a delivery after an attempt (interface §3 and §8): delivered, tried again after a delay, or exhausted.
import type { DeliveryResponse } from '../outbound/send.ts'

export const mostAttempts = 7

/** Seconds before the second attempt and those after it. */
const delays = [60, 300, 900, 3600, 21_600, 86_400]

/** Delays are minimums: up to this share is added, so that deliveries that failed together are not retried together. */
const jitter = 0.02

/** The longest delay that a receiver may request by Retry-After, in seconds. */
const longest = 86_400

export interface Verdict {
  readonly outcome: 'delivered' | 'failed' | 'exhausted'
  /** Seconds until the next attempt; undefined: there is none. */
  readonly again: number | undefined
  /** The receiver says that it is gone for good. */
  readonly isGone: boolean
}

/** What a receiver said. */
interface Said extends Pick<DeliveryResponse, 'status' | 'retryAfter'> {
  /** The endpoint has changed since the attempt began: that its former receiver is gone says nothing of the present one. */
  readonly isFormer?: boolean
}

/**
 * @param attempt the number of the attempt that was answered, from 1
 * @param random between 0 and 1
 */
export function verdictOf(
  { status = 0, retryAfter = 0, isFormer = false }: Said,
  attempt: number,
  random: number,
): Verdict {
  if (status >= 200 && status < 300) return { outcome: 'delivered', again: undefined, isGone: false }
  if (status === 410 && !isFormer) return { outcome: 'exhausted', again: undefined, isGone: true }
  if (attempt >= mostAttempts) return { outcome: 'exhausted', again: undefined, isGone: false }
  const delay = delays[attempt - 1]! * (1 + jitter * random)
  return { outcome: 'failed', again: Math.max(delay, Math.min(retryAfter, longest)), isGone: false }
}
