// Waits until a standby shows what the primary had acknowledged. PostgreSQL tells nobody when it has replayed a place: it is asked,
// by one statement at a time for all that wait.
import { hasReached, type Position, type Replayed } from './position.ts'

/** Resolves with true once the standby has replayed the log up to there, with false if it does not in time. */
type Reaches = (position: Position) => Promise<boolean>

/** Milliseconds for which a read waits for a standby before it asks the primary. */
const patience = 30

/** Milliseconds between two questions. */
const pause = 1

interface Waiting {
  readonly position: Position
  readonly done: (isReached: boolean) => void
}

/** Follows the replay of a standby. @param ask where the standby is; may fail or take any time */
export function followReplay(ask: () => Promise<Replayed>): Reaches {
  const waiting = new Set<Waiting>()
  let last: Replayed | undefined
  let isAsking = false

  const settle = (): void => {
    for (const each of waiting) if (last && hasReached(last, each.position)) each.done(true)
  }
  const follow = async (): Promise<void> => {
    isAsking = true
    try {
      while (waiting.size > 0) {
        last = await ask()
        settle()
        if (waiting.size > 0) await new Promise(done => setTimeout(done, pause))
      }
    } catch {
      last = undefined
      for (const { done } of waiting) done(false)
    } finally {
      isAsking = false
    }
  }
  return position => {
    if (last && hasReached(last, position)) return Promise.resolve(true)
    return new Promise(resolve => {
      const done = (isReached: boolean): void => {
        clearTimeout(timer)
        waiting.delete(entry)
        resolve(isReached)
      }
      const entry: Waiting = { position, done }
      const timer = setTimeout(() => done(false), patience)
      waiting.add(entry)
      if (!isAsking) void follow()
    })
  }
}
