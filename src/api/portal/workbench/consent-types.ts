// The consent types, and what a change of them opens or closes.
import { consentsIn } from '../../../mapping/consents.ts'
import type { ConsentTypes } from '../../../shapes/consent-types.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'
import type { EditedFile } from './file.ts'

/** @param inForce the types that the service uses now */
export const consentTypesFile = (inForce: () => ConsentTypes): EditedFile => ({
  name: 'consents.json',
  path: '/portal/consent-types',
  operation: 'portalConsentTypes',
  title: 'consent_types.title',
  about: 'consent_types.about',
  label: 'consent_types.file',
  problems: file => consentsIn([file], true).problems,
  inputs: ({ t }) => html`<h2>${t('consent_types.effect')}</h2>`,
  effect(view, file) {
    const { consents } = consentsIn([file], true)
    return consents ? table(view, consents, inForce()) : html``
  },
})

type ConsentType = ConsentTypes['types'] extends ReadonlyMap<string, infer Type> ? Type : never

function table(view: PageView, now: ConsentTypes, before: ConsentTypes): Html {
  const { t } = view
  const all = [...new Set([...now.types.keys(), ...before.types.keys()])]
  const names = ['type', 'opens', 'change'] as const
  return html`<table class="cards-on-phones"><thead><tr>${names.map(each => html`<th scope="col">${t(`consent_types.${each}`)}</th>`)}</tr></thead><tbody>
${all.map(name => {
  const [is, was] = [now.types.get(name), before.types.get(name)]
  const change = !was ? 'new' : !is ? 'removed' : opened(view, is) === opened(view, was) ? 'same' : 'changed'
  const tones = { new: 'done', removed: 'failed', changed: 'pending', same: '' }
  const type = is ?? was!
  return html`<tr><td data-name="${t('consent_types.type')}"><code>${name}</code> ${type.title}</td>
<td data-name="${t('consent_types.opens')}">${opened(view, type)}${change === 'changed' && html` <small><s>${opened(view, was!)}</s></small>`}</td>
<td data-name="${t('consent_types.change')}"><span class="state ${tones[change]}">${t(`consent_types.${change}`)}</span></td></tr>\n`
})}</tbody></table>`
}

function opened({ t }: PageView, { resourceTypes, categories, isForEmergencies }: ConsentType): string {
  const types = resourceTypes === undefined ? t('consent_types.everything') : resourceTypes.join(', ')
  const narrowed = categories.length > 0 ? ` (${categories.join(', ')})` : ''
  if (isForEmergencies) return t('consent_types.emergency')
  return types === '' ? t('consent_types.nothing') : `${types}${narrowed}`
}
