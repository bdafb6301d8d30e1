// The types of consent beside the maps: what those who edit them are told.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { judge } from '../../src/mapping/judge.ts'
import { mappingSet } from '../../src/mapping/set.ts'

const delivered = await readFile(join(import.meta.dirname, '../../mappings/consents.json'), 'utf8')

const setOf = (text: string) => {
  const file = { path: 'mappings/consents.json', name: 'consents.json', text }
  return mappingSet([file], { shapes: [] })
}

/** What is told of the delivered file after this change of its text. */
function told(from: string, to: string): string[] {
  expect(delivered).toContain(from)
  const { problems, consents } = setOf(delivered.replace(from, to))
  expect(consents === undefined).toBe(problems.length > 0)
  return problems.map(({ span, message }) => `${span.line}:${span.column} ${message}`)
}

/** Line and column where this stands in the file. */
function placeOf(text: string, within = delivered): string {
  const before = within.slice(0, within.indexOf(text)).split('\n')
  return `${before.length}:${before.at(-1)!.length + 1}`
}

test('the file that is delivered says what each type opens, in its order', () => {
  const { consents, problems } = setOf(delivered)
  expect(problems).toEqual([])
  expect(consents!.expiresAfterDays).toBe(365)
  const opened = [...consents!.types.values()].map(({ name, resourceTypes, categories }) => [
    name,
    resourceTypes?.join(' '),
    ...categories,
  ])
  expect(opened).toEqual([
    ['full_record', undefined],
    ['summary', 'Patient AllergyIntolerance Condition MedicationRequest Observation DiagnosticReport Encounter'],
    ['diagnostics', 'Condition MedicationRequest Observation DiagnosticReport'],
    ['diagnoses', 'Condition'],
    ['prescriptions', 'MedicationRequest MedicationDispense'],
    ['lab_results', 'Observation DiagnosticReport', 'laboratory'],
    ['vitals', 'Observation', 'vital-signs'],
    ['documents', 'DocumentReference Composition Binary'],
    ['appointments', 'Appointment'],
    ['emergency_only', ''],
    ['research', undefined],
  ])
  const forEmergencies = [...consents!.types.values()].filter(each => each.isForEmergencies)
  expect(forEmergencies.map(each => each.name)).toEqual(['emergency_only'])
})

const documents = '"DocumentReference", "Composition", "Binary"'
const vitals = `"opens": ["Observation"],\n      "categories": ["vital-signs"]`

test.each([
  [
    'a resource type that is misspelt',
    [documents, '"DocumentReferenc", "Composition"'],
    '"DocumentReference"',
    'types.documents.opens.0 is not a resource type of R4; did you mean `DocumentReference`?',
  ],
  [
    'a resource type twice',
    [documents, '"DocumentReference", "DocumentReference"'],
    '"Composition"',
    'types.documents.opens.1 repeats DocumentReference',
  ],
  [
    'a member that is not known',
    ['"title": "Documents"', '"titel": "Documents"'],
    '"title": "Documents"',
    'types.documents.titel is not a known field; did you mean `title`?',
  ],
  [
    'a category that is misspelt',
    ['"vital-signs"', '"vital-sign"'],
    '"vital-signs"',
    'types.vitals.categories.0 is not a category; did you mean `vital-signs`?',
  ],
  [
    'a category that is nothing like one',
    ['"vital-signs"', '"xyz"'],
    '"vital-signs"',
    'types.vitals.categories.0 is not a category: laboratory, vital-signs, imaging, procedure, survey, exam, therapy, activity, social-history are',
  ],
  [
    'a category on a type that has none',
    [vitals, `"opens": ["Observation", "Condition"],\n      "categories": ["vital-signs"]`],
    '"categories": ["vital-signs"]',
    'types.vitals.categories applies to all types in opens, and Condition has none of these, so Condition would stay closed; define a separate consent type for Condition',
  ],
  [
    'a category that reports are not filed under',
    [vitals, `"opens": ["Observation", "DiagnosticReport"],\n      "categories": ["vital-signs"]`],
    '"categories": ["vital-signs"]',
    'types.vitals.categories applies to all types in opens, and DiagnosticReport is only filed under laboratory, so DiagnosticReport would stay closed; define a separate consent type for DiagnosticReport',
  ],
  [
    'a category of everything',
    [vitals, `"opens": "everything",\n      "categories": ["vital-signs"]`],
    '"categories": ["vital-signs"]',
    'types.vitals.categories can only narrow a list of Observation and DiagnosticReport in opens',
  ],
  [
    'an exception from what is open anyway',
    ['"opens": "nothing"', '"opens": ["Condition"]'],
    '"in_emergencies"',
    'types.emergency_only.in_emergencies requires "opens": "nothing": add that, or omit in_emergencies',
  ],
  [
    'another word for everything',
    ['"opens": "nothing"', '"opens": "nothin"'],
    '"opens": "nothing"',
    'types.emergency_only.opens must be "everything", "nothing", or a list of resource types such as ["Condition"]; did you mean `nothing`?',
  ],
  [
    'a name that is none',
    ['"documents": {', '"Documents (all)": {'],
    '"documents": {',
    'types.Documents (all) is not a valid name of a consent type: use at most 64 lower-case letters, digits and _, starting with a letter',
  ],
  [
    'one name for two types',
    ['"documents": {', '"vitals": {'],
    '"documents": {',
    '`vitals` is repeated here; only one of the two would apply',
  ],
  [
    'a time without measure',
    ['"expires_after_days": 365', '"expires_after_days": 0.5'],
    '"expires_after_days"',
    'expires_after_days must be a whole number of days from 1 to 36500',
  ],
  [
    'a whole record that is a part',
    ['"opens": "everything"', '"opens": ["Patient"]'],
    '"opens": "everything"',
    'types.full_record.opens must be "everything": this is the default type',
  ],
  [
    'a comment that is no text',
    ['"title": "Documents"', '"why": 7, "title": "Documents"'],
    '"title": "Documents"',
    'types.documents.why must be text',
  ],
  [
    'an empty title',
    ['"title": "Documents"', '"title": " "'],
    '"title": "Documents"',
    'types.documents.title must be text of 1 to 100 characters',
  ],
])('%s is told with its place', (_, [from, to], place, message) => {
  expect(told(from!, to!)).toEqual([`${placeOf(place)} ${message}`])
})

test('what is missing is told at its surroundings', () => {
  expect(told('      "opens": "nothing",\n', '')).toEqual([
    `${placeOf('"emergency_only"')} types.emergency_only.opens is missing`,
  ])
})

test('all that is wrong is told at once, and what is not JSON is told without quoting it', () => {
  expect(setOf('{ "types": [] , "expires_after_days": "long" }').problems).toHaveLength(2)
  expect(setOf('{ "types": {} }').problems.map(({ message }) => message)).toEqual([
    'expires_after_days is missing',
    'types has no full_record, the default type, which opens everything',
  ])
  expect(setOf('[]').problems.map(({ message }) => message)).toEqual([
    'the file must be an object with expires_after_days, types',
  ])
  expect(setOf('{ Amina').problems.map(({ message }) => message)).toEqual(['invalid JSON from here on'])
})

test('a folder without types of consent is refused where they are needed', async () => {
  const { problems } = await judge([], { shapes: [], needs: [], needsConsents: true })
  expect(problems.map(({ file, message }) => `${file}: ${message}`)).toEqual([
    'consents.json: this file is missing; the service needs it to determine what a consent opens',
  ])
})

test('a file is judged soon, however odd it is', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const whole = '"full_record": { "title": "T", "meaning": "M", "opens": "everything" }'
  const wrap = (more: string) => `{ "expires_after_days": 1, "types": { ${whole} }, ${more} }`
  expect(setOf(wrap(`"deep": ${deep}`)).problems).toHaveLength(1)
  const many = Array.from({ length: 20_000 }, (_, index) => `"a${index}": 1`).join(',')
  expect(setOf(wrap(many)).problems).toHaveLength(100)
  expect(setOf(wrap(`${many},${many}`)).problems).toHaveLength(200)
})
