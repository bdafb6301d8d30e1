// People of published data, those who are registered and those who are like them, to measure matching by.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { sound, words } from '../../src/mpi/matching/names.ts'
import type { Person } from '../../src/mpi/matching/person.ts'
import { jaroWinkler } from '../../src/mpi/matching/similarity.ts'
import { asPerson, type Dice, newPhone, type Registered, two, writtenAgain } from './slips.ts'

/** Somebody who comes, and who it is: the place among the registered, or nobody of them. */
export interface Query {
  readonly person: Person
  readonly is: number | undefined
  /** Where it comes from, for the report. */
  readonly kind: string
}

export interface LabelledSet {
  readonly registered: readonly Registered[]
  readonly queries: readonly Query[]
}

interface Patient {
  readonly name: readonly { readonly given: readonly string[]; readonly family: string }[]
  readonly birthDate: string
  readonly gender: string
  readonly telecom?: readonly { readonly value: string }[]
}

/** The patients of Synthea's bulk export, in the folder that holds it. */
export function readPatients(folder: string): Registered[] {
  const lines = gunzipSync(readFileSync(join(folder, 'Patient.000.ndjson.gz')))
    .toString()
    .trim()
    .split('\n')
  return lines.map(line => registered(JSON.parse(line) as Patient))
}

/** The patients of Synthea's bundles. */
export function readBundles(folder: string): Registered[] {
  const files = Array.from({ length: 8 }, (_, index) => join(folder, `bundles-${two(index)}.ndjson.gz`))
  const lines = files.flatMap(file => gunzipSync(readFileSync(file)).toString().trim().split('\n'))
  return lines.flatMap(line => {
    const { entry } = JSON.parse(line) as { entry: { resource: Patient & { resourceType: string } }[] }
    return entry
      .filter(({ resource }) => resource.resourceType === 'Patient')
      .map(({ resource }) => registered(resource))
  })
}

/** Synthea puts a number behind each name, which would make strangers of all; it is taken off. */
function registered({ name, birthDate, gender, telecom }: Patient): Registered {
  const bare = (text: string): string => text.replace(/\d/g, '')
  const { given, family } = name[0]!
  const phone = telecom?.[0]?.value ?? ''
  return { given: bare(given.join(' ')), family: bare(family), birthDate, sex: gender, phone }
}

/**
 * Two thirds of the people are registered, one in twelve of them as born on 1 January. Each comes again, with slips; the others come for
 * the first time; and so do relatives and namesakes of those who are registered.
 */
export function labelled(people: readonly Registered[], dice: Dice): LabelledSet {
  const all = people.map(each =>
    dice.hits(1 / 12) ? { ...each, birthDate: `${each.birthDate.slice(0, 4)}-01-01` } : each,
  )
  const known = all.filter((_, index) => index % 3 > 0)
  const strangers = all.filter((_, index) => index % 3 === 0)
  const queries: Query[] = known.map((each, is) => ({ person: writtenAgain(each, strangers, dice), is, kind: 'again' }))
  const first = (kind: string, each: Registered): number =>
    queries.push({ person: asPerson(each), is: undefined, kind })
  for (const each of strangers) first('stranger', each)
  const names = [...new Set(known.map(leading))].sort()
  for (const each of known) {
    const [relative, other] = [dice.pick(RELATIVES), dice.pick(strangers)]
    const isOther = other.family !== each.family && leading(other) !== leading(each)
    const alike = names.find(name => isAlike(name, leading(each)))
    if (alike) first('twin of a name alike', { ...each, given: [alike, further(each)].join(' ').trim() })
    if (isOther && dice.hits(0.5)) first(relative.kind, relative.of(each, other, dice))
  }
  return { registered: known, queries }
}

/** Alike in writing, but not another spelling of the same: nobody calls twins Alfonso and Alfonzo. */
function isAlike(a: string, b: string): boolean {
  return jaroWinkler(a, b) >= 0.92 && spoken(a) !== spoken(b)
}

function spoken(name: string): string {
  return words(name).map(sound).join('')
}

interface Relative {
  readonly kind: string
  of(each: Registered, stranger: Registered, dice: Dice): Registered
}

const leading = ({ given }: Registered): string => given.split(' ')[0]!
const further = ({ given }: Registered): string => given.split(' ').slice(1).join(' ')

/** The cases that tempt: as much as possible agrees, and yet it is somebody else. */
const RELATIVES: readonly Relative[] = [
  { kind: 'twin, same sex, same phone', of: (each, { given }) => ({ ...each, given }) },
  {
    kind: 'twin, further name shared',
    of: (each, other) => ({ ...each, given: `${leading(other)} ${further(each)}` }),
  },
  {
    kind: 'twin, leading name shared',
    of: (each, other) => ({
      ...each,
      given: `${leading(each)} ${leading(other)}`,
      ...(further(each) ? {} : { given: leading(other) }),
    }),
  },
  {
    kind: 'twin, other sex',
    of: (each, { given }) => ({ ...each, given, sex: each.sex === 'male' ? 'female' : 'male' }),
  },
  {
    kind: 'sibling, same phone',
    of: (each, { given, birthDate }, dice) => ({ ...each, given, birthDate: shifted(birthDate, each, dice) }),
  },
  {
    kind: 'child of the same name',
    of: (each, _, dice) => {
      const year = Number(each.birthDate.slice(0, 4)) + 18 + dice.below(20)
      const day = dice.hits(0.1) ? each.birthDate.slice(5) : `${two(1 + dice.below(12))}-${two(1 + dice.below(28))}`
      return { ...each, birthDate: `${year}-${day}` }
    },
  },
  {
    kind: 'namesake, another birth date',
    of: (each, { birthDate }, dice) => ({ ...each, birthDate, phone: newPhone(dice) }),
  },
  {
    kind: 'same birth date and family name',
    of: (each, { given }, dice) => ({ ...each, given, phone: newPhone(dice) }),
  },
  {
    kind: 'same given name and birth date',
    of: (each, { family }, dice) => ({ ...each, family, phone: newPhone(dice) }),
  },
]

/** Some years apart; one in ten on the same day of the year. */
function shifted(date: string, { birthDate }: Registered, dice: Dice): string {
  const year = Number(birthDate.slice(0, 4)) + dice.pick([-5, -3, -2, -1, 1, 2, 3, 5])
  return `${year}${(dice.hits(0.1) ? birthDate : date).slice(4)}`
}
