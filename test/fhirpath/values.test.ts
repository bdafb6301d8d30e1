// Dates, quantities and collections where the official suite does not look.

import { describe, expect, test } from 'vitest'
import { typeModel } from '../../src/definitions/r4.ts'
import { compile } from '../../src/fhirpath/compile.ts'

describe('dates', () => {
  test.each([
    ['@2024-01-31 + 1 month', ['2024-02-29']],
    ['@2024-02-29 + 1 year', ['2025-02-28']],
    ['@2024-02-29 - 12 months', ['2023-02-28']],
    ['@2014 + 24 months', ['2016']],
    ['@2014-01 + 40 days', ['2014-02']],
    ['@2023-12-31T23:59:59.5Z + 1 second', ['2024-01-01T00:00:00.500Z']],
    ['@2024-03-01T00:30+02:00 - 1 hour', ['2024-02-29T23:30+02:00']],
    ['@T23:30 + 45 minutes', ['00:15']],
    ['@9999-12-31 + 1 day', []],
    ['@2024-01-01T00:00Z = @2023-12-31T22:00-02:00', [true]],
    ['@2024-01-01T12:00 < @2024-01-03T12:00Z', [true]],
    ['@2024-01-01T12:00 < @2024-01-01T20:00Z', []],
    ['@2024-02 > @2024-01-31', [true]],
    ["'2024-02-30'.convertsToDate()", [false]],
    ['@2024-02-29T10:00:00Z.toDate()', ['2024-02-29']],
    ['@2024-02.highBoundary()', ['2024-02-29']],
    ['@2024-02-29T10:30.lowBoundary()', ['2024-02-29T10:30:00.000+14:00']],
  ])('%s', check)
})

describe('quantities', () => {
  test.each([
    ["1 '[in_i]' = 2.54 'cm'", [true]],
    ["1 'kg' > 2 '[lb_av]'", [true]],
    ["1 'mmol/L' = 1000 'umol/L'", [true]],
    ["120 'mm[Hg]' > 15 'kPa'", [true]],
    ["1 'mg' = 1 'mL'", [false]],
    ["1 'mg' < 1 'mL'", []],
    ["1 year = 1 'a'", []],
    ["1 year ~ 1 'a'", [true]],
    ["3 'mg' + 2 'g' = 2.003 'g'", [true]],
    ["(6 'mg' / 2).value", [3]],
    ["1 '{score}' = 1 '{score}'", [true]],
    ["1 'nonsense' = 1 'nonsense'", [true]],
  ])('%s', check)
})

describe('numbers', () => {
  test.each([
    ['0.1 + 0.2 = 0.3', [true]],
    ['-7 div 2', [-3]],
    ['-7 mod 2', [-1]],
    ['2.5.round()', [3]],
    ['(-2.5).round()', [-3]],
    ['10.power(-2)', [0.01]],
    ['1 / 3 * 3 > 0.99', [true]],
    ['0.ln()', []],
  ])('%s', check)
})

describe('collections', () => {
  test.each([
    ['(1 | 2 | 3).where($index > 0)', [2, 3]],
    ["('b' | 'a').sort($this desc)", ['b', 'a']],
    ['(1 | 2 | 3).select($this * 2).last()', [6]],
    ['(3 | 1).combine(1).distinct().count()', [2]],
    ['1.combine(1.0).isDistinct()', [false]],
    ['(1 | 2).subsetOf(1 | 2 | 3) and (1 | 2 | 3).supersetOf(3)', [true]],
    ['{} = 1', []],
    ['{} and false', [false]],
    ["iif({}, 1, 'no')", ['no']],
    ["'a,b'.split(',').join('-')", ['a-b']],
  ])('%s', check)
})

function check(expression: string, values: unknown[]): void {
  expect(compile(expression, { model: { typeModel } })(undefined)).toEqual(values)
}
