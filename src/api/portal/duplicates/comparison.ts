// Two records side by side: what agrees and what differs, as the matcher explained it, and what hangs on each.
import { ownOrganization } from '../../../access/caller.ts'
import type { ConsentStatus } from '../../../consents/service.ts'
import { objectsIn } from '../../../lib/json.ts'
import { healthIdsOf, isHealthId, replacementOf } from '../../../mpi/register/patient.ts'
import type { Likeness } from '../../../mpi/register/review.ts'
import { authorsOf } from '../../../patients/authors.ts'
import { countsAbout, organizationsIn } from '../../../patients/holdings.ts'
import type { ReadPatient } from '../../../patients/merge.ts'
import { number } from '../format.ts'
import { type Html, html, type Piece } from '../html.ts'
import type { PageView } from '../page.ts'
import { table } from '../table.ts'
import type { TextKey } from '../texts.ts'
import { addressesOf, type DuplicatePageParts, identifiersOf, lines, namesOf, phonesOf, reasonText } from './parts.ts'

/** One of the two records. */
export interface Side {
  readonly id: string
  /** Undefined: it is deleted. */
  readonly person: ReadPatient | undefined
}

interface Described extends Side {
  readonly person: ReadPatient
  readonly consents: readonly ConsentStatus[]
  readonly counts: readonly { readonly type: string; readonly count: number }[]
}

/** Returns the comparison as a table. */
export async function comparison(
  parts: DuplicatePageParts,
  view: PageView,
  requestId: string,
  sides: readonly [Side, Side],
  { reasons }: Likeness,
): Promise<Html> {
  const { t } = view
  const described = await Promise.all(sides.map(each => describe(parts, view, requestId, each)))
  const rows = rowsFor(parts, view).map(([key, fields, cell]): Piece[] => [
    t(key),
    ...described.map(each => (each ? cell(each) : t('duplicates.deleted'))),
    lines(reasons.filter(({ field }) => fields.includes(field)).map(each => reasonText(view, each))),
  ])
  return table([t('duplicates.what'), t('duplicates.a'), t('duplicates.b'), t('duplicates.compared')], rows)
}

/** An officer sees what the own organisation has; administrators see all. */
async function describe(
  parts: DuplicatePageParts,
  { caller }: PageView,
  requestId: string,
  { id, person }: Side,
): Promise<Described | undefined> {
  if (!person) return undefined
  const on = parts.databaseFor(caller)
  const bound = ownOrganization(caller)
  const authors = bound === undefined ? undefined : await authorsOf(on, bound)
  const healthId = healthIdsOf(person.patient, parts.addresses).current[0] ?? id
  const [consents, counts] = await Promise.all([
    parts.consents.list({ caller, requestId }, { patient: id, healthId }, bound),
    countsAbout(on, id, authors),
  ])
  return { id, person, consents, counts }
}

type Row = readonly [name: TextKey, fields: readonly string[], cell: (side: Described) => Piece]

function rowsFor({ addresses }: DuplicatePageParts, view: PageView): readonly Row[] {
  const { language } = view
  const text = (value: unknown): string => (typeof value === 'string' && value !== '' ? value : '–')
  const isNumber = (each: Readonly<Record<string, unknown>>): boolean => !isHealthId(each, addresses)
  return [
    [
      'duplicates.row.id',
      [],
      ({ id, person: { patient } }) => state(view, id, patient['active'] === false, replacementOf(patient, addresses)),
    ],
    [
      'duplicates.row.name',
      ['given', 'family', 'names_exchanged'],
      ({ person: { patient } }) => lines(namesOf(patient)),
    ],
    ['duplicates.row.birth_date', ['birth_date'], ({ person: { patient } }) => text(patient['birthDate'])],
    [
      'duplicates.row.birth_order',
      ['birth_order'],
      ({ person: { patient } }) => text(patient['multipleBirthInteger']?.toString()),
    ],
    ['duplicates.row.sex', ['sex'], ({ person: { patient } }) => text(patient['gender'])],
    ['duplicates.row.phone', ['phone'], ({ person: { patient } }) => lines(phonesOf(patient))],
    ['duplicates.row.address', [], ({ person: { patient } }) => lines(addressesOf(patient))],
    ['duplicates.row.health_id', [], ({ person: { patient } }) => lines(healthIdsOf(patient, addresses).current)],
    [
      'duplicates.row.numbers',
      [],
      ({ person: { patient } }) => lines(identifiersOf(objectsIn(patient['identifier']).filter(isNumber))),
    ],
    [
      'duplicates.row.organizations',
      [],
      ({ person: { patient }, consents }) =>
        lines([
          ...new Set([...organizationsIn(patient, addresses), ...consents.flatMap(each => each.organization_id ?? [])]),
        ]),
    ],
    ['duplicates.row.consents', [], ({ consents }) => number(consents.length, language)],
    [
      'duplicates.row.resources',
      [],
      ({ counts }) => lines(counts.map(({ type, count }) => `${number(count, language)} ${type}`)),
    ],
  ]
}

const state = ({ t }: PageView, id: string, isInactive: boolean, replacement: string | undefined): Html =>
  html`<a href="/portal/patients/${id}"><code>${id}</code></a> ${
    replacement !== undefined ? t('duplicates.replaced', { id: replacement }) : isInactive && t('duplicates.inactive')
  }`
