// What the audit trail is searched by on its page: the form, and what its fields mean.

import type { AuditTest } from '../../../audit/criteria.ts'
import type { AuditPlace } from '../../../audit/reader.ts'
import type { ChainedRecord } from '../../../audit/record.ts'
import type { Queryable } from '../../../db/statement.ts'
import { dayAfter, isDay, startOfDay } from '../../../lib/day.ts'
import { Failure } from '../../../lib/failure.ts'
import { parse } from '../../../lib/health-id.ts'
import { type Static, Type } from '../../../lib/schema.ts'
import { holderOf } from '../../../mpi/register/health-ids.ts'
import { mergedWith } from '../../../mpi/register/merged.ts'
import type { Deed } from '../../../store/access.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'

const actions = ['R', 'C', 'U', 'D', 'E'] as const
const deeds: readonly string[] = ['emergency', 'login', 'logout'] satisfies Deed[]
const outcomes = ['0', '4', '8'] as const
const text = Type.Optional(Type.String({ maxLength: 200 }))

export const filterQuery = Type.Object({
  patient: text,
  client: text,
  action: Type.Optional(Type.Enum(['', ...actions, ...deeds])),
  outcome: Type.Optional(Type.Enum(['', ...outcomes])),
  from: Type.Optional(Type.String({ maxLength: 10 })),
  to: Type.Optional(Type.String({ maxLength: 10 })),
  request: text,
  after: Type.Optional(Type.String({ maxLength: 50 })),
})

export type Filters = Static<typeof filterQuery>

const fields = ['patient', 'client', 'action', 'outcome', 'from', 'to', 'request'] as const

/** Returns the filters as a query, without those that are empty, and with others in their place. */
export function queryOf(filters: Filters, instead: Partial<Filters> = {}): string {
  const merged = { ...filters, after: undefined, ...instead }
  const named = [...fields, 'after' as const].map(name => [name, merged[name]?.trim() ?? ''] as const)
  return new URLSearchParams(named.filter(([, value]) => value !== '').map(([name, value]) => [name, value])).toString()
}

/** Returns the conditions of the filters. @throws Failure VALIDATION_FAILED for a day that there is not, INVALID_HEALTH_ID */
export async function testsOf(on: Queryable, filters: Filters, timeZone: string): Promise<AuditTest[]> {
  const given = (name: (typeof fields)[number]): string[] => [filters[name]?.trim() ?? ''].filter(each => each !== '')
  const patients = await Promise.all(given('patient').map(each => patientTest(on, each)))
  const [from] = given('from').map(day => startOfDay(timeZone, known(day, 'from')).getTime())
  const [to] = given('to').map(day => startOfDay(timeZone, dayAfter(known(day, 'to'))).getTime() - 1)
  return [
    ...patients,
    ...given('client').map((each): AuditTest => ({ column: 'client_id', among: [each] })),
    ...given('action').map(
      (each): AuditTest => ({ column: deeds.includes(each) ? 'interaction' : 'action', among: [each] }),
    ),
    ...given('outcome').map((each): AuditTest => ({ column: 'outcome', among: [each] })),
    ...given('request').map((each): AuditTest => ({ column: 'request_id', among: [each] })),
    ...(from === undefined && to === undefined
      ? []
      : [{ ...(from !== undefined && { from }), ...(to !== undefined && { to }) }]),
  ]
}

function known(day: string, field: string): string {
  if (isDay(day)) return day
  const message = 'must be a day, such as 2026-01-31'
  throw new Failure('VALIDATION_FAILED', 'The period is not valid.', { details: [{ field, code: 'format', message }] })
}

/** The patient by Health ID or by id, also under the ids of merged records; what was done by the patient counts too. */
async function patientTest(on: Queryable, asked: string): Promise<AuditTest> {
  const reading = parse(asked)
  // No other Health ID is suggested: it would be that of somebody about whom nothing was asked.
  if ('fault' in reading && reading.fault !== 'malformed')
    throw new Failure('INVALID_HEALTH_ID', 'The check symbols of this Health ID are wrong: compare it with the card.')
  const id = 'healthId' in reading ? (await holderOf(on, reading.healthId))?.patient : asked.replace(/^Patient\//, '')
  if (id === undefined) return { any: [] }
  const same = (await mergedWith(on, [id])).get(id)!
  return {
    any: same.flatMap(each => [{ patient: each }, { column: 'client_id', among: [`patient/${each}`] }] as const),
  }
}

/** Reads where a page begins. @throws Failure MALFORMED_REQUEST */
export function placeOf(after: string | undefined): AuditPlace | undefined {
  if (after === undefined) return undefined
  const [, time, chain, sequence] = /^(\d{1,15})-(\d{1,9})-(\d{1,15})$/.exec(after) ?? []
  if (!time)
    throw new Failure('MALFORMED_REQUEST', 'The page link is not valid: follow the links of the previous page.')
  return { time: Number(time), chain: Number(chain), sequence: Number(sequence) }
}

/** Writes the place of a row, after which the next page begins. */
export const placeText = ({ recordedAt, chain, sequence }: ChainedRecord): string =>
  `${recordedAt.getTime()}-${chain}-${sequence}`

export function filterForm({ t }: PageView, filters: Filters): Html {
  const choice = (name: 'action' | 'outcome', values: readonly string[]): Html =>
    html`<label>${t(`audit.${name}`)} <select name="${name}"><option value="">${t('audit.any')}</option>${values.map(
      each =>
        html`<option value="${each}"${filters[name] === each && html` selected`}>${t(`audit.${name}.${each}` as 'audit.action.R')}</option>`,
    )}</select></label>`
  const field = (name: 'patient' | 'client' | 'request'): Html =>
    html`<label>${t(`audit.${name}`)} <input name="${name}" maxlength="200" autocomplete="off" value="${filters[name]}"></label>`
  const day = (name: 'from' | 'to'): Html =>
    html`<label>${t(`audit.${name}`)} <input type="date" name="${name}" value="${filters[name]}"></label>`
  return html`<form method="get" action="/portal/audit" class="filters" role="search">
${field('patient')}
${field('client')}
${choice('action', [...actions, ...deeds])}
${choice('outcome', outcomes)}
${day('from')}
${day('to')}
${field('request')}
<button type="submit">${t('audit.search')}</button>
</form>`
}
