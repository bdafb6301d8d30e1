import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { judgeMatching, readMatching } from '../../../src/mpi/matching/weights.ts'

const text = readFileSync('mappings/matching.json', 'utf8')

/** What is wrong with the file after this change. */
function faults(change: (file: Shipped) => void): string[] {
  const file = JSON.parse(text) as Shipped
  change(file)
  try {
    readMatching(JSON.stringify(file), 'matching.json')
    return []
  } catch (error) {
    return (error as Error).message.split('\n')
  }
}

type Level = { same_person?: unknown; other_people?: unknown; [name: string]: unknown }
interface Shipped {
  decision: Record<string, unknown>
  likeness: Record<string, unknown>
  fields: Record<string, { levels: Record<string, Level>; [name: string]: unknown }>
  [name: string]: unknown
}

test('the file that is delivered is sound; its weights are log2 of same over other', () => {
  const { fields, certainty, exchangedBits } = readMatching(text, 'matching.json')
  expect(certainty).toBe(0.99)
  const file = JSON.parse(text) as { names_exchanged: { same_person: number } }
  expect(exchangedBits).toBe(Math.log2(file.names_exchanged.same_person))
  expect(fields.sex['same']).toEqual({ bits: Math.log2(0.99 / 0.5), blocks: false })
  expect(fields.given['different']!.blocks).toBe(true)
})

test('the delivered weights never reward less for agreeing more', () => {
  const { fields } = readMatching(text, 'matching.json')
  for (const field of ['given', 'family', 'birth_order', 'sex', 'phone'] as const) {
    const { same, different } = fields[field]
    expect(Math.max(...Object.values(fields[field]).map(({ bits }) => bits))).toBe(same!.bits)
    expect(Math.min(...Object.values(fields[field]).map(({ bits }) => bits))).toBe(different!.bits)
  }
})

test.each<[string, (file: Shipped) => void, string]>([
  [
    'a share above 1',
    file => (file.fields['sex']!.levels['same']!.same_person = 99),
    'matching.json: fields.sex.levels.same.same_person must be a share between 0 and 1, such as 0.02 (neither of both)',
  ],
  [
    'a share of 0, whose weight would have no end',
    file => (file.fields['sex']!.levels['same']!.other_people = 0),
    'matching.json: fields.sex.levels.same.other_people must be a share between 0 and 1, such as 0.02 (neither of both)',
  ],
  [
    'a word that is misspelt',
    file => (file.fields['given']!.levels['diferent'] = {}),
    'matching.json: fields.given.levels.diferent is not a known field; did you mean different?',
  ],
  [
    'a level that is left out',
    file => delete file.fields['phone']!.levels['near'],
    'matching.json: fields.phone.levels.near is missing',
  ],
  [
    'a word that is like none',
    file => (file.decision['colour'] = 1),
    'matching.json: decision.colour is not a known field: certainty, review, lead_bits, smallest_population, why are',
  ],
  ...[
    ['decision', 'certainty', 'a share between 0 and 1, such as 0.02 (neither of both)'],
    ['decision', 'smallest_population', 'a number from 1 to 10000000000'],
    ['likeness', 'near', 'a share between 0 and 1, such as 0.02 (neither of both)'],
    ['likeness', 'similar', 'a share between 0 and 1, such as 0.02 (neither of both)'],
    ['likeness', 'own_name', 'a share between 0 and 1, such as 0.02 (neither of both)'],
    ['rarity', 'most_bits', 'a number from 0 to 20'],
    ['names_exchanged', 'same_person', 'a share between 0 and 1, such as 0.02 (neither of both)'],
  ].map(([part, name, what]): [string, (file: Shipped) => void, string] => [
    `a word for a number, in ${part}.${name}`,
    file => ((file[part!] as Record<string, unknown>)[name!] = 'many'),
    `matching.json: ${part}.${name} must be ${what}`,
  ]),
  [
    'a part that is left out',
    file => ((file['names_exchanged'] as Record<string, unknown>) = {}),
    'matching.json: names_exchanged.same_person is missing',
  ],
  [
    'a stand-in that is no name',
    file => Object.assign(file['stand_ins'] as object, { names: ['baby', '12'] }),
    'matching.json: stand_ins.names[1] must be a text with letters, such as "baby"',
  ],
  [
    'stand-ins that are no list',
    file => Object.assign(file['stand_ins'] as object, { names: 'baby' }),
    'matching.json: stand_ins.names must be a list of at most 1000 texts',
  ],
  [
    'a stand-in that is no day',
    file => Object.assign(file['stand_ins'] as object, { birth_dates: ['1900-01-01', '01/01/1900'] }),
    'matching.json: stand_ins.birth_dates[1] must be a date, such as "1900-01-01"',
  ],
  [
    'a stand-in that is too short for a telephone number',
    file => Object.assign(file['stand_ins'] as object, { phones: ['00 00'] }),
    'matching.json: stand_ins.phones[0] must be a number of at least eight digits, such as "00000000"',
  ],
  [
    'a stand-in of nothing but punctuation',
    file => Object.assign(file['stand_ins'] as object, { numbers: ['n/a', '--'] }),
    'matching.json: stand_ins.numbers[1] must be a text with letters or digits, such as "n/a"',
  ],
  [
    'stand-ins without a list',
    file => delete (file['stand_ins'] as { phones?: unknown }).phones,
    'matching.json: stand_ins.phones is missing',
  ],
  ['a field that is left out', file => delete file.fields['phone'], 'matching.json: fields.phone is missing'],
  [
    'shares that do not add up',
    file => (file.fields['sex']!.levels['different']!.same_person = 0.1),
    'matching.json: fields.sex.levels: the shares same_person add up to 1.09; every pair has one level, so they must add up to 1',
  ],
  ['a comment that is no text', file => (file.fields['sex']!['why'] = 1), 'matching.json: fields.sex.why must be text'],
  [
    'a word for yes',
    file => (file.fields['sex']!.levels['same']!['blocks_match'] = 'yes'),
    'matching.json: fields.sex.levels.same.blocks_match must be true or false',
  ],
  [
    'a limit below the other',
    file => (file.likeness['near'] = 0.8),
    'matching.json: likeness.near must be greater than likeness.similar',
  ],
  [
    'a limit that is the other one',
    file => (file.likeness['near'] = file.likeness['similar']),
    'matching.json: likeness.near must be greater than likeness.similar',
  ],
  [
    'a certainty that is no more than what a person looks at',
    file => (file.decision['certainty'] = file.decision['review']),
    'matching.json: decision.certainty must be greater than decision.review',
  ],
  [
    'a share of all',
    file => (file.decision['review'] = 1),
    'matching.json: decision.review must be a share between 0 and 1, such as 0.02 (neither of both)',
  ],
  [
    'a share that is a text',
    file => (file.decision['review'] = '0.2'),
    'matching.json: decision.review must be a share between 0 and 1, such as 0.02 (neither of both)',
  ],
  ...[-1, 101, '5'].map((value): [string, (file: Shipped) => void, string] => [
    `a lead of ${JSON.stringify(value)} bits`,
    file => (file.decision['lead_bits'] = value),
    'matching.json: decision.lead_bits must be a number from 0 to 100',
  ]),
  [
    'a list instead of an object',
    file => (file['decision'] = [] as never),
    'matching.json: decision must be an object with certainty, review, lead_bits, smallest_population',
  ],
])('%s is refused with its place', (_, change, message) => {
  expect(faults(change)).toEqual([message])
})

test.each([0, 100])('a lead of %i bits is taken', value => {
  expect(faults(file => (file.decision['lead_bits'] = value))).toEqual([])
})

test('all that is wrong is told at once', () => {
  expect(
    faults(file => {
      file.decision['lead_bits'] = '5'
      file.decision['certainty'] = 2
    }),
  ).toHaveLength(2)
})

test('what is not JSON is refused by its name', () => {
  expect(() => readMatching('{"fields": ', 'matching.json')).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/^matching\.json: this is not JSON/),
      cause: expect.any(SyntaxError),
    }),
  )
  expect(() => readMatching('[]', 'matching.json')).toThrow('matching.json: the file must be an object with')
  expect(judgeMatching(undefined)).toEqual({ problems: [expect.stringMatching(/^the file must be an object with/)] })
})
