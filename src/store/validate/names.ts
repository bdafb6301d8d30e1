// What someone who wrote an unknown element probably meant.

import type { TypeModel } from '../../definitions/model.ts'
import { elementByJsonKey, jsonKey, typeModel } from '../../definitions/r4.ts'

/** The message for a JSON key that its type does not have. */
export function unknownElement(model: TypeModel, key: string): string {
  const shown = key.length > 60 ? `${key.slice(0, 60)}…` : key
  if (key.startsWith('_') && elementByJsonKey(model.name, key.slice(1))) {
    return `\`${shown}\` is not possible: only a primitive has an id or extensions beside it`
  }
  return choiceMessage(model, shown) ?? `${model.name} has no element \`${shown}\`${suggestion(model, key)}`
}

// `value` for `valueQuantity`, `valueAddress` where no Address may stand.
function choiceMessage(model: TypeModel, key: string): string | undefined {
  for (const element of model.elements.values()) {
    if (!element.choice || !key.startsWith(element.name)) continue
    const keys = element.types.map(type => jsonKey(element, type))
    const list = keys.length > 12 ? `${keys.slice(0, 12).join(', ')}…` : keys.join(', ')
    if (key === element.name) return `\`${key}\` is written with its type: ${list}`
    const type = key.slice(element.name.length)
    if (typeModel(type) ?? typeModel(type.charAt(0).toLowerCase() + type.slice(1))) {
      return `\`${element.name}\` of ${model.name} cannot be of type ${type}; possible are ${list}`
    }
  }
  return undefined
}

function suggestion(model: TypeModel, key: string): string {
  if (key.length > 60) return ''
  const keys = [...model.elements.values()].flatMap(element => element.types.map(type => jsonKey(element, type)))
  let best = ''
  let least = Math.min(3, Math.ceil(key.length / 3)) + 1
  for (const candidate of keys) {
    const distance = editDistance(key.toLowerCase(), candidate.toLowerCase())
    if (distance < least) [best, least] = [candidate, distance]
  }
  return best && `; did you mean \`${best}\`?`
}

// Levenshtein's distance, one row at a time.
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(change, previous[j]! + 1, row[j - 1]! + 1))
    }
    previous = row
  }
  return previous[b.length]!
}
