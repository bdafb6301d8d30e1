// One request: what is known of it, what to do about its error, and the way to what it did with patients' data.

import { ownOrganization } from '../../../access/caller.ts'
import type { Route } from '../../../http/route.ts'
import { callerNames } from '../../../identity/names.ts'
import { Failure } from '../../../lib/failure.ts'
import { Type } from '../../../lib/schema.ts'
import { type FoundRequest, findRequest } from '../../../requests/search.ts'
import { bytes, moment } from '../format.ts'
import { type Html, html } from '../html.ts'
import { type PageView, page } from '../page.ts'
import { isOpenTo } from '../sections.ts'
import { advice } from './errors.ts'
import { latency, sender, statusText } from './list.ts'
import { type RequestPageParts, senderPage, tabs } from './parts.ts'

export const requestPage = (parts: RequestPageParts): Route =>
  page({
    path: '/portal/requests/{id}',
    name: 'portalRequest',
    title: 'requests.one',
    roles: ['developer'],
    params: Type.Object({ id: Type.String({ maxLength: 100 }) }),
    async show({ params: { id }, caller }, view) {
      const on = parts.databaseFor(caller)
      const known = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)
      const found = known ? await findRequest(on, ownOrganization(caller), id) : undefined
      if (!found) throw new Failure('NOT_FOUND', 'Your organisation has no such request in the log.')
      const names = await callerNames(on, [found.clientId])
      return html`${tabs(view)}${facts(parts, view, found, names.get(found.clientId))}${problem(view, found)}${trail(view, found)}`
    },
  })

function facts({ timeZone }: RequestPageParts, view: PageView, found: FoundRequest, name: string | undefined): Html {
  const { t, language } = view
  const page = senderPage(found.clientId)
  const who = name === undefined ? sender(found, view) : `${name} (${found.clientId})`
  const size = (count: number | null): string => (count === null ? '–' : bytes(count, language))
  const rows: readonly (readonly [string, Html | string])[] = [
    [t('requests.at'), moment(found.at, language, timeZone)],
    [t('requests.request'), html`<code>${found.requestId}</code>`],
    [t('requests.client'), page === undefined ? who : html`<a href="${page}">${who}</a>`],
    [t('requests.organization'), found.organizationId || '–'],
    [t('requests.method'), found.method],
    [t('requests.route'), html`<code>${found.route || t('requests.no_route')}</code>`],
    [t('requests.type'), found.resourceType || '–'],
    [t('requests.status'), statusText(found.status)],
    [t('requests.code'), found.errorCode || '–'],
    [t('requests.latency'), latency(found.milliseconds, view)],
    [t('requests.bytes_in'), size(found.bytesIn)],
    [t('requests.bytes_out'), size(found.bytesOut)],
  ]
  return html`<dl class="facts">${rows.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>\n`)}</dl>`
}

function problem(view: PageView, { status, errorCode }: FoundRequest): Html | false {
  const { t } = view
  const words = status === 499 ? t('requests.departed') : advice(view, errorCode)
  return words !== '' && html`<section><h2>${t('requests.advice')}</h2><p>${words}</p></section>`
}

/** Only those who search the audit trail find there what a request did. */
function trail({ t, caller }: PageView, { requestId }: FoundRequest): Html | false {
  return (
    isOpenTo(caller, ['privacy_officer']) &&
    html`<p><a href="/portal/audit?${String(new URLSearchParams({ request: requestId }))}">${t('requests.trail')}</a></p>`
  )
}
