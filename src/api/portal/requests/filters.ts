// What the request log is searched by on its page: the form, and what its fields mean.

import { failureCodes } from '../../../lib/failure.ts'
import { type Static, Type } from '../../../lib/schema.ts'
import type { RequestFilter } from '../../../requests/search.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'
import { minuteField, readMinute } from '../span.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const
const classes = ['2', '3', '4', '5'] as const
const codes = Object.keys(failureCodes)
const text = Type.Optional(Type.String({ maxLength: 200 }))

const fieldTypes = {
  request: text,
  client: text,
  status: Type.Optional(Type.Enum(['', ...classes])),
  code: Type.Optional(Type.Enum(['', ...codes])),
  method: Type.Optional(Type.Enum(['', ...methods])),
  route: text,
  type: Type.Optional(Type.String({ maxLength: 64 })),
  from: minuteField,
  to: minuteField,
}

export const filterQuery = Type.Object({
  ...fieldTypes,
  after: Type.Optional(Type.String({ pattern: '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$' })),
})

export type RequestFields = Static<typeof filterQuery>

const fields = Object.keys(fieldTypes) as (keyof typeof fieldTypes)[]

/** Returns the filters as a query, without those that are empty. */
export function queryOf(filters: RequestFields, after?: string): string {
  const named = fields.map(name => [name, filters[name]?.trim() ?? ''] as const)
  const given = named.filter(([, value]) => value !== '').map(([name, value]) => [name, value])
  return new URLSearchParams(after === undefined ? given : [...given, ['after', after]]).toString()
}

/** Returns what the filters ask for. @throws Failure VALIDATION_FAILED for a time that there is not */
export function filterOf(filters: RequestFields, timeZone: string): RequestFilter {
  const given = (name: keyof typeof fieldTypes): string | undefined => filters[name]?.trim() || undefined
  const status = given('status')
  return {
    requestId: given('request'),
    clientId: given('client'),
    statusClass: status === undefined ? undefined : Number(status),
    errorCode: given('code'),
    method: given('method'),
    route: given('route'),
    resourceType: given('type'),
    from: readMinute(filters.from, 'from', timeZone),
    to: readMinute(filters.to, 'to', timeZone),
  }
}

/** How ids begin. */
const placeholders: Readonly<Record<string, string>> = { client: 'client_…, agt_…, user/usr_…', type: 'Patient' }

export function filterForm({ t }: PageView, filters: RequestFields, patterns: readonly string[]): Html {
  const choice = (
    name: 'status' | 'code' | 'method',
    values: readonly string[],
    named: (value: string) => string,
  ): Html =>
    html`<label>${t(`requests.${name}`)} <select name="${name}"><option value="">${t('requests.any')}</option>${values.map(
      each => html`<option value="${each}"${filters[name] === each && html` selected`}>${named(each)}</option>`,
    )}</select></label>`
  const field = (name: 'request' | 'client' | 'type'): Html =>
    html`<label>${t(`requests.${name}`)} <input name="${name}" maxlength="${name === 'type' ? 64 : 200}" autocomplete="off" value="${filters[name]}"${placeholders[name] !== undefined && html` placeholder="${placeholders[name]}"`}></label>`
  const time = (name: 'from' | 'to'): Html =>
    html`<label>${t(`requests.${name}`)} <input type="datetime-local" name="${name}" value="${filters[name]}"></label>`
  return html`<form method="get" action="/portal/requests" class="filters" role="search">
${field('request')}
${field('client')}
${choice('status', classes, each => t(`requests.class.${each}` as 'requests.class.2'))}
${choice('code', codes, each => each)}
${choice('method', methods, each => each)}
<label>${t('requests.route')} <input name="route" list="routes" maxlength="200" autocomplete="off" value="${filters.route}"></label>
<datalist id="routes">${patterns.map(each => html`<option value="${each}"></option>`)}</datalist>
${field('type')}
${time('from')}
${time('to')}
<button type="submit">${t('requests.search')}</button>
</form>`
}
