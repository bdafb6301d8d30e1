// Adds an example to the text of a file of examples, which stays as its authors wrote it.

import { isObject } from '../../lib/json.ts'
import type { Example } from '../examples.ts'

/** Characters of a line that a value is written on as a whole. */
const WIDTH = 110

/** Returns the text with one more example at its end; an empty text begins a list. @throws SyntaxError if the text is no list */
export function withExample(text: string, example: Pick<Example, 'name' | 'from' | 'context' | 'to'>): string {
  const item = `  ${written(example, '  ', true)}`
  if (text.trim() === '') return `[\n${item}\n]\n`
  const list: unknown = JSON.parse(text)
  if (!Array.isArray(list)) throw new SyntaxError('the examples are not a list')
  const end = text.lastIndexOf(']')
  const before = text.slice(0, end).trimEnd()
  return `${before}${list.length > 0 ? ',' : ''}\n${item}\n]\n`
}

/** JSON with a value on one line where it fits. */
function written(value: unknown, indent: string, isOpen = false): string {
  const whole = oneLine(value)
  if (!isOpen && whole.length + indent.length <= WIDTH) return whole
  const inner = `${indent}  `
  if (Array.isArray(value)) return `[\n${value.map(each => inner + written(each, inner)).join(',\n')}\n${indent}]`
  if (!isObject(value)) return whole
  const members = entriesOf(value).map(([key, each]) => `${inner}${JSON.stringify(key)}: ${written(each, inner)}`)
  return `{\n${members.join(',\n')}\n${indent}}`
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = entriesOf(value).map(([key, each]) => `${JSON.stringify(key)}: ${oneLine(each)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

const entriesOf = (value: object): [string, unknown][] => Object.entries(value).filter(([, each]) => each !== undefined)
