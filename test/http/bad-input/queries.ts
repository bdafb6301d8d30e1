// Queries, which are also what forms of FHIR searches hold.
import type { Operation } from './description.ts'
import { badTexts, generated, pick, type Roll } from './values.ts'
import type { World } from './world.ts'

const isSearch = ({ isFhir, path }: Operation): boolean => isFhir && /(\{type\}|_search|R4\/[A-Z]\w+|R4)$/.test(path)

export function queryOf(operation: Operation, world: World, roll: Roll, isWrong: boolean): string {
  const own = operation.parameters.filter(each => each.in === 'query')
  const written: string[] = []
  const add = (name: string, value: string) => void written.push(pair(name, value, roll, isWrong))
  for (const { name, schema, required = false } of own) {
    if (!required && roll(own.length + 2) > 1) continue
    if (required && isWrong && roll(6) === 0) continue
    const isTold = schema.enum !== undefined || schema.examples !== undefined || world.pool.has(name)
    if (isWrong && roll(2) === 0) add(name, pick(roll, badTexts))
    else if (required || isTold || roll(4) === 0) add(name, String(generated(schema, name, roll, world.pool)))
  }
  if (isSearch(operation))
    for (let count = roll(3); count > 0; count--) add(pick(roll, world.searchNames), searched(world, roll))
  else if (isWrong) add(pick(roll, badTexts), pick(roll, badTexts))
  if (isWrong && written.length > 0 && roll(5) === 0) written.push(written[0]!)
  return written.join('&')
}

function searched({ pool }: World, roll: Roll): string {
  const known = pool.get(pick(roll, ['id', 'code', 'reference', 'system', 'value', 'lastUpdated', 'display'])) ?? ['1']
  const value = pick(roll, known)
  const all = [
    value,
    `|${value}`,
    `${value}|${value}`,
    `ge${value}`,
    `${value},${value}`,
    pick(roll, badTexts),
    pick(roll, badTexts),
  ]
  return pick(roll, all)
}

const modifiers = [
  '',
  '',
  '',
  '',
  ':exact',
  ':missing',
  ':not',
  ':in',
  ':identifier',
  ':Patient',
  ':of-type',
  '.name',
  ':below',
  ':x',
  ':',
]

export function pair(name: string, value: string, roll: Roll, isWrong: boolean): string {
  const full = isWrong && roll(3) === 0 ? name + pick(roll, modifiers) : name
  const text = `${encodeURIComponent(full.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`
  return isWrong && roll(20) === 0 ? `${text}%` : text
}
