// The check of the audit trail that a page can wait for: its newest rows, chain by chain, and its anchor.

import { auditorOf } from '../../../access/officer.ts'
import { checkNewest, type TrailCheck } from '../../../audit/check.ts'
import type { Route } from '../../../http/route.ts'
import { Type } from '../../../lib/schema.ts'
import { moment, number } from '../format.ts'
import { type Html, html } from '../html.ts'
import { action, type PageView } from '../page.ts'
import type { AuditPageParts } from './parts.ts'
import { problemIn } from './problems.ts'

/** Rows that are read and hashed in a second or two. */
const most = 50_000
/** Problems that are shown. */
const mostProblems = 50

export const verificationRoute = (parts: AuditPageParts): Route =>
  action({
    path: '/portal/audit/verification',
    name: 'portalAuditVerification',
    title: 'audit.verification',
    roles: ['privacy_officer'],
    form: Type.Object({}),
    async act(_request, view) {
      const checked = await checkNewest(parts.trail, parts.databaseFor(auditorOf(view.caller)), most)
      return html`${verdict(view, checked)}${extent(view, checked)}${anchor(view, parts, checked)}
<p><a href="/portal/audit">${view.t('audit.title')}</a></p>`
    },
  })

function verdict({ t, language }: PageView, { isWhole, broken, anchored }: TrailCheck): Html {
  if (isWhole) return html`<p class="state done" role="status">${t('audit.whole')}</p>`
  const problems = [
    ...broken.map(
      ({ chain, sequence, problem }) =>
        `${sequence === undefined ? t('audit.chain', { chain }) : `AuditEvent/${chain}-${sequence}`}: ${problemIn(language, problem)}`,
    ),
    ...(anchored?.problems ?? []).map(each => problemIn(language, each)),
  ]
  const more = problems.length - mostProblems
  return html`<p class="failure" role="alert">${t('audit.broken')}</p>
<ul>${problems.slice(0, mostProblems).map(each => html`<li>${each}</li>`)}</ul>
${more > 0 && html`<p>${t('audit.more_problems', { count: more })}</p>`}`
}

/** What was looked at, and what was not. */
function extent({ t, language }: PageView, { rows, chains, unread }: TrailCheck): Html {
  const counts = { rows: number(rows, language), chains: number(chains, language), unread: number(unread, language) }
  return html`<p>${t('audit.extent', counts)}</p>
${unread > 0 && html`<p>${t('audit.unread', counts)} <code>npm run admin -- audit verify</code></p>`}`
}

function anchor({ t, language }: PageView, { trail, timeZone }: AuditPageParts, { anchored }: TrailCheck): Html {
  const { last, lines = 0 } = anchored ?? {}
  if (!last) return html`<p>${t(trail.file !== undefined ? 'audit.no_anchor' : 'audit.anchor_off')}</p>`
  const at = moment(new Date(last.time), language, timeZone)
  return html`<p>${t('audit.anchored', { lines: number(lines, language) })} ${at}</p>`
}
