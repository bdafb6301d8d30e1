// The Tasks that ask a person whether patients are one, and the keys that are locked before somebody is registered.
import { expect, test } from 'vitest'
import { blockingKeys } from '../../../src/mpi/matching/blocking.ts'
import { featuresOf } from '../../../src/mpi/matching/person.ts'
import { lockKeys, namePosting, numberPosting, postingsOf } from '../../../src/mpi/register/postings.ts'
import {
  comparedIn,
  likenessesIn,
  openIn,
  reviewed,
  reviewTask,
  settled,
  settledIn,
  shownScore,
} from '../../../src/mpi/register/review.ts'

const ranked = (id: string, probability: number, isBlocked = false) =>
  ({ id, grade: 'possible', probability, score: { bits: 3, isBlocked, parts: [] } }) as never

test('a Task says which patients to compare, and why, without a name', () => {
  const score = {
    bits: 6.789,
    isBlocked: false,
    parts: [{ field: 'sex', level: 'same', bits: 0.98765, blocks: false }],
  }
  const candidate = { id: 'b', grade: 'possible', probability: 0.7, score } as never
  const url = (name: string) => `https://health-interop.org/fhir/StructureDefinition/${name}`
  const system = 'https://health-interop.org/fhir/CodeSystem/review'
  expect(reviewTask('new', [candidate], new Date('2026-05-01T10:00:00.000Z'))).toEqual({
    ...{ resourceType: 'Task', status: 'requested', intent: 'order', authoredOn: '2026-05-01T10:00:00.000Z' },
    code: { coding: [{ system, code: 'possible-duplicate', display: 'Possible duplicate' }] },
    description:
      'This patient may be registered already. Compare both; if they are one person, merge them (Patient/$merge).',
    ...{ focus: { reference: 'Patient/new' }, for: { reference: 'Patient/new' } },
    input: [
      {
        extension: [
          { url: 'http://hl7.org/fhir/StructureDefinition/match-grade', valueCode: 'possible' },
          { url: url('match-score'), valueDecimal: 0.7 },
          {
            url: url('match-field'),
            extension: [
              { url: 'field', valueCode: 'sex' },
              { url: 'level', valueCode: 'same' },
              { url: 'bits', valueDecimal: 0.99 },
            ],
          },
        ],
        type: { coding: [{ system, code: 'candidate' }], text: 'sex: same (+1.0 bits)' },
        valueReference: { reference: 'Patient/b' },
      },
    ],
  })
})

test('a Task tells whom it compares, which is read from it again', () => {
  const task = reviewTask('new', [ranked('b', 0.7), ranked('a', 0.3)], new Date('2026-05-01T10:00:00.000Z'))
  expect(comparedIn(task)).toEqual({ focus: 'new', candidates: ['b', 'a'] })
  const [{ type }] = task['input'] as [{ type: object }]
  expect(type).toEqual({ coding: [{ system: expect.any(String), code: 'candidate' }], text: expect.any(String) })
})

test.each<[unknown, string | undefined]>([
  [{ reference: 'Patient/ada' }, 'ada'],
  [{ reference: 'RelatedPerson/ada' }, undefined],
  [{ reference: 7 }, undefined],
  [{}, undefined],
  ['Patient/ada', undefined],
  [undefined, undefined],
])('%j names the patient %s', (reference, patient) => {
  const task = {
    focus: reference,
    input: [{ valueReference: reference }, { valueReference: { reference: 'Patient/ben' } }],
  }
  expect(comparedIn(task)).toEqual({
    focus: patient,
    candidates: patient === undefined ? ['ben'] : [patient, 'ben'],
  })
})

test('a Task that is done says into whom the patients were merged, behind what it said before', () => {
  const done = reviewed({ resourceType: 'Task', status: 'requested', output: [{ valueString: 'before' }] }, 'ada')
  expect(done).toMatchObject({ status: 'completed', output: [{ valueString: 'before' }, {}] })
  const { type, valueReference } = (done['output'] as { type: object; valueReference: object }[])[1]!
  expect(valueReference).toEqual({ reference: 'Patient/ada' })
  expect(type).toStrictEqual({ coding: [{ system: expect.any(String), code: 'merged-into' }] })
})

test('what the matcher said of each candidate is read from the Task again', () => {
  const parts = [
    { field: 'given', level: 'same', bits: 9.456, blocks: false },
    { field: 'birth_date', level: 'different', bits: -6, blocks: true },
  ]
  const candidate = { id: 'b', grade: 'possible', probability: 0.9, score: { bits: 3.456, isBlocked: true, parts } }
  const task = reviewTask('new', [candidate as never], new Date('2026-05-01T10:00:00.000Z'))
  expect(likenessesIn(task)).toEqual([
    { patient: 'b', grade: 'possible', score: 0.5, reasons: [{ ...parts[0], bits: 9.46 }, parts[1]] },
  ])
  expect(likenessesIn({ input: [{ valueString: 'b' }, { valueReference: { reference: 'Patient/c' } }] })).toEqual([
    { patient: 'c', grade: 'possible', score: 0, reasons: [] },
  ])
})

test('a Task is done once each of its candidates is settled', () => {
  const asked = reviewTask('new', [ranked('b', 0.7), ranked('a', 0.3)], new Date('2026-05-01T10:00:00.000Z'))
  const once = settled(asked, { patient: 'a', outcome: 'kept-apart' })
  expect([asked, once].map(openIn)).toEqual([['b', 'a'], ['b']])
  expect(once['status']).toBe('requested')
  const twice = settled(once, { patient: 'b', outcome: 'merged' })
  expect([openIn(twice), twice['status']]).toEqual([[], 'completed'])
  expect(settledIn(twice)).toEqual([
    { patient: 'a', outcome: 'kept-apart' },
    { patient: 'b', outcome: 'merged' },
  ])
  expect(settledIn({ output: [{ valueString: 'a' }, { type: { text: 'merged' } }] })).toEqual([])
})

test('a candidate against whom something speaks is shown as doubtful at most', () => {
  expect([ranked('a', 0.98765), ranked('a', 0.98765, true), ranked('a', 0.3, true)].map(shownScore)).toEqual([
    0.9877, 0.5, 0.3,
  ])
})

test('somebody is found by blocking keys, by each word of a name as what it is, and by each number, each once', () => {
  const person = featuresOf({
    names: [
      { given: 'Awa Solange', family: 'Ndiaye' },
      { given: 'Awa', family: 'Solange' },
    ],
    birthDate: '1991-07-23',
  })
  const number = { system: 'clinic', value: 'F-17' }
  const words = [
    ...(['AWA', 'SOLANGE'] as const).map(word => namePosting('given', word)),
    ...(['NDIAYE', 'SOLANGE'] as const).map(word => namePosting('family', word)),
  ]
  const all = [...new Set(blockingKeys(person)), ...words, numberPosting(number)]
  expect(postingsOf(person, [number, number])).toEqual(all)
  expect(new Set(all).size).toBe(all.length)
  expect(numberPosting(number)).not.toBe(numberPosting({ ...number, system: 'ward' }))
})

test('keys are locked in one order, each once, and with them the number that is asked for', () => {
  const person = featuresOf({
    names: [{ given: 'Awa Solange', family: 'Ndiaye' }],
    birthDate: '1991-07-23',
    sex: 'female',
    phones: ['677112233', '699887766'],
  })
  const number = { system: 'clinic', value: 'F-17' }
  const keys = lockKeys(person, number)
  expect(keys).toEqual([...new Set([...blockingKeys(person), numberPosting(number)])].toSorted((a, b) => Number(a - b)))
  expect(keys.length).toBeGreaterThan(3)
  expect(keys).toContain(numberPosting(number))
  expect(lockKeys(person, undefined)).toEqual(keys.filter(key => key !== numberPosting(number)))
})
