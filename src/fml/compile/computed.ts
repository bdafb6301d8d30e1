// What transforms have in common: the one value of an argument, its text, and values made of it.

import { EMPTY, type Items, type Typed, typed } from '../../fhirpath/node.ts'
import { textOf } from '../run/convert.ts'
import type { Frame } from '../run/frame.ts'
import { Refusal } from '../run/map-error.ts'
import type { Value } from './value.ts'

/** A value of a type that is known, computed when the rule runs. */
export function simple(type: string, run: (frame: Frame) => Items): Value {
  return { types: [type], codes: undefined, constant: undefined, run }
}

/** The one value of an argument; several are an error, none is undefined. */
export function single(value: Value | undefined, frame: Frame): Typed | undefined {
  const items = value?.run(frame) ?? EMPTY
  if (items.length > 1) throw new Refusal(`one value is needed here, and there are ${items.length}`)
  return items[0]?.value === undefined ? undefined : items[0]
}

/** The one value of an argument as a text. */
export function textIn(value: Value | undefined, frame: Frame): string | undefined {
  const constant = value?.constant?.value
  if (typeof constant === 'string') return constant
  const item = single(value, frame)
  if (item === undefined) return undefined
  if (typeof item.value === 'object' && item.type !== '' && !isPlain(item))
    throw new Refusal(`a text is needed here, not a ${item.type}`)
  return textOf(item.value)
}

function isPlain({ type }: Typed): boolean {
  return type.startsWith('System.') || /^[a-z]/.test(type)
}

/** A value made of the text of an argument; nothing where the argument has nothing. */
export function ofText(type: string, value: Value | undefined, make: (text: string, frame: Frame) => unknown): Value {
  return simple(type, frame => {
    const text = textIn(value, frame)
    return text === undefined ? EMPTY : [typed(make(text, frame), type)]
  })
}
