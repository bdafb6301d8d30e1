// One possible duplicate: both records side by side, what a merge would leave, and the decision.

import type { Route } from '../../../http/route.ts'
import { Failure } from '../../../lib/failure.ts'
import { Type } from '../../../lib/schema.ts'
import type { Likeness } from '../../../mpi/register/review.ts'
import { keepApart, mergeDuplicates, toUndo, undoMerge } from '../../../patients/decide-duplicate.ts'
import { type DuplicateReview, duplicateReview, outcomeFor } from '../../../patients/duplicates.ts'
import { moment } from '../format.ts'
import { type Html, html } from '../html.ts'
import { action, type PageView, page } from '../page.ts'
import { comparison, type Side } from './comparison.ts'
import { type DuplicatePageParts, scoreText } from './parts.ts'
import { noteField, previewSection, type Remaining, remaining, type Seen, seenFields } from './preview.ts'

const common = { title: 'duplicates.one', roles: ['privacy_officer'] } as const
const id = Type.String({ pattern: '^[A-Za-z0-9.-]{1,64}$' })
const params = Type.Object({ id })
const version = Type.String({ pattern: '^\\d{1,9}$' })

const decision = {
  candidate: id,
  version,
  subject_version: version,
  candidate_version: version,
  note: Type.String({ pattern: '\\S', maxLength: 2000 }),
}

export const duplicateRoutes = (parts: DuplicatePageParts): Route[] => [
  page({
    ...common,
    path: '/portal/duplicates/{id}',
    name: 'portalDuplicate',
    params,
    query: Type.Object({ with: Type.Optional(id), keep: Type.Optional(Type.Enum([...remaining])) }),
    async show({ params: asked, query, requestId }, view) {
      const { review, people } = await duplicateReview(parts, view.caller, asked.id)
      const likeness = chosen(review, query.with)
      const sideOf = (patient: string): Side => ({ id: patient, person: people.get(patient) })
      const sides = [sideOf(review.subject), sideOf(likeness.patient)] as const
      return html`${others(view, review, likeness, people)}${facts(parts, view, review, likeness)}
<section><h2>${view.t('duplicates.side_by_side')}</h2>
${await comparison(parts, view, requestId, sides, likeness)}</section>
${review.open.includes(likeness.patient) && decisions(parts, view, review, sides, query.keep)}${undoing(parts, view, review, sides)}
<p><a href="/portal/duplicates">${view.t('duplicates.back')}</a></p>`
    },
  }),
  action({
    ...common,
    path: '/portal/duplicates/{id}/merge',
    name: 'portalDuplicateMerge',
    params,
    form: Type.Object({ ...decision, keep: Type.Enum([...remaining]) }, { additionalProperties: false }),
    async act({ params: asked, body, caller }) {
      await mergeDuplicates(parts, caller, asked.id, { ...verdictIn(body), remaining: body.keep })
      return { to: `/portal/duplicates/${asked.id}?with=${body.candidate}` }
    },
  }),
  action({
    ...common,
    path: '/portal/duplicates/{id}/apart',
    name: 'portalDuplicateApart',
    params,
    form: Type.Object(decision, { additionalProperties: false }),
    async act({ params: asked, body, caller }) {
      await keepApart(parts, caller, asked.id, verdictIn(body))
      return { to: `/portal/duplicates/${asked.id}?with=${body.candidate}` }
    },
  }),
  action({
    ...common,
    path: '/portal/duplicates/{id}/undo',
    name: 'portalDuplicateUndo',
    params,
    form: Type.Object(decision, { additionalProperties: false }),
    async act({ params: asked, body, caller }) {
      await undoMerge(parts, caller, asked.id, verdictIn(body))
      return { to: `/portal/duplicates/${asked.id}?with=${body.candidate}` }
    },
  }),
]

const verdictIn = (body: Readonly<Record<keyof typeof decision, string>>) => ({
  candidate: body.candidate,
  version: Number(body.version),
  versions: [Number(body.subject_version), Number(body.candidate_version)] as const,
  note: body.note.trim(),
})

/** Returns the candidate that is compared: the one that is asked for, else the likeliest that is not settled. @throws Failure NOT_FOUND */
function chosen({ likenesses, open }: DuplicateReview, asked: string | undefined): Likeness {
  const first = likenesses.find(({ patient }) => open.includes(patient)) ?? likenesses[0]
  const found = asked === undefined ? first : likenesses.find(({ patient }) => patient === asked)
  if (found) return found
  throw new Failure('NOT_FOUND', 'The question is not about this record.')
}

/** Leads to the other candidates, if there are several. */
function others(
  view: PageView,
  { id: task, likenesses }: DuplicateReview,
  here: Likeness,
  people: ReadonlyMap<string, unknown>,
): Html | false {
  const { t } = view
  return (
    likenesses.length > 1 &&
    html`<nav aria-label="${t('duplicates.candidates')}"><ul>${likenesses.map(
      (each, index) =>
        html`<li><a href="/portal/duplicates/${task}?with=${each.patient}"${each === here && html` aria-current="page"`}>${t(
          'duplicates.candidate',
          { number: index + 1 },
        )}${!people.has(each.patient) && html` (${t('duplicates.deleted')})`}</a></li>`,
    )}</ul></nav>`
  )
}

function facts({ timeZone }: DuplicatePageParts, view: PageView, review: DuplicateReview, likeness: Likeness): Html {
  const { t, language } = view
  const status = outcomeFor(review, likeness.patient)
  return html`<dl class="facts"><div><dt>${t('duplicates.score')}</dt><dd>${scoreText(view, likeness)}</dd></div>
<div><dt>${t('duplicates.since')}</dt><dd>${moment(review.since, language, timeZone)}</dd></div>
<div><dt>${t('duplicates.status')}</dt><dd><span class="state ${status === 'open' ? 'pending' : 'done'}">${t(`duplicates.status.${status}`)}</span></dd></div></dl>
${
  review.notes.length > 0 &&
  html`<ul>${review.notes.map(({ at, by, text }) => html`<li>${moment(at, language, timeZone)} ${by}: <q>${text}</q></li>`)}</ul>`
}`
}

function decisions(
  parts: DuplicatePageParts,
  view: PageView,
  { id: task, version: seenVersion }: DuplicateReview,
  [subject, candidate]: readonly [Side, Side],
  keep: Remaining | undefined,
): Html {
  const { t } = view
  const seen = seenIn(task, seenVersion, subject, candidate)
  const both = subject.person && candidate.person ? ([subject.person, candidate.person] as const) : undefined
  return html`${both && choice(view, seen, keep)}${both && keep && previewSection(parts, view, seen, keep, both)}
<section><h2>${t('duplicates.apart')}</h2><p>${t('duplicates.apart_hint')}</p>
<form method="post" action="/portal/duplicates/${task}/apart" class="fields">${seenFields(seen)}
${noteField(view)}<button type="submit">${t('duplicates.keep_apart')}</button></form></section>`
}

const seenIn = (id: string, version: number, subject: Side, candidate: Side): Seen => ({
  ...{ id, version, candidate: candidate.id },
  versions: [subject.person?.version ?? 0, candidate.person?.version ?? 0],
})

/** The form that undoes the merge of the two, if that can be undone. */
function undoing(
  { addresses }: DuplicatePageParts,
  view: PageView,
  review: DuplicateReview,
  [subject, candidate]: readonly [Side, Side],
): Html | false {
  const { from, reason } = toUndo(addresses, { subject: subject.person, candidate: candidate.person })
  const { t } = view
  return (
    outcomeFor(review, candidate.id) === 'merged' &&
    from !== undefined &&
    reason === undefined &&
    html`<section><h2>${t('duplicates.two')}</h2><p>${t('duplicates.two_hint')}</p>
<form method="post" action="/portal/duplicates/${review.id}/undo" class="fields">${seenFields(
      seenIn(review.id, review.version, subject, candidate),
    )}
${noteField(view)}<button type="submit">${t('duplicates.undo')}</button></form></section>`
  )
}

const choice = ({ t }: PageView, { id: task, candidate }: Seen, keep: Remaining = 'candidate'): Html =>
  html`<section><h2>${t('duplicates.same')}</h2><p>${t('duplicates.same_hint')}</p>
<form method="get" action="/portal/duplicates/${task}#preview" class="fields"><input type="hidden" name="with" value="${candidate}">
<fieldset><legend>${t('duplicates.remains')}</legend>${remaining.map(
    each =>
      html`<label class="choice"><input type="radio" name="keep" value="${each}"${each === keep && html` checked`}> <span>${t(
        `duplicates.remains.${each}`,
      )}</span></label>`,
  )}</fieldset>
<button type="submit">${t('duplicates.show_preview')}</button></form></section>`
