// Suggests the element that the sender of an unknown element probably meant.

import type { TypeModel } from '../../definitions/model.ts'
import { elementByJsonKey, jsonKey, typeModel } from '../../definitions/r4.ts'
import { didYouMean, nearest } from '../../lib/nearest.ts'

/** The message for a JSON key that its type does not have. */
export function unknownElement(model: TypeModel, key: string): string {
  const shown = key.length > 60 ? `${key.slice(0, 60)}…` : key
  if (key.startsWith('_') && elementByJsonKey(model.name, key.slice(1))) {
    return `\`${shown}\` is not allowed: only a primitive has a sibling element with an id or extensions`
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
  const keys = [...model.elements.values()].flatMap(element => element.types.map(type => jsonKey(element, type)))
  const meant = nearest(key, keys)
  return didYouMean(meant)
}
