// A request as the request log keeps it: metadata alone.
import type Koa from 'koa'
import type { Asker } from '../access/caller.ts'
import type { LoggedRequest } from '../requests/entry.ts'
import { departed } from './departure.ts'
import type { RouteMatch } from './dispatch.ts'

/** A patient's identity is recorded in the audit trail, not in logs. */
export const namedInLogs = (caller: Asker | undefined): string | undefined =>
  caller?.kind === 'patient' ? 'patient' : caller?.clientId

/** What is known of a request once it is answered. */
interface Known {
  readonly requestId: string
  readonly found?: RouteMatch
  readonly caller?: Asker
  readonly errorCode?: string
  readonly bytesOut?: number | undefined
}

/** Node knows dozens of methods; a route has one of these. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Returns the request for the log. */
export function loggedRequest(
  { method, req }: Koa.Context,
  { requestId, found, caller, errorCode = '', bytesOut }: Known,
  answer: { readonly status: number; readonly milliseconds: number; readonly resourceType: string | undefined },
): LoggedRequest {
  const { status, milliseconds, resourceType = '' } = answer
  return {
    at: Date.now() - milliseconds,
    requestId,
    isMade: req.headers['x-request-id'] !== requestId,
    clientId: namedInLogs(caller) ?? '',
    organizationId: caller?.organizationId ?? '',
    method: methods.has(method) ? method : 'other',
    route: found?.route.path ?? '',
    ...{ resourceType, status, milliseconds },
    errorCode: status === departed ? '' : errorCode,
    bytesIn: received(req),
    bytesOut,
  }
}

/** A body without a declared length is sent in chunks, which nobody counts. */
function received({ headers }: Koa.Context['req']): number | undefined {
  const declared = headers['content-length']
  if (declared !== undefined) return Number(declared)
  return headers['transfer-encoding'] === undefined ? 0 : undefined
}
