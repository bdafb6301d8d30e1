// What the name of an element is about, so that `date_of_birth` and `birthDate` are seen to be the same.

/** Words that stand for the same thing where records and resources name their elements; the first one is taken. */
const GROUPS = [
  'patient subject beneficiary',
  'practitioner provider recorder asserter author performer requester prescriber doctor clinician',
  'organization facility custodian hospital institution',
  'encounter visit admission',
  'made created recorded authored issued prescribed registered',
  'date at on day time moment datetime',
  'code substance test display medication vaccine product drug diagnosis',
  'severity criticality',
  'gender sex',
  'telecom phone email',
  'given first forename',
  'family last surname',
  'start begin started beginning from',
  'end ended finish until',
  'note comment remark text',
  'value result',
  'kind type category class',
  'count number quantity amount',
  'deceased death dead died',
  'birth born',
  'identifier external mrn',
]

const WORDS = new Map(
  GROUPS.flatMap(group => {
    const words = group.split(' ')
    return words.map(word => [word, words[0]!] as const)
  }),
)

/** Words that say nothing about what is meant. */
const EMPTY = new Set(['of', 'the', 'is', 'has', 'id', 'a', 'an', 'x'])

/** What a name is about. */
export function meaningOf(name: string): ReadonlySet<string> {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  const meaningful = words.filter(word => word !== '' && !EMPTY.has(word))
  return new Set(meaningful.map(word => WORDS.get(word) ?? WORDS.get(singular(word)) ?? singular(word)))
}

/** How much of what two names are about is the same: 1 is all, 0 nothing. */
export function likeness(a: string, b: string): number {
  if (a === b) return 1
  if (a === 'id' || b === 'id') return 0
  const [first, second] = [meaningOf(a), meaningOf(b)]
  const common = [...first].filter(word => second.has(word)).length
  const all = first.size + second.size - common
  return all === 0 ? 0 : common / all
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') && !word.endsWith('us')
    ? word.slice(0, -1)
    : word
}
