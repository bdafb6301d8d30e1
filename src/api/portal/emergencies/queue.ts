// Emergencies in which clients saw patients' data without consent: the queue of their reviews, and the answers.

import { isAdministrator } from '../../../access/caller.ts'
import {
  answerReview,
  listReviews,
  type Review,
  type ReviewParts,
  type ReviewState,
  reviewStates,
} from '../../../access/consent/reviews.ts'
import type { Route } from '../../../http/route.ts'
import { Type } from '../../../lib/schema.ts'
import { moment } from '../format.ts'
import { type Html, html } from '../html.ts'
import { action, type PageView, page } from '../page.ts'

export interface EmergencyPageParts extends ReviewParts {
  /** By which times are shown, by its IANA name. */
  readonly timeZone: string
}

const common = { title: 'emergencies.title', roles: ['privacy_officer'] } as const

export const emergencyRoutes = (parts: EmergencyPageParts): Route[] => [
  page({
    ...common,
    path: '/portal/emergencies',
    name: 'portalEmergencies',
    query: Type.Object({
      state: Type.Optional(Type.Enum([...reviewStates])),
      after: Type.Optional(Type.String({ maxLength: 500 })),
    }),
    async show({ query: { state = 'open', after } }, view) {
      const { reviews, next } = await listReviews(parts, view.caller, state, after)
      return html`<p>${view.t('emergencies.about')} ${view.t('emergencies.bound')}</p>
${states(view, state)}
${reviews.length === 0 ? html`<p>${view.t('emergencies.none')}</p>` : reviews.map(each => shown(view, parts.timeZone, each))}
<p class="pages">${after && html`<a href="/portal/emergencies?state=${state}">${view.t('emergencies.first')}</a> `}${
        next &&
        html`<a rel="next" href="/portal/emergencies?${new URLSearchParams({ state, after: next }).toString()}">${view.t('emergencies.next')}</a>`
      }</p>`
    },
  }),
  action({
    ...common,
    path: '/portal/emergencies/{id}',
    name: 'portalEmergencyAnswer',
    params: Type.Object({ id: Type.String({ pattern: '^[A-Za-z0-9.-]{1,64}$' }) }),
    form: Type.Object(
      {
        answer: Type.Enum(['accept', 'escalate']),
        note: Type.String({ pattern: '\\S', maxLength: 2000 }),
        version: Type.String({ pattern: '^\\d{1,9}$' }),
      },
      { additionalProperties: false },
    ),
    async act({ params: { id }, body: { answer, note, version }, caller }) {
      await answerReview(parts, caller, id, { answer, note: note.trim(), version: Number(version) })
      return { to: '/portal/emergencies' }
    },
  }),
]

const states = ({ t }: PageView, here: ReviewState): Html =>
  html`<nav aria-label="${t('emergencies.states')}"><ul>${reviewStates.map(
    each =>
      html`<li><a href="/portal/emergencies?state=${each}"${each === here && html` aria-current="page"`}>${t(`emergencies.state.${each}`)}</a></li>`,
  )}</ul></nav>`

function shown(view: PageView, timeZone: string, review: Review): Html {
  const { t, language } = view
  const { id, patient, clientId, organizationId, requestId, reason, from, until, notes } = review
  const rows: readonly (readonly [string, Html | string])[] = [
    [t('emergencies.patient'), html`<a href="/portal/patients/${patient}">${patient}</a>`],
    [t('emergencies.client'), html`${clientId || '–'} <small>${organizationId}</small>`],
    [t('emergencies.from'), moment(from, language, timeZone)],
    [t('emergencies.until'), moment(until, language, timeZone)],
    [
      t('emergencies.seen'),
      html`<a href="/portal/audit?${new URLSearchParams({ patient, ...(clientId && { client: clientId }) }).toString()}">${t('emergencies.accesses')}</a> <small>${t('emergencies.request')} ${requestId}</small>`,
    ],
  ]
  return html`<article aria-labelledby="review-${id}"><h2 id="review-${id}">${reason}</h2>
<dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>
${
  notes.length > 0 &&
  html`<ul>${notes.map(({ at, by, text }) => html`<li>${moment(at, language, timeZone)} ${by}: <q>${text}</q></li>`)}</ul>`
}${form(view, review)}</article>`
}

/** Administrators answer what was escalated. */
function form({ t, caller }: PageView, { id, state, version }: Review): Html | false {
  const mayAccept = state === 'open' || (state === 'escalated' && isAdministrator(caller))
  return (
    mayAccept &&
    html`<form method="post" action="/portal/emergencies/${id}" class="fields"><input type="hidden" name="version" value="${version}">
<label>${t('emergencies.note')} <textarea name="note" required maxlength="2000" rows="3"></textarea></label>
<div class="choices"><button type="submit" name="answer" value="accept">${t('emergencies.accept')}</button>
${state === 'open' && html`<button type="submit" name="answer" value="escalate">${t('emergencies.escalate')}</button>`}</div></form>`
  )
}
