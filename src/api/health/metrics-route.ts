// The figures of the service, for Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats/) and whatever reads its format.
import { hash, timingSafeEqual } from 'node:crypto'
import { open, type Route, reply, route } from '../../http/route.ts'
import { Failure } from '../../lib/failure.ts'
import { Type } from '../../lib/schema.ts'

export interface MetricsRouteParts {
  /** The figures, as they are scraped. */
  readonly text: () => Promise<string>
  /** Media type of that. */
  readonly type: string
  /** The token of a scraper; empty: no access unless `isOpen`. */
  readonly token: string
  /** True if access needs no token. */
  readonly isOpen: boolean
}

const replies = { 200: Type.String(), 503: null }

/** Returns the route, if any client may use it. */
export function metricsRoutes({ text, type, token, isOpen }: MetricsRouteParts): Route[] {
  if (!isOpen && token === '') return []
  const allows = isOpen ? () => true : isToken(token)
  return [
    route({
      method: 'GET',
      path: '/metrics',
      tag: 'Operational Flow',
      operationId: 'metrics',
      summary: 'Get metrics in the Prometheus text format',
      ...(isOpen ? {} : { description: 'Requires `Authorization: Bearer METRICS_TOKEN`.' }),
      access: open,
      produces: 'text/plain',
      replies: isOpen ? replies : { ...replies, 401: null },
      async handle({ headers }) {
        if (!allows(headers.authorization)) throw refused()
        return reply(200, await text(), { 'content-type': type })
      },
    }),
  ]
}

/** Compares in a time that does not depend on where the two differ. */
function isToken(token: string): (authorization: string | undefined) => boolean {
  const expected = digestOf(token)
  return (authorization = '') => timingSafeEqual(expected, digestOf(/^bearer +(.*)$/i.exec(authorization)?.[1] ?? ''))
}

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer')

const refused = (): Failure =>
  new Failure('UNAUTHENTICATED', 'Send the METRICS_TOKEN of the service: Authorization: Bearer …', {
    headers: { 'www-authenticate': 'Bearer realm="metrics"' },
  })
