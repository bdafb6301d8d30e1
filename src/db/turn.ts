// A turn of a client among all processes: its costly statements run one at a time.
import { availableParallelism } from 'node:os'
import type pg from 'pg'
import { hash32 } from '../lib/hash.ts'

/** Locks of two numbers are turns if the first is this one. */
const kind = 4

/** Turns that one client has at a time: one for each four cores. The processes divide them among themselves. */
const turns = Math.ceil(availableParallelism() / 4)

/** The number of the lock that stands for the client's turn in this process. */
const keyOf = (who: string): number => hash32(`${process.pid % turns} ${who}`)

/** Waits on the connection until it is the client's turn. @throws Error of PostgreSQL if the wait is ended. */
export async function takeTurn(client: pg.ClientBase, who: string): Promise<void> {
  await client.query({ name: 'take-turn', text: `select pg_advisory_lock(${kind}, $1)`, values: [keyOf(who)] })
}

/**
 * Gives the turn back as soon as the previous statement has ended: the release is sent behind that one. The turn of a connection
 * that closes ends with it.
 */
export function giveTurn(client: pg.ClientBase, who: string): void {
  client
    .query({ name: 'give-turn', text: `select pg_advisory_unlock(${kind}, $1)`, values: [keyOf(who)] })
    .catch(() => {})
}
