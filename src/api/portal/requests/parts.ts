// What the pages of the request log work with.
import type { RequestLog } from '../../../requests/request-log.ts'
import type { DatabaseFor } from '../../../store/principal.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'

export interface RequestPageParts {
  readonly databaseFor: DatabaseFor
  readonly requestLog: Pick<RequestLog, 'flush'>
  /** Days for which requests are kept. */
  readonly requestLogDays: number
  /** The patterns of all routes. */
  readonly patterns: () => readonly string[]
  readonly now: () => Date
  /** By which times are read and shown, by its IANA name. */
  readonly timeZone: string
}

/** Links to the pages of the section, from each of them. */
export function tabs({ t, path }: PageView): Html {
  const all = [
    ['/portal/requests', 'requests.title'],
    ['/portal/requests/errors', 'requests.errors'],
  ] as const
  return html`<ul class="tabs">${all.map(
    ([to, name]) => html`<li><a href="${to}"${path === to && html` aria-current="page"`}>${t(name)}</a></li>\n`,
  )}</ul>`
}

/** Where the one who sent a request is shown; undefined: nowhere. */
export function senderPage(clientId: string): string | undefined {
  if (clientId === '' || clientId === 'patient' || clientId.includes('/')) return undefined
  return `/portal/${clientId.startsWith('agt_') ? 'agents' : 'clients'}/${encodeURIComponent(clientId)}`
}
