// Bodies in flight: how much memory all request bodies take up at a time, and how much of it the bodies of one client.

import { type Company, createCompany } from '../lib/company.ts'
import { type ConcurrencyLimit, createConcurrencyLimit, type Permit } from '../lib/concurrency-limit.ts'
import { createRests, type Rests } from '../lib/rests.ts'

export interface Intake {
  /** Notes a request of a client, whatever it asks for: a client that is alone need not leave the thread to others. */
  readonly note: Company['note']
  /**
   * Begins a body: reserves the memory for it, as far as its size is known, and waits for its turn.
   * @param who the client that sends it; where the body itself proves the client, its address.
   * @param bytes that it declares; 0 if it declares none.
   * @throws Failure RATE_LIMITED, UNAVAILABLE as the concurrency limits do.
   */
  begin(who: string, bytes: number, signal?: AbortSignal): Promise<Hold>
}

/** The memory of one body, held until its request is answered. */
export interface Hold {
  /** Reserves what is missing for so many bytes and values. @throws Failure as `begin`. */
  cover(bytes: number, values: number): Promise<void> | undefined
  /**
   * Waits until no other large body of the client is worked on, and until the client has left the thread to others for
   * long enough: parsing, checking and indexing a body occupies the only thread that answers. A client that is alone has
   * two at a time, and no rest. Returns undefined for a small body.
   * @throws Failure as `begin`.
   */
  turn(bytes: number, values: number): Promise<void> | undefined
  release(): void
}

/** A body is held as bytes, as text and as the values that are parsed from it. */
const perByte = 3
/** What a parsed value takes up where values are short: `[{},{},…`. */
const perValue = 48

/** Bodies up to this many bytes have memory of their own, so that a large one never delays them. */
const small = 65_536
/** A body with more values is large, too. */
const fewValues = 1000

const MEGABYTE = 1_048_576

/** How much is parsed, checked and indexed in about a millisecond, and how many values are counted before a body is refused. */
const [bytesInMillisecond, valuesInMillisecond, looksInMillisecond] = [125_000, 500, 2500]

/** Milliseconds that a large body takes in any case, such as for the connection that is closed when it is refused. */
const anyBody = 2

/** Large bodies of a client that are worked on at a time as long as no other client is there: one is computed while the other is stored. */
const atATime = 2

/** Milliseconds that a body waits for memory. */
const memoryPatience = 10_000

/** Milliseconds that a body waits while others of its client are worked on. */
const turnPatience = 60_000

export interface IntakeOptions {
  /** Bytes that large bodies of all clients take up together, beside an eighth of that for small ones. */
  readonly memory?: number
}

/** What all bodies share. */
interface Shared {
  readonly large: Pool
  readonly small: Pool
  readonly turns: ConcurrencyLimit
  readonly rests: Rests
  readonly company: Company
}

/** Memory for bodies, in bytes. */
interface Pool {
  readonly limit: ConcurrencyLimit
  readonly perClient: number
}

/** One client holds at most half of the memory. A body that would need more than that needs it alone. */
export function createIntake(options: IntakeOptions = {}): Intake {
  const { memory = 256 * MEGABYTE } = options
  const [rests, company] = [createRests(), createCompany()]
  const poolOf = (total: number): Pool => {
    const perClient = Math.floor(total / 2)
    const waits = { waitingPerClient: 50, waiting: 1000, patience: memoryPatience }
    return { limit: createConcurrencyLimit({ name: 'bytes of request bodies', total, perClient, ...waits }), perClient }
  }
  const turns = createConcurrencyLimit({
    ...{ name: 'slots for large request bodies', total: 1000 * atATime, perClient: atATime },
    ...{ waitingPerClient: 50, waiting: 1000, patience: turnPatience },
  })
  const shared = { large: poolOf(memory), small: poolOf(Math.floor(memory / 8)), turns, rests, company }
  return { note: company.note, begin: (who, bytes, signal) => beginBody(shared, who, bytes, signal) }
}

async function beginBody(
  { large, small: little, turns, rests, company }: Shared,
  who: string,
  bytes: number,
  signal: AbortSignal | undefined,
): Promise<Hold> {
  const held: Permit[] = []
  let [amount, isLarge, isWorked] = [0, false, false]
  // Values that are looked at before a body is refused.
  let looked = 0
  const hold = async (limit: ConcurrencyLimit, more: number): Promise<void> => {
    held.push(await limit.take(who, more, signal))
  }
  const giveBack = (): void => {
    for (const permit of held.splice(0)) permit.release()
    amount = 0
  }
  const take = async (wanted: number, becomesLarge: boolean): Promise<void> => {
    // A body that is no longer small gives its place there back first: no body holds both while waiting for one.
    if (becomesLarge && !isLarge) {
      giveBack()
      isLarge = true
      await rests.over(who, signal)
    }
    const { limit, perClient } = isLarge ? large : little
    const more = Math.min(wanted, perClient) - amount
    if (more <= 0) return
    await hold(limit, more)
    amount += more
  }
  const work = async (size: number, values: number): Promise<void> => {
    if (company.isAlone(who)) return hold(turns, 1)
    await hold(turns, atATime)
    await rests.over(who, signal)
    rests.add(who, size / bytesInMillisecond + values / valuesInMillisecond)
  }
  await take(perByte * Math.max(bytes, 256), bytes > small)
  return {
    cover(size, values) {
      looked = values
      const needed = Math.max(perByte * size, size + perValue * values)
      if (needed <= amount) return undefined
      return take(Math.ceil(needed * 1.5), needed > perByte * small)
    },
    turn(size, values) {
      isWorked = true
      return size <= small && values <= fewValues ? undefined : work(size, values)
    },
    release() {
      if (isLarge && !isWorked) rests.add(who, anyBody + looked / looksInMillisecond)
      isLarge = false
      giveBack()
    },
  }
}
