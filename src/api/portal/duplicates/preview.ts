// What a merge of two records would leave, before it is done: the record that remains, its Health ID, and what moves.
import { type MergePreview, previewMerge, type Verdict } from '../../../patients/decide-duplicate.ts'
import type { ReadPatient } from '../../../patients/merge.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'
import { addressesOf, type DuplicatePageParts, identifiersOf, lines, namesOf, phonesOf } from './parts.ts'

/** The record that remains: the subject of the question, which is shown as A, or the candidate, shown as B. */
export const remaining = ['subject', 'candidate'] as const

export type Remaining = (typeof remaining)[number]

/** The question and the two records as they are shown, which a decision must still find. */
export interface Seen extends Omit<Verdict, 'note'> {
  /** Of the question. */
  readonly id: string
}

/** The hidden fields of both forms. */
export const seenFields = ({ candidate, version, versions: [subject, other] }: Seen): Html =>
  html`<input type="hidden" name="candidate" value="${candidate}"><input type="hidden" name="version" value="${version}">
<input type="hidden" name="subject_version" value="${subject}"><input type="hidden" name="candidate_version" value="${other}">`

export const noteField = ({ t }: PageView): Html =>
  html`<label>${t('duplicates.note')} <textarea name="note" required maxlength="2000" rows="3"></textarea></label>`

/** Returns the preview, with the form that merges. */
export function previewSection(
  { addresses }: DuplicatePageParts,
  view: PageView,
  seen: Seen,
  keep: Remaining,
  [subject, candidate]: readonly [ReadPatient, ReadPatient],
): Html {
  const { t } = view
  const [from, into] = keep === 'subject' ? [candidate, subject] : [subject, candidate]
  const preview = previewMerge(addresses, from, into)
  const body =
    preview.obstacle === undefined
      ? html`${facts(view, preview)}${form(view, seen, keep)}`
      : html`<p class="failure" role="alert">${t('duplicates.obstacle')} ${preview.obstacle}</p>`
  return html`<section id="preview" aria-labelledby="preview-title"><h2 id="preview-title">${t(`duplicates.preview.${keep}`)}</h2>
${body}</section>`
}

function facts({ t }: PageView, { result, healthIds: { current, former }, moved }: MergePreview): Html {
  const rows: readonly (readonly [string, Html])[] = [
    [t('duplicates.row.name'), lines(namesOf(result))],
    [t('duplicates.row.birth_date'), lines([result['birthDate']].filter(each => typeof each === 'string'))],
    [t('duplicates.row.sex'), lines([result['gender']].filter(each => typeof each === 'string'))],
    [t('duplicates.row.phone'), lines(phonesOf(result))],
    [t('duplicates.row.address'), lines(addressesOf(result))],
    [t('duplicates.survives'), lines(current)],
    [t('duplicates.leads'), lines(former)],
    [t('duplicates.moves'), lines(identifiersOf(moved))],
  ]
  return html`<dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>
<p>${t('duplicates.stays')}</p>`
}

const form = (view: PageView, seen: Seen, keep: Remaining): Html =>
  html`<form method="post" action="/portal/duplicates/${seen.id}/merge" class="fields">${seenFields(seen)}
<input type="hidden" name="keep" value="${keep}">${noteField(view)}
<button type="submit">${view.t('duplicates.merge')}</button></form>`
