// The Bridge agents of an organisation: which are online, how far behind they are, and what people on the premises should look after.

import { isAdministrator } from '../../../access/caller.ts'
import type { AgentReport } from '../../../bridge/report.ts'
import type { Route } from '../../../http/route.ts'
import { createAgent } from '../../../identity/agents.ts'
import { Failure } from '../../../lib/failure.ts'
import { Type } from '../../../lib/schema.ts'
import { duration, moment, number, shownOnce } from '../format.ts'
import { type Html, html } from '../html.ts'
import { action, type PageView, page } from '../page.ts'
import { isOpenTo } from '../sections.ts'
import { type AgentPageParts, reportsFor } from './parts.ts'

const common = { title: 'agents.title', roles: ['developer', 'privacy_officer'] } as const

export const agentListRoutes = (parts: AgentPageParts): Route[] => [
  page({
    ...common,
    path: '/portal/agents',
    name: 'portalAgents',
    async show(_request, view) {
      const reports = await reportsFor(parts, view.caller)
      const mayCreate = isOpenTo(view.caller, ['developer'])
      return html`<p>${view.t('agents.about')}</p>
${reports.length === 0 ? html`<p>${view.t('agents.none')}</p>` : table(parts, view, reports)}
${mayCreate && form(view)}`
    },
  }),
  action({
    path: '/portal/agents',
    name: 'portalAgentCreate',
    title: 'agents.created',
    roles: ['developer'],
    form: Type.Object(
      {
        name: Type.String({ minLength: 1, maxLength: 200 }),
        facility: Type.String({ pattern: '^[A-Za-z0-9.-]{1,64}$' }),
        organization: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9.-]{0,64}$' })),
      },
      { additionalProperties: false },
    ),
    async act({ body: { name, facility, organization }, caller, baseUrl }, { t }) {
      const organizationId = organization || caller.organizationId
      if (organizationId !== caller.organizationId && !isAdministrator(caller))
        throw new Failure('FORBIDDEN', 'Only administrators create agents for other organisations.')
      const { agent, key } = await createAgent(parts.database, { name, facilityId: facility, organizationId })
      return html`<p>${t('agents.created_once')}</p>
${shownOnce([
  [t('agents.id'), agent.id],
  [t('agents.key'), key],
])}
<p>${t('agents.enrol')}</p>
<pre><code>npx health-interop-agent enrol --url ${baseUrl} --id ${agent.id} --key - --facility ${facility}</code></pre>
<p><a href="/portal/agents/${agent.id}">${agent.name}</a></p>`
    },
  }),
]

function table(parts: AgentPageParts, view: PageView, reports: readonly AgentReport[]): Html {
  const { t, language } = view
  const names = ['name', 'facility', 'status', 'seen', 'lag', 'queue', 'quarantine', 'clock', 'failed'] as const
  return html`<table class="cards-on-phones"><thead><tr>${names.map(
    each => html`<th scope="col">${t(`agents.${each}`)}</th>`,
  )}</tr></thead><tbody>
${reports.map(({ agent, status, lag, state, failedCommands }) => {
  const cells: readonly (readonly [(typeof names)[number], Html | string])[] = [
    ['facility', agent.facilityId],
    ['status', html`<span class="state ${status.replace(' ', '-')}">${t(`agents.status.${status}`)}</span>`],
    ['seen', moment(state?.lastSeenAt, language, parts.timeZone)],
    ['lag', lag > 0 ? duration(lag, language) : '–'],
    ['queue', state?.queue ? number(state.queue.pending, language) : '–'],
    ['quarantine', state?.queue ? number(state.queue.quarantined, language) : '–'],
    ['clock', clockOf(view, state?.skew)],
    ['failed', number(failedCommands, language)],
  ]
  return html`<tr><th scope="row"><a href="/portal/agents/${agent.id}">${agent.name}</a></th>${cells.map(
    ([name, value]) => html`<td data-name="${t(`agents.${name}`)}">${value}</td>`,
  )}</tr>\n`
})}</tbody></table>`
}

/** Seconds by which a clock may be wrong without a word. */
const rightWithin = 5

export function clockOf({ t, language }: PageView, skew: number | undefined): string {
  if (skew === undefined) return '–'
  if (Math.abs(skew) < rightWithin) return t('agents.clock.right')
  return t(skew > 0 ? 'agents.clock.ahead' : 'agents.clock.behind', { time: duration(Math.abs(skew), language) })
}

function form({ t, caller }: PageView): Html {
  return html`<section><h2>${t('agents.create')}</h2>
<form method="post" action="/portal/agents" class="fields">
<label>${t('agents.name')} <input name="name" required maxlength="200"></label>
<label>${t('agents.facility')} <input name="facility" required pattern="[A-Za-z0-9.\\-]{1,64}"> <small>${t('agents.facility_hint')}</small></label>
${
  isAdministrator(caller) &&
  html`<label>${t('agents.organization')} <input name="organization" pattern="[A-Za-z0-9.\\-]{1,64}" placeholder="${caller.organizationId}"></label>`
}<button type="submit">${t('agents.create')}</button>
</form></section>`
}
