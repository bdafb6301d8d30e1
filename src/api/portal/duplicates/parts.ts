// What the pages about possible duplicates work with, and how they show a person.
import { isObject, type JsonObject, objectsIn } from '../../../lib/json.ts'
import type { Likeness, Reason } from '../../../mpi/register/review.ts'
import type { DecidingParts } from '../../../patients/decide-duplicate.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'
import type { PatientPageParts } from '../patients/parts.ts'
import type { TextKey } from '../texts.ts'

export interface DuplicatePageParts extends DecidingParts, PatientPageParts {}

const textsIn = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === 'string' && each !== '')

const joined = (...values: readonly unknown[]): string => values.flatMap(textsIn).join(' ')

/** Returns the names of a person, each in one line. */
export const namesOf = ({ name }: JsonObject): string[] =>
  objectsIn(name)
    .map(({ given, family, text }) => joined(given, family) || joined(text))
    .filter(each => each !== '')

export const phonesOf = ({ telecom }: JsonObject): string[] => objectsIn(telecom).flatMap(({ value }) => textsIn(value))

export const addressesOf = ({ address }: JsonObject): string[] =>
  objectsIn(address)
    .map(({ text, line, city, district, state, postalCode, country }) =>
      joined(text) !== '' ? joined(text) : joined(line, postalCode, city, district, state, country),
    )
    .filter(each => each !== '')

/** Returns identifiers as people compare them: the end of the system, and the value. */
export const identifiersOf = (identifiers: unknown): string[] =>
  objectsIn(identifiers).map(({ system, value, type }) => {
    const kind =
      joined(isObject(type) ? type['text'] : undefined) || joined(system).replace(/^.*[/:](?=[^/:]*[/:][^/:]*$)/, '')
    return [kind, joined(value)].filter(Boolean).join(' ')
  })

export const lines = (all: readonly (string | Html)[]): Html =>
  all.length === 0 ? html`–` : html`<ul class="tags">${all.map(each => html`<li>${each}</li>`)}</ul>`

/** Returns how probable the matcher found it, and the grade. */
export function scoreText({ t, language }: PageView, { score, grade }: Likeness): string {
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 }).format(score)
  return `${percent} · ${t(`duplicates.grade.${grade}`)}`
}

/** Returns how a field agrees, and what that weighs, as the matcher explained it. */
export function reasonText({ t, language }: PageView, { field, level, bits, blocks }: Reason): Html {
  const weight = new Intl.NumberFormat(language, { signDisplay: 'always', maximumFractionDigits: 1 }).format(bits)
  const state = blocks || bits < 0 ? 'failed' : 'done'
  return html`${t(`duplicates.field.${field}` as TextKey)}: <strong class="state ${state}">${t(
    `duplicates.level.${level}` as TextKey,
  )}</strong> <small>${t('duplicates.bits', { bits: weight })}${blocks && html`, ${t('duplicates.blocks')}`}</small>`
}
