// What a check of the trail tells people, and the heads of an earlier check.
import { expect, test } from 'vitest'
import { anchorText, reportedHeads, verdictText } from '../../src/audit/verdict.ts'

test('a trail that is whole is told in one line', () => {
  const verdict = { isWhole: true, chains: 2, rows: 8, broken: [], heads: [], archived: [] }
  expect(verdictText(verdict)).toBe('The audit trail is intact: 8 rows in 2 chains.\n')
})

test('every place where a trail is broken is told', () => {
  const broken = [
    { chain: 1, problem: 'the chain is missing' },
    { chain: 2, sequence: 7, problem: 'the row is missing' },
  ]
  expect(verdictText({ isWhole: false, chains: 2, rows: 6, broken, heads: [], archived: [] })).toBe(
    [
      'The audit trail is broken, first at chain 1.',
      '  chain 1: the chain is missing',
      '  chain 2, row 7 (AuditEvent/2-7): the row is missing',
      'Good: 6 rows of 2 chains.',
      '',
    ].join('\n'),
  )
})

test('an anchor is told as turned off, absent, whole or broken', () => {
  const anchored = { lines: 3, last: { time: '2026-05-01T10:00:00.000Z' }, seen: [], heads: new Map(), problems: [] }
  expect(anchorText(undefined, undefined)).toMatch(/^The anchor is disabled/)
  expect(anchorText('/a', undefined)).toMatch(/^There is no anchor in \/a yet/)
  // The file is there, and empty.
  expect(anchorText('/a', { ...anchored, lines: 0, last: undefined } as never)).toMatch(
    /^There is no anchor in \/a yet/,
  )
  expect(anchorText('/a', anchored as never)).toBe(
    'The anchor is intact: 3 lines, the last of 2026-05-01T10:00:00.000Z.\n',
  )
  expect(anchorText('/a', { ...anchored, problems: ['a, line 1: cut', 'b, line 2: cut'] } as never)).toBe(
    'The anchor is broken.\n  a, line 1: cut\n  b, line 2: cut\n',
  )
})

test('heads of an earlier check are read from its JSON, all of them or none', () => {
  const head = { chain: 1, sequence: 5, hash: 'ab' }
  expect(reportedHeads(JSON.stringify({ heads: [head] }))).toEqual([{ ...head, by: 'an earlier check' }])
  const wrong = [{ chain: 1.5 }, { chain: '1' }, { sequence: null }, { hash: 7 }]
  for (const each of wrong)
    expect(() => reportedHeads(JSON.stringify({ heads: [head, { ...head, ...each }] }))).toThrow(
      'known heads is not the --json output',
    )
  for (const text of ['', '{}', 'null', '{"heads":7}'])
    expect(() => reportedHeads(text)).toThrow('known heads is not the --json output')
  expect(() => reportedHeads('')).toThrow(expect.objectContaining({ cause: expect.any(SyntaxError) }))
})
