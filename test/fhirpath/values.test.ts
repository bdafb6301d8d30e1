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
    ["@1973-12-25T00:00:00.000+10:00 + 0.1 's'", ['1973-12-25T00:00:00.100+10:00']],
    ["@1973-12-25T00:00:00.000+10:00 - 0.001 's'", ['1973-12-24T23:59:59.999+10:00']],
    ['@1973-12-25T00:00:00Z + 1.5 seconds', ['1973-12-25T00:00:01.500Z']],
    ["@1973-12-25T00:00:00Z + 1.0 's'", ['1973-12-25T00:00:01Z']],
    ["@1973-12-25T00:00Z + 90.5 's'", ['1973-12-25T00:01Z']],
    ['@1973-12-25T00:00:00Z + 1.9 minutes', ['1973-12-25T00:01:00Z']],
    ["@T23:59:59.950 + 0.1 's'", ['00:00:00.050']],
    ['@2016-12-31T23:59:60Z', ['2016-12-31T23:59:60Z']],
    ['@2016-12-31T23:59:60Z > @2016-12-31T23:59:59.999Z', [true]],
    ['@2016-12-31T23:59:60Z < @2017-01-01T00:00:00Z', [true]],
    ['@2016-12-31T23:59:60Z = @2017-01-01T00:59:60+01:00', [true]],
    ["@2016-12-31T23:59:60Z + 1 's'", ['2017-01-01T00:00:01Z']],
    ["'2016-12-31T23:59:60.5Z'.convertsToDateTime()", [true]],
    ["'2016-12-31T23:59:61Z'.convertsToDateTime()", [false]],
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
    ['12 months = 1 year', [true]],
    ['13 months > 1 year', [true]],
    ['11 months = 1 year', [false]],
    ['365 days = 1 year', []],
    ["12 months = 1 'a'", []],
    ["37 'Cel' = 98.6 '[degF]'", [true]],
    ["37 'Cel' = 310.15 'K'", [true]],
    ["38.5 'Cel' > 100 '[degF]'", [true]],
    ["37.0 'Cel' ~ 98.6 '[degF]'", [true]],
    ["0 'Cel' = 0 'K'", [false]],
    ["37 'Cel' + 1 'Cel' = 38 'Cel'", [true]],
    ["37 'Cel' + 1 'K'", []],
    ["1 'W/Cel' = 1 'W/K'", [true]],
    ["10 'dB' = 1 'B'", [true]],
    ["1 '[degF]' * 1 'm'", []],
    ["1 'deg' < 1 'rad'", [true]],
    ["1 'mL/(kg.min)' = 1 'mL/kg/min'", [true]],
    ["(500 'mg').toQuantity('g') = 0.5 'g'", [true]],
    ["(500 'mg').toQuantity('g').toString()", ["0.5 'g'"]],
    ["(37 'Cel').toQuantity('[degF]').toString()", ["98.6 '[degF]'"]],
    ["(98.6 '[degF]').toQuantity('Cel').toString()", ["37 'Cel'"]],
    ["45.toQuantity('m').toString()", ["45 'm'"]],
    ["(24 'm').toQuantity('kg')", []],
    ["(10 'mg').convertsToQuantity('g')", [true]],
    ["(10 'mg').convertsToQuantity('L')", [false]],
    ["(1 'a').toQuantity('d').toString()", ["365.25 'd'"]],
    ["(182.5 days).toQuantity('a').toString()", ["0.5 'a'"]],
    ["(24 months).toQuantity('years').toString()", ['2 year']],
    ["(7 days).toQuantity('wk').toString()", ["1 'wk'"]],
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

describe('texts that are dates in other forms', () => {
  test.each([
    ["'31/12/2024'.toDate('dd/MM/yyyy')", ['2024-12-31']],
    ["'150124'.toDate('ddMMyy')", ['2024-01-15']],
    ["'12-27'.toDate('MM-yy')", ['2027-12']],
    ["'1/2/1964'.toDate('d/M/yyyy')", ['1964-02-01']],
    ["'30/02/2024'.toDate('dd/MM/yyyy')", []],
    ["'2024-12-31'.toDate('dd/MM/yyyy')", []],
    ["@2024-12-31T10:00:00Z.toDate('dd/MM/yyyy')", ['2024-12-31']],
    ["'31/12/2024'.convertsToDate('dd/MM/yyyy')", [true]],
    ["'31.12.2024'.convertsToDate('dd/MM/yyyy')", [false]],
    ["'20241231235960+0100'.toDateTime('yyyyMMddHHmmssZ')", ['2024-12-31T23:59:60+01:00']],
    ["'2024-12-31 11:05:09.1234 PM'.toDateTime('yyyy-MM-dd hh:mm:ss.SSSS a')", ['2024-12-31T23:05:09.123']],
    ["'31/12/24 12:30 am'.toDateTime('dd/MM/yy h:mm a')", ['2024-12-31T00:30']],
    ["'20241231'.toDateTime('yyyyMMdd')", ['2024-12-31']],
    ["'2024-12-31T10:00Z'.toDateTime('yyyy-MM-ddTHH:mmZ')", ['2024-12-31T10:00Z']],
  ])('%s', check)

  test.each([
    ["'x'.toDate('DD/MM/YYYY')", '`DD` is not a format code; did you mean `dd`?'],
    ["'x'.toDate('dd/MM/YYYY')", '`YYYY` is not a format code; did you mean `yyyy`?'],
    ["'x'.toDate('yyyy-mm-dd')", 'the format has a day without a month (`MM`)'],
    ["'x'.toDate('dd MMM yyyy')", 'the format code `MMM` is not supported'],
    ["'x'.toDateTime('yyyy-MM-dd hh:mm')", '`h` and `hh` are hours of half a day, which need `a`'],
    ["'x'.toDateTime('HH:mm')", 'the format has no year (`yyyy`)'],
    ["'x'.toDate('MM/MM/yyyy')", 'the format contains the month twice'],
  ])('%s is an error', (expression, message) => {
    expect(() => compile(expression, { model: { typeModel } })(undefined)).toThrow(message)
  })
})

function check(expression: string, values: unknown[]): void {
  expect(compile(expression, { model: { typeModel } })(undefined)).toEqual(values)
}
