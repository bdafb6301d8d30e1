// Wakes the agents that wait for commands: each process hears of new commands of all processes.
import type { Database } from '../db/database.ts'
import type { Queryable } from '../db/statement.ts'

const channel = 'bridge_command'

/** Announces, once the transaction is committed, that an agent has a new command. */
export async function ring(on: Queryable, agent: string): Promise<void> {
  await on.run({ text: 'select pg_notify($1, $2)', values: [channel, agent] })
}

export interface Bell {
  /**
   * Resolves when a command for the agent is there, when the time is up, on abort, or when the process stops.
   * @param look returns true if there is one; called at first, and whenever there may be one
   */
  wait(agent: string, milliseconds: number, signal: AbortSignal, look: () => Promise<boolean>): Promise<void>
  /** Ends every wait, now and later. */
  close(): Promise<void>
}

/** Creates the bell; it listens from the first wait on. */
export function createBell(database: Pick<Database, 'listen'>): Bell {
  const waiting = new Map<string, Set<() => void>>()
  let isClosed = false
  let listening: Promise<{ close(): Promise<void> }> | undefined
  const wake = (agent: string | undefined): void => {
    const found = agent === undefined ? [...waiting.values()] : [waiting.get(agent) ?? []]
    for (const each of found.flatMap(wakers => [...wakers])) each()
  }
  const listen = async (): Promise<void> => {
    listening ??= database.listen(channel, wake)
    await listening.catch(error => {
      listening = undefined
      throw error
    })
  }
  return {
    async wait(agent, milliseconds, signal, look) {
      await listen()
      const end = performance.now() + milliseconds
      for (;;) {
        // It listens before it looks: what comes in between wakes it.
        const woken = awaited(waiting, agent, end - performance.now(), signal)
        if ((await look()) || isClosed || signal.aborted || performance.now() >= end) return woken.end()
        await woken.promise
      }
    },
    async close() {
      isClosed = true
      wake(undefined)
      await listening?.then(each => each.close()).catch(() => {})
    },
  }
}

/** One wait for the bell. */
function awaited(
  waiting: Map<string, Set<() => void>>,
  agent: string,
  milliseconds: number,
  signal: AbortSignal,
): { readonly promise: Promise<void>; readonly end: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const wakers = waiting.get(agent) ?? new Set()
  waiting.set(agent, wakers)
  const end = (): void => {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
    wakers.delete(end)
    if (wakers.size === 0 && waiting.get(agent) === wakers) waiting.delete(agent)
    resolve()
  }
  const timer = setTimeout(end, Math.max(0, milliseconds))
  signal.addEventListener('abort', end)
  wakers.add(end)
  return { promise, end }
}
