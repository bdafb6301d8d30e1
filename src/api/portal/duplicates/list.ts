// The open questions whether records are one person's, which privacy officers answer for their organisation.

import type { Route } from '../../../http/route.ts'
import { Type } from '../../../lib/schema.ts'
import { type DuplicatePage, type DuplicateReview, listDuplicates } from '../../../patients/duplicates.ts'
import { moment } from '../format.ts'
import { type Html, html, type Piece } from '../html.ts'
import { type PageView, page } from '../page.ts'
import { table } from '../table.ts'
import { type DuplicatePageParts, namesOf, scoreText } from './parts.ts'

export const duplicateList = (parts: DuplicatePageParts): Route =>
  page({
    path: '/portal/duplicates',
    name: 'portalDuplicates',
    title: 'duplicates.title',
    roles: ['privacy_officer'],
    query: Type.Object({ after: Type.Optional(Type.String({ maxLength: 500 })) }),
    async show({ query: { after } }, view) {
      const { t } = view
      const found = await listDuplicates(parts, view.caller, after)
      return html`<p>${t('duplicates.about')} ${t('duplicates.reach')}</p>
${found.reviews.length > 0 ? list(parts, view, found) : html`<p>${t(found.next ? 'duplicates.none_here' : 'duplicates.none')}</p>`}
<p class="pages">${after && html`<a href="/portal/duplicates">${t('duplicates.first')}</a> `}${
        found.next &&
        html`<a rel="next" href="/portal/duplicates?${new URLSearchParams({ after: found.next }).toString()}">${t('duplicates.next')}</a>`
      }</p>`
    },
  })

function list({ timeZone }: DuplicatePageParts, view: PageView, { reviews, people }: DuplicatePage): Html {
  const { t, language } = view
  const nameOf = (id: string): string => namesOf(people.get(id)?.patient ?? {})[0] ?? id
  const row = ({ id, since, subject, open, likenesses }: DuplicateReview): Piece[] => {
    const candidates = likenesses.filter(({ patient }) => open.includes(patient))
    return [
      html`<a href="/portal/duplicates/${id}">${nameOf(subject)}</a>`,
      html`<ul class="tags">${candidates.map(each => html`<li>${nameOf(each.patient)} <small>${scoreText(view, each)}</small></li>`)}</ul>`,
      moment(since, language, timeZone),
    ]
  }
  return table([t('duplicates.record'), t('duplicates.others'), t('duplicates.since')], reviews.map(row))
}
