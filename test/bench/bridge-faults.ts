// What fails in the world of Bridge agents: the network, which loses requests and answers, and the disk, which is full for hours or
// fails a commit, once before it is done and once after.
import { createTransport, type Transport, Unreachable } from '../../bridge/src/server/transport.ts'
import { openState, type State } from '../../bridge/src/state/state.ts'

/** Chances of a step of the world. */
export const chances = {
  poisoned: 0.01,
  unheard: 0.02,
  lostAnswer: 0.03,
  lostRequest: 0.03,
  cut: 0.0005,
  power: 0.0008,
  fullDisk: 0.0002,
  brokenCommit: 0.01,
}

export type Faults = Record<
  | 'cuts'
  | 'powerCuts'
  | 'lostAnswers'
  | 'lostRequests'
  | 'repeated'
  | 'kills'
  | 'poisoned'
  | 'fullDisks'
  | 'refusedFull'
  | 'brokenCommits'
  | 'unreportedCommits',
  number
>

export const noFaults = (): Faults => ({
  ...{ cuts: 0, powerCuts: 0, lostAnswers: 0, lostRequests: 0, repeated: 0, kills: 0, poisoned: 0 },
  ...{ fullDisks: 0, refusedFull: 0, brokenCommits: 0, unreportedCommits: 0 },
})

export interface Chance {
  readonly random: () => number
  readonly faults: Faults
}

class DiskError extends Error {
  readonly errcode = 10
}

/** Opens an agent's database on a disk that fails. What holds is known to the database alone, as after a failed fsync. */
export function openFaultyState(folder: string, key: Buffer, { random, faults }: Chance): State {
  const state = openState(folder, key)
  const breaking =
    (transaction: State['transaction']): State['transaction'] =>
    work => {
      if (random() >= chances.brokenCommit) return transaction(work)
      if (random() < 0.5) {
        faults.unreportedCommits++
        transaction(work)
      } else {
        faults.brokenCommits++
        attempt(() =>
          transaction(() => {
            work()
            throw new DiskError('disk I/O error')
          }),
        )
      }
      throw new DiskError('disk I/O error')
    }
  return { ...state, transaction: breaking(state.transaction), intake: breaking(state.intake) }
}

function attempt(work: () => unknown): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof DiskError)) throw error
  }
}

/** Lets the database grow no more, or again: what SQLite then says is what it says of a full disk. */
export function setFull({ db }: State, isFull: boolean): void {
  const { page_count: pages } = db.prepare('pragma page_count').get() as { page_count: number }
  db.exec(`pragma max_page_count = ${isFull ? pages : 4_294_967_294}`)
}

/** A network between an agent and the service that is cut, or loses requests and answers. @param isCut asked for each request */
export function faultyNetwork(
  base: string,
  { random, faults }: Chance,
  isCut: () => boolean,
  shift: () => number,
): Transport {
  const inner = createTransport(base)
  const lose = (fault: 'lostAnswers' | 'lostRequests'): never => {
    faults[fault]++
    throw new Unreachable('ECONNRESET')
  }
  return {
    async send(sent) {
      if (isCut()) throw new Unreachable('ENETDOWN')
      if (random() < chances.lostRequest) lose('lostRequests')
      const ahead = shift()
      const stamp = Number(sent.headers?.['x-bridge-timestamp'])
      const headers = { ...sent.headers, 'x-bridge-timestamp': String(Math.round(stamp + ahead / 1000)) }
      const reply = await inner.send({ ...sent, headers })
      if (random() < chances.lostAnswer) lose('lostAnswers')
      const time = reply.body['server_time']
      const server_time = typeof time === 'string' ? new Date(Date.parse(time) - ahead).toISOString() : time
      return { ...reply, body: { ...reply.body, server_time } }
    },
    close: () => inner.close(),
  }
}
