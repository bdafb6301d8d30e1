// The weights of matching, and what two people score by them: the same comparison as the register makes.

import type { SourceFile } from '../../../mapping/files.ts'
import { weightsIn } from '../../../mapping/weights.ts'
import { decide } from '../../../mpi/matching/decide.ts'
import { type Features, featuresOf } from '../../../mpi/matching/person.ts'
import { explain } from '../../../mpi/matching/score.ts'
import type { Matching } from '../../../mpi/matching/weights.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'
import type { EditedFile, FileFields } from './file.ts'

/** Two people who are probably one, to begin with. */
const usual: FileFields = {
  text: '',
  people: '1000000',
  ...{
    given_1: 'Amina',
    family_1: 'Ngo Bih',
    birth_date_1: '1990-04-12',
    birth_order_1: '',
    gender_1: 'female',
    phone_1: '+237 677 12 34 56',
  },
  ...{
    given_2: 'Aminah',
    family_2: 'NGO BIH',
    birth_date_2: '1990-12-04',
    birth_order_2: '',
    gender_2: 'female',
    phone_2: '677 12 34 56',
  },
}

/** @param inForce the weights that the service uses now */
export const matchingFile = (inForce: () => Matching): EditedFile => ({
  name: 'matching.json',
  path: '/portal/matching',
  operation: 'portalMatching',
  title: 'matching.title',
  about: 'matching.about',
  label: 'matching.file',
  problems: file => weightsIn([file], true).problems,
  inputs: (view, fields) => inputs(view, withUsual(fields)),
  effect(view, file, fields) {
    const { t } = view
    const compared = withUsual(fields)
    const now = weightsOf(file)
    return html`<h2>${t('matching.score')}</h2>${now && html`<h3>${t('matching.these_weights')}</h3>${scored(view, now, compared)}`}
<h3>${t('matching.saved_weights')}</h3>${scored(view, inForce(), compared)}`
  },
})

const withUsual = (fields: FileFields): FileFields =>
  fields.given_1 === undefined ? { ...usual, text: fields.text } : fields

function weightsOf(file: SourceFile): Matching | undefined {
  const { matching, problems } = weightsIn([file], true)
  return problems.length > 0 ? undefined : matching
}

const names = ['given', 'family', 'birth_date', 'birth_order', 'gender', 'phone'] as const

function inputs({ t }: PageView, fields: FileFields): Html {
  return html`<h2>${t('matching.people')}</h2><div class="pair">${([1, 2] as const).map(
    number =>
      html`<fieldset><legend>${t('matching.person', { number })}</legend>${names.map(
        name =>
          html`<label>${t(`matching.${name}`)} <input name="${name}_${number}" value="${fields[`${name}_${number}`]}" maxlength="200"></label>`,
      )}</fieldset>`,
  )}</div><p><label>${t('matching.population')} <input name="people" inputmode="numeric" value="${fields.people}" maxlength="12"></label></p>`
}

function personOf(fields: FileFields, number: 1 | 2): Features {
  const value = (name: (typeof names)[number]): string => fields[`${name}_${number}`] ?? ''
  return featuresOf({
    names: [{ given: value('given'), family: value('family') }],
    birthDate: value('birth_date'),
    birthOrder: Number(value('birth_order')) || undefined,
    sex: value('gender'),
    phones: [value('phone')],
  })
}

function scored({ t, language }: PageView, matching: Matching, fields: FileFields): Html {
  const people = Math.max(1, Number(fields.people) || 1)
  const { outcome, ranked } = decide(personOf(fields, 1), [{ id: '2', features: personOf(fields, 2) }], matching, {
    people,
  })
  const { score, probability } = ranked[0]!
  const verdict = outcome === 'match' ? 'match' : outcome === 'new' ? 'different' : 'review'
  const tone = { match: 'done', review: 'pending', different: 'failed' }[verdict]
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 2 }).format(probability)
  return html`<p><span class="state ${tone}">${t(`matching.verdict.${verdict}`)}</span> ${t('matching.bits', { bits: score.bits.toFixed(1) })}, ${t('matching.probability', { percent })}</p>
${score.isBlocked && html`<p>${t('matching.blocked')}</p>`}<ul>${explain(score).map(each => html`<li>${each}</li>`)}</ul>`
}
