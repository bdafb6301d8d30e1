// First drafts of maps: whatever the types, they can be read, and lack only what has to be thought about.

import { expect, test } from 'vitest'
import { resourceTypes } from '../../src/definitions/r4.ts'
import { format } from '../../src/fml/format.ts'
import { draftMap } from '../../src/mapping/draft/draft.ts'
import { likeness } from '../../src/mapping/draft/meaning.ts'
import { mappingSet } from '../../src/mapping/set.ts'
import { shapes } from '../../src/shapes/all.ts'
import { rounds } from '../support/rounds.ts'

const empty = mappingSet([], { shapes })
const { structures } = empty
const urlOf = (type: string) => structures.urls.find(url => structures.byUrl(url) === type)!
const draft = (from: string, to: string) => draftMap('https://ward.example/map', urlOf(from), urlOf(to), structures)

test.each([
  ['date_of_birth', 'birthDate', 1],
  ['created_at', 'recordedDate', 1],
  ['patient_id', 'subject', 1],
  ['provider_id', 'recorder', 1],
  ['notes', 'note', 1],
  ['display_name', 'code', 0.5],
  ['id', 'identifier', 0],
  ['unit', 'status', 0],
])('%s and %s are alike by %d', (a, b, score) => {
  expect(likeness(a, b)).toBe(score)
})

/** What check says of a draft, save what only its author can know. */
function unexpected(from: string, to: string): string[] {
  const text = draft(from, to)
  expect(format(text)).toBe(text)
  const { problems } = mappingSet([{ path: 'm.fml', name: 'm.fml', text }], { shapes, before: empty })
  const isOpen = (message: string) => /which no rule sets$|no translation in this concept map/.test(message)
  return problems.filter(each => !isOpen(each.message)).map(each => `${from} to ${to}: ${each.message}`)
}

test('drafts between records and resources, both ways, are sound as far as they go', () => {
  const records = shapes.map(shape => (shape as { $id?: string }).$id!)
  const some = resourceTypes.filter((_, index) => index % rounds(35, 7) === 0)
  expect(
    records.flatMap(record => some.flatMap(type => [unexpected(record, type), unexpected(type, record)].flat())),
  ).toEqual([])
})

test('drafts between resources are sound as far as they go', () => {
  const some = resourceTypes.filter((_, index) => index % rounds(5, 1) === 0)
  const pairs = some.map((type, index) => [type, resourceTypes[(index * 31 + 3) % resourceTypes.length]!] as const)
  expect([...pairs, ...some.map(type => [type, type] as const)].flatMap(([a, b]) => unexpected(a, b))).toEqual([])
})

test('a resource to itself is a whole copy', () => {
  const text = draft('Patient', 'Patient')
  expect(text).toContain('  src.name -> tgt.name;\n')
  expect(text).toContain('  src.deceased -> tgt.deceased;\n')
  expect(text).not.toContain('Not set')
})

test('elements within elements, and different codes of the same element, each get their rules', () => {
  const text = draft('Encounter', 'EpisodeOfCare')
  expect(text).toContain('src.statusHistory as s1 -> tgt.statusHistory as t1 then {')
  expect(text).toContain('  s:planned == t:planned\n')
  expect(text).toContain('  // s:"arrived" - t:?\n')
})
