import { describe, expect, test } from 'vitest'
import {
  all,
  any,
  appeared,
  became,
  both,
  type Claim,
  changed,
  changedElements,
  entered,
  exists,
  gone,
  is,
  left,
  not,
  status,
  stayed,
  was,
} from '../../src/events/claims.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { base } from './support.ts'

const around = { base, known: new Map() }
const draft = { status: 'draft' }
const active = { status: 'active' }
const held = { status: 'on-hold' }

const open = status('active', 'on-hold')

/** What becomes of a thing: it is made, changed, deleted. */
const steps: Record<string, [now: JsonObject | undefined, before: JsonObject | undefined]> = {
  'made as a draft': [draft, undefined],
  'made active': [active, undefined],
  activated: [active, draft],
  held: [held, active],
  drafted: [draft, active],
  'deleted as a draft': [undefined, draft],
  'deleted while active': [undefined, active],
}

const truths: readonly [string, Claim, readonly string[]][] = [
  ['is', is(open), ['made active', 'activated', 'held']],
  ['was', was(open), ['held', 'drafted', 'deleted while active']],
  ['exists', exists, ['made as a draft', 'made active', 'activated', 'held', 'drafted']],
  ['gone', gone, ['deleted as a draft', 'deleted while active']],
  ['appeared', appeared, ['made as a draft', 'made active']],
  ['entered', entered(open), ['made active', 'activated']],
  ['left', left(open), ['drafted', 'deleted while active']],
  ['stayed', stayed(open), ['held']],
  ['became one status', became('active'), ['made active', 'activated']],
  ['became one of two', became('active', 'draft'), ['made as a draft', 'made active']],
  ['changed', changed, ['activated', 'held', 'drafted']],
  ['not', not(exists), ['deleted as a draft', 'deleted while active']],
  ['all', all(exists, was(open)), ['held', 'drafted']],
  ['any', any(gone, appeared), ['made as a draft', 'made active', 'deleted as a draft', 'deleted while active']],
  ['both', is(both(open, status('on-hold', 'draft'))), ['held']],
]

describe('a claim about a step', () => {
  test.each(truths)('%s', (_name, claim, expected) => {
    const found = Object.entries(steps).filter(([, [now, before]]) => claim({ id: 'it', now, before, around }))
    expect(found.map(([name]) => name)).toEqual(expected)
  })

  test('who wrote something when, and how it is put in words, is no change of what it says', () => {
    const before = { status: 'final', meta: { versionId: '1' }, text: { div: '<div>one</div>' }, language: 'fr' }
    expect(changedElements({ status: 'final', meta: { versionId: '2' } }, before)).toEqual([])
  })

  test('the same in another order of names is no change, in another order of a list it is one', () => {
    const before = { code: { text: 'x', coding: [{ code: 'a' }, { code: 'b' }] } }
    expect(changedElements({ code: { coding: [{ code: 'a' }, { code: 'b' }], text: 'x' } }, before)).toEqual([])
    expect(changedElements({ code: { coding: [{ code: 'b' }, { code: 'a' }], text: 'x' } }, before)).toEqual(['code'])
  })
})
