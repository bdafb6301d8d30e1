// Bodies in flight: how much memory all request bodies take up at a time, and how much of it those of one client.
import { createShares, type Share } from '../lib/shares.ts'

export interface Intake {
  /**
   * Begins a body: takes the memory for it, as far as its size is known, and waits for its turn.
   * @param who the client that sends it; where the body itself proves who that is, its address.
   * @param bytes that it declares; 0 if it does not say.
   * @throws Failure RATE_LIMITED, UNAVAILABLE as the shares do.
   */
  begin(who: string, bytes: number, signal?: AbortSignal): Promise<Hold>
}

/** The memory of one body, held until its request is answered. */
export interface Hold {
  /** Takes what is missing for so many bytes and values. @throws Failure as `begin`. */
  cover(bytes: number, values: number): Promise<void> | undefined
  release(): void
}

/** A body is held as bytes, as text and as the values that are parsed from it. */
const perByte = 3
/** What a parsed value takes up where values are short: `[{},{},…`. */
const perValue = 48

/** Bodies up to so many bytes have memory of their own, so that a large one never delays them. */
const small = 65_536

const MEGABYTE = 1_048_576

export interface IntakeOptions {
  /** Bytes that large bodies of all clients take up together, beside an eighth of that for small ones. */
  readonly memory?: number
  /** Milliseconds that a body waits for its turn. */
  readonly patience?: number
}

/** One client holds at most half of the memory. A body that would need more than that needs it alone. */
export function createIntake({ memory = 256 * MEGABYTE, patience = 10_000 }: IntakeOptions = {}): Intake {
  const mostOf = (total: number) => ({ total, perClient: Math.floor(total / 2) })
  const shared = { name: 'bytes of request bodies', waitingPerClient: 50, waiting: 1000, patience }
  const forLarge = mostOf(memory)
  const forSmall = mostOf(Math.floor(memory / 8))
  const [large, little] = [createShares({ ...shared, ...forLarge }), createShares({ ...shared, ...forSmall })]
  return {
    async begin(who, bytes, signal) {
      const held: Share[] = []
      let [amount, isLarge] = [0, false]
      const release = (): void => {
        for (const share of held.splice(0)) share.release()
        amount = 0
      }
      const take = async (wanted: number, becomesLarge: boolean): Promise<void> => {
        // What has grown out of the small ones gives its place there back first: nobody holds both while waiting for one.
        if (becomesLarge && !isLarge) {
          release()
          isLarge = true
        }
        const [shares, { perClient }] = isLarge ? [large, forLarge] : [little, forSmall]
        const more = Math.min(wanted, perClient) - amount
        if (more <= 0) return
        held.push(shares.takeNow(who, more) ?? (await shares.take(who, more, signal)))
        amount += more
      }
      await take(perByte * Math.max(bytes, 256), bytes > small)
      return {
        cover(size, values) {
          const needed = Math.max(perByte * size, size + perValue * values)
          if (needed <= amount) return undefined
          return take(Math.ceil(needed * 1.5), needed > perByte * small)
        },
        release,
      }
    },
  }
}
