// A row of the audit trail as people read it: who did what, with the data of which patients, when, from where, and why.
import { purposeOf } from '../../../access/consent/purposes.ts'
import type { ChainedRecord } from '../../../audit/record.ts'
import { moment, number } from '../format.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'
import type { TextKey } from '../texts.ts'
import { type Filters, queryOf } from './filters.ts'

/** What rows are shown with. */
export interface RowView extends PageView {
  readonly filters: Filters
  /** Names of clients, agents and users, by their ids in the trail. */
  readonly names: ReadonlyMap<string, string>
  readonly timeZone: string
}

const columns = ['when', 'who', 'what', 'patients', 'where', 'outcome', 'purpose'] as const

/** Returns rows as a table, the first one on top. */
export function auditTable(view: RowView, rows: readonly ChainedRecord[]): Html {
  const { t } = view
  return html`<table class="cards-on-phones"><thead><tr>${columns.map(
    each => html`<th scope="col">${t(`audit.column.${each}`)}</th>`,
  )}</tr></thead><tbody>
${rows.map(
  record =>
    html`<tr>${cellsOf(record, view).map(
      (cell, index) => html`<td data-name="${t(`audit.column.${columns[index]!}`)}">${cell}</td>`,
    )}</tr>\n`,
)}</tbody></table>`
}

/** Says up to when accesses are archived, below the last page. @param until undefined: none are */
export const archivedNote = ({ t, language }: PageView, until: Date | undefined, timeZone: string): Html =>
  html`${until && html`<p>${t('audit.archived')} ${moment(until, language, timeZone)}</p>`}`

/** Returns the cells of a row, in the order of the columns. */
function cellsOf(record: ChainedRecord, view: RowView): readonly Html[] {
  return [
    moment(record.recordedAt, view.language, view.timeZone),
    who(record, view),
    what(record, view),
    patients(record, view),
    html`${record.address || '–'} <small>${view.t('audit.request')} ${filterLink(view, 'request', record.requestId)}</small>`,
    outcome(record, view),
    html`${purpose(record, view)}`,
  ]
}

const filterLink = ({ filters }: RowView, name: 'patient' | 'client' | 'request', value: string): Html =>
  value === '' ? html`–` : html`<a href="/portal/audit?${queryOf(filters, { [name]: value })}">${value}</a>`

function who({ clientId, organizationId }: ChainedRecord, view: RowView): Html {
  if (clientId === '') return html`${view.t('audit.nobody')}`
  const name = clientId.startsWith('patient/') ? view.t('audit.the_patient') : view.names.get(clientId)
  return html`${name && html`<strong>${name}</strong> `}${filterLink(view, 'client', clientId)}${
    organizationId !== '' && html` <small>${organizationId}</small>`
  }`
}

/** A request that asks for more than this is folded. */
const readable = 160

function what({ interaction, type, id, version, query }: ChainedRecord, { t }: RowView): Html {
  const resource = [type, id, version > 0 && t('audit.version', { version })].filter(Boolean).join(' ')
  if (interaction === 'emergency')
    return html`<strong class="state failed">${t('audit.deed.emergency')}</strong> ${resource} <q>${query}</q>`
  const asked =
    query.length > readable
      ? html`<details><summary>${t('audit.long')}</summary><code>${query}</code></details>`
      : query !== '' && html`<code>${query}</code>`
  return html`${t(`audit.deed.${interaction}`)} ${resource} ${asked}`
}

/** A search can name hundreds. */
const mostPatients = 10

function patients({ patients: all }: ChainedRecord, view: RowView): Html {
  if (all.length === 0) return html`–`
  const more = all.length - mostPatients
  return html`<span>${all.slice(0, mostPatients).map(each => html`${filterLink(view, 'patient', each)} `)}${
    more > 0 && view.t('audit.more_patients', { count: number(more, view.language) })
  }</span>`
}

const states = { 0: 'done', 4: 'failed', 8: 'failed' } as const

const outcome = ({ outcome: code, problem }: ChainedRecord, { t }: RowView): Html =>
  html`<span><span class="state ${states[code]}">${t(`audit.outcome.${code}`)}</span> ${problem && html`<code>${problem}</code>`}</span>`

const known: Readonly<Record<string, TextKey>> = {
  TREAT: 'audit.purpose.TREAT',
  HPAYMT: 'audit.purpose.HPAYMT',
  HOPERAT: 'audit.purpose.HOPERAT',
  HRESCH: 'audit.purpose.HRESCH',
  PUBHLTH: 'audit.purpose.PUBHLTH',
  ETREAT: 'audit.purpose.ETREAT',
  BTG: 'audit.purpose.BTG',
}

function purpose(record: ChainedRecord, { t }: RowView): string {
  const code = purposeOf(record)
  const key = known[code]
  return key ? t(key) : code || '–'
}
