// String functions. http://hl7.org/fhirpath/N1/#string-manipulation

import type { Position } from '../ast.ts'
import { executionError } from '../errors.ts'
import { type CallSite, EMPTY, type Items, only, type State, type Typed, typed } from '../node.ts'
import { requireKinds } from '../operators.ts'
import { spend } from '../steps.ts'
import { kindOf, stringOf } from '../values.ts'
import { decode, encode, escapeText, unescapeText } from './encoding.ts'
import { collectionFunction, type FunctionSpec, type Functions, singletonFunction } from './spec.ts'

type Result = string | number | boolean | readonly string[] | undefined
type Run = (text: string, args: readonly (string | number)[], at: Position) => Result

export const strings: Functions = {
  indexOf: onText([String], 'Integer', (text, [part]) => text.indexOf(`${part}`)),
  lastIndexOf: onText([String], 'Integer', (text, [part]) => text.lastIndexOf(`${part}`)),
  substring: onText([Number, Number], 'String', substring, 1),
  startsWith: onText([String], 'Boolean', (text, [start]) => text.startsWith(`${start}`)),
  endsWith: onText([String], 'Boolean', (text, [end]) => text.endsWith(`${end}`)),
  contains: onText([String], 'Boolean', (text, [inner]) => text.includes(`${inner}`)),
  upper: onText([], 'String', text => text.toUpperCase()),
  lower: onText([], 'String', text => text.toLowerCase()),
  trim: onText([], 'String', text => text.trim()),
  length: onText([], 'Integer', text => text.length),
  toChars: onText([], 'String', text => [...text]),
  split: onText([String], 'String', (text, [separator]) => text.split(`${separator}`)),
  replace: onText([String, String], 'String', (text, [old, by]) => replace(text, `${old}`, `${by}`)),
  matches: onText([String], 'Boolean', (text, [pattern], at) => regex(`${pattern}`, at).test(text)),
  matchesFull: onText([String], 'Boolean', (text, [pattern], at) => regex(`^(?:${pattern})$`, at).test(text)),
  replaceMatches: onText([String, String], 'String', (text, [pattern, by], at) =>
    pattern === '' ? text : text.replace(everyMatch(regex(`${pattern}`, at)), `${by}`),
  ),
  encode: onText([String], 'String', (text, [format]) => encode(text, `${format}`)),
  decode: onText([String], 'String', (text, [format]) => decode(text, `${format}`)),
  escape: onText([String], 'String', (text, [format]) => escapeText(text, `${format}`)),
  unescape: onText([String], 'String', (text, [format]) => unescapeText(text, `${format}`)),
  join: collectionFunction(
    [0, 1],
    (input, [separator], state) => {
      const texts = input.map(stringOf).filter(text => text !== undefined)
      const between = stringOf(separator?.[0]) ?? ''
      const length = texts.reduce((sum, text) => sum + text.length + between.length, 0)
      // Before it is made: a long separator between many texts takes the memory of the process.
      spend(state, Math.floor(length / 32))
      return [typed(texts.join(between), 'System.String')]
    },
    () => ['System.String'],
  ),
}

/** A function of one string. An argument that is empty makes the result empty. */
function onText(
  parameters: readonly (typeof String | typeof Number)[],
  result: 'String' | 'Integer' | 'Boolean',
  run: Run,
  required = parameters.length,
): FunctionSpec {
  const type = `System.${result}`
  const spec = singletonFunction(
    [required, parameters.length],
    (input, args, state, at) => {
      const values: (string | number)[] = []
      for (let i = 0; i < args.length; i++) {
        const value = argument(args[i]!, parameters[i]!, at)
        if (value !== undefined) values.push(value)
      }
      if (values.length < args.length) return EMPTY
      const text = textOf(input, at)
      for (const value of values) spendSearch(state, text, value)
      const result = run(text, values, at)
      spendResult(state, result)
      return toItems(result, type)
    },
    () => [type],
  )
  return { ...spec, build: call => spec.build(checked(call)) }
}

/** Looking for one text in another compares each of its characters with each of the other at worst. */
function spendSearch(state: State, text: string, part: string | number): void {
  if (typeof part === 'string') spend(state, Math.ceil((text.length * part.length) / 512))
}

function spendResult(state: State, result: Result): void {
  if (typeof result === 'string') spend(state, result.length >> 5)
  else if (Array.isArray(result)) spend(state, result.length)
}

function checked(call: CallSite): CallSite {
  requireKinds(call.input, ['System.String'], `${call.name}()`, call.at)
  return call
}

function argument(items: Items, kind: typeof String | typeof Number, at: Position): string | number | undefined {
  const item = only(items, at)
  if (item?.value === undefined) return undefined
  if (kind === String && typeof item.value === 'string') return item.value
  if (kind === Number && typeof item.value === 'number' && Number.isInteger(item.value)) return item.value
  throw executionError(`expected ${kind === String ? 'a string' : 'a whole number'} as argument`, at)
}

function textOf(item: Typed, at: Position): string {
  const text = kindOf(item) === undefined ? undefined : stringOf(item)
  if (text === undefined) throw executionError('expected a string', at)
  return text
}

function toItems(result: Result, type: string): Items {
  if (result === undefined) return EMPTY
  return Array.isArray(result) ? result.map(text => typed(text, type)) : [typed(result, type)]
}

function substring(text: string, [start = 0, length]: readonly (string | number)[]): Result {
  const from = Number(start)
  if (from < 0 || from >= text.length) return undefined
  return length === undefined ? text.slice(from) : text.slice(from, from + Math.max(0, Number(length)))
}

/** An empty pattern puts the replacement around every character. http://hl7.org/fhirpath/N1/#replacepattern-string-substitution-string-string */
function replace(text: string, old: string, by: string): string {
  return old === '' ? by + [...text].map(char => char + by).join('') : text.split(old).join(by)
}

const regexes = new Map<string, RegExp>()

/**
 * A regular expression of an expression: `.` also matches line ends. Patterns come from expressions, and expressions
 * from definitions and mappings, never from a request's data, so their running time is not guarded.
 */
function regex(source: string, at: Position): RegExp {
  const known = regexes.get(source)
  if (known) return known
  const made = tryRegex(source, 'su') ?? tryRegex(source, 's')
  if (!made) throw executionError(`'${source}' is not a regular expression`, at)
  if (regexes.size < 1000) regexes.set(source, made)
  return made
}

const everyMatches = new WeakMap<RegExp, RegExp>()

/** The same expression for all its matches; `replace` begins at the start each time, so it can be used again. */
function everyMatch(pattern: RegExp): RegExp {
  let every = everyMatches.get(pattern)
  if (!every) everyMatches.set(pattern, (every = new RegExp(pattern, `g${pattern.flags}`)))
  return every
}

function tryRegex(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags)
  } catch {
    return undefined
  }
}
