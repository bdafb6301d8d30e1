// One Bridge agent: its state, its warnings, its commands, and what can be asked of it.

import { type LoggedCommand, listCommands, repeatCommand } from '../../../bridge/command-log.ts'
import { type CommandType, command } from '../../../bridge/commands.ts'
import type { AgentReport } from '../../../bridge/report.ts'
import type { Route } from '../../../http/route.ts'
import { Type } from '../../../lib/schema.ts'
import { bytes, duration, moment, number } from '../format.ts'
import { type Html, html } from '../html.ts'
import { action, type PageView, page } from '../page.ts'
import { isOpenTo } from '../sections.ts'
import { clockOf } from './list.ts'
import { type AgentPageParts, reportFor } from './parts.ts'

const params = Type.Object({ id: Type.String({ maxLength: 100 }) })
const asked = ['rotate_key', 'retry_quarantine'] as const satisfies readonly CommandType[]

export const agentRoutes = (parts: AgentPageParts): Route[] => [
  page({
    path: '/portal/agents/{id}',
    name: 'portalAgent',
    title: 'agents.one',
    roles: ['developer', 'privacy_officer'],
    params,
    async show({ params: { id } }, view) {
      const report = await reportFor(parts, view.caller, id)
      const commands = await listCommands(parts.database, id, undefined)
      return html`${warnings(view, report)}${facts(parts, view, report)}
${report.status !== 'revoked' && forms(view, id)}
<section><h2>${view.t('agents.commands')}</h2>${commandTable(parts, view, id, commands)}</section>`
    },
  }),
  action({
    path: '/portal/agents/{id}/commands',
    name: 'portalAgentCommand',
    title: 'agents.one',
    roles: ['developer'],
    params,
    form: Type.Object({ type: Type.Enum([...asked]) }, { additionalProperties: false }),
    async act({ params: { id }, body: { type }, caller }) {
      await reportFor(parts, caller, id)
      await command(parts.database, id, type, type === 'retry_quarantine' ? { all: true } : {})
      return { to: `/portal/agents/${id}` }
    },
  }),
  action({
    path: '/portal/agents/{id}/commands/{command}/repeat',
    name: 'portalAgentRepeat',
    title: 'agents.one',
    roles: ['developer'],
    params: Type.Object({ ...params.properties, command: Type.String({ pattern: '^\\d{1,18}$' }) }),
    form: Type.Object({}),
    async act({ params: { id, command: failed }, caller }) {
      await reportFor(parts, caller, id)
      await repeatCommand(parts.database, id, failed)
      return { to: `/portal/agents/${id}` }
    },
  }),
]

function warnings({ t }: PageView, { state }: AgentReport): Html | false {
  const all = [...(state?.failingTask === undefined ? [] : [t('agents.failing')]), ...(state?.warnings ?? [])]
  return all.length > 0 && html`<ul class="warnings" role="alert">${all.map(each => html`<li>${each}</li>`)}</ul>`
}

function facts(parts: AgentPageParts, view: PageView, { agent, status, lag, state }: AgentReport): Html {
  const { t, language } = view
  const queue = state?.queue
  const rows: readonly (readonly [string, Html | string])[] = [
    [t('agents.name'), agent.name],
    [t('agents.id'), html`<code>${agent.id}</code>`],
    [t('agents.facility'), agent.facilityId],
    [t('agents.organization'), agent.organizationId],
    [t('agents.status'), t(`agents.status.${status}`)],
    [t('agents.seen'), moment(state?.lastSeenAt, language, parts.timeZone)],
    [t('agents.version'), state?.version ?? '–'],
    [t('agents.clock'), clockOf(view, state?.skew)],
    [t('agents.lag'), lag > 0 ? duration(lag, language) : '–'],
    [t('agents.queue'), queue ? `${number(queue.pending, language)} (${bytes(queue.bytes, language)})` : '–'],
    [t('agents.quarantine'), queue ? number(queue.quarantined, language) : '–'],
    [t('agents.acked'), number(state?.acked ?? 0, language)],
    [t('agents.rotated'), moment(agent.rotatedAt, language, parts.timeZone)],
  ]
  return html`<dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>`
}

function forms({ t, caller }: PageView, id: string): Html | false {
  const may = isOpenTo(caller, ['developer'])
  return (
    may &&
    html`<div class="actions">${asked.map(
      type => html`<form method="post" action="/portal/agents/${id}/commands"><input type="hidden" name="type" value="${type}">
<button type="submit">${t(`agents.ask.${type}`)}</button> <small>${t(`agents.ask.${type}_hint`)}</small></form>`,
    )}</div>`
  )
}

function commandTable(parts: AgentPageParts, view: PageView, agent: string, commands: readonly LoggedCommand[]): Html {
  const { t, language } = view
  if (commands.length === 0) return html`<p>${t('agents.no_commands')}</p>`
  const names = ['given', 'type', 'outcome', 'about'] as const
  return html`<table class="cards-on-phones"><thead><tr>${names.map(
    each => html`<th scope="col">${t(`command.${each}`)}</th>`,
  )}</tr></thead><tbody>
${commands.map(
  ({
    id,
    type,
    status,
    message,
    resource,
    createdAt,
  }) => html`<tr><td data-name="${t('command.given')}">${moment(createdAt, language, parts.timeZone)}</td>
<td data-name="${t('command.type')}">${t(`command.type.${type}`)}</td>
<td data-name="${t('command.outcome')}"><span class="state ${status}">${t(`command.status.${status}`)}</span></td>
<td data-name="${t('command.about')}">${resource} ${message} ${
    status === 'failed' &&
    html`<form method="post" action="/portal/agents/${agent}/commands/${id}/repeat"><button type="submit">${t('command.repeat')}</button></form>`
  }</td></tr>\n`,
)}</tbody></table>`
}
