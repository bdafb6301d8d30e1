// A read that begins on a standby and goes on on the primary when the standby fails: the caller sees nothing of it.
import { Failure } from '../../lib/failure.ts'
import type { Queryable, Statement } from '../statement.ts'

/** Why a statement failed on a standby: because of what the standby replays, or of the server. */
export type Cause = 'conflict' | 'server'

/**
 * Returns where the statements of one read run. After one that fails for a reason of the standby, this one and all that follow run
 * on the primary, which is never behind a standby: what a read has seen it sees to its end.
 * @param failed learns of that
 */
export function movable(standby: Queryable, primary: Queryable, failed: (cause: Cause) => void): Queryable {
  let hasMoved = false
  return {
    ...primary,
    async query<Row extends object>(statement: Statement): Promise<Row[]> {
      if (hasMoved) return primary.query<Row>(statement)
      try {
        return await standby.query<Row>(statement)
      } catch (error) {
        const cause = causeOf(error)
        if (!cause) throw error
        if (!hasMoved) failed(cause)
        hasMoved = true
        return primary.query<Row>(statement)
      }
    },
  }
}

/** SQLSTATE classes of errors that a primary may not give: of connections, resources, standbys, operators and the system. */
const ofServers = /^(08|25|53|57|58|XX)/

/** Why the standby failed; undefined: the statement fails on any server, or its caller has gone. */
function causeOf(error: unknown): Cause | undefined {
  // A failure without a cause is the service's own: the client has too much under way, or has gone.
  if (error instanceof Failure && error.cause === undefined) return undefined
  const code = codeOf(error instanceof Failure ? error.cause : error)
  if (code === '40001' || code === '40P01') return 'conflict'
  const isOfStatement = code === '57014' || (/^(?=.*\d)[0-9A-Z]{5}$/.test(code) && !ofServers.test(code))
  return isOfStatement ? undefined : 'server'
}

/** SQLSTATE, the name of an error of the system, or nothing, as of a connection that was ended. */
const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '')
