// A created value must have what its type requires.
// https://hl7.org/fhir/R4/elementdefinition-definitions.html#ElementDefinition.min

import { jsonKey } from '../../fhirpath/types.ts'
import { type Build, type Creation, isMade, lenient, report } from './scope.ts'

/** An element that its type requires. */
export interface Required {
  readonly type: string
  readonly element: string
}

/** Reports the required elements that no rule can set. */
export function checkMade(build: Build): Required[] {
  return build.creations.flatMap(creation => checkCreation(creation, build))
}

function checkCreation({ type, made, unit, span }: Creation, build: Build): Required[] {
  const missing: Required[] = []
  if (made.elements.size === 0 && made.also.size === 0) return missing
  const elements = build.system.model.typeModel(type)?.elements.values() ?? []
  for (const element of elements) {
    if (element.min === 0 || isMade(made, element.name)) continue
    const keys = element.types.slice(0, 3).map(each => jsonKey(element, each))
    const name = element.choice
      ? `${element.name}[x] (${keys.join(', ')}${element.types.length > 3 ? '…' : ''})`
      : element.name
    report({ build, unit }, span, `${type} needs \`${name}\`, which no rule sets`, lenient(build))
    missing.push({ type, element: element.choice ? `${element.name}[x]` : element.name })
  }
  return missing
}
