// Where a Reference may point (https://hl7.org/fhir/R4/references.html).

import { isResourceType } from '../../definitions/r4.ts'
import { noteLocal, quoted, report, type Walk } from './issues.ts'

const relative = /^([A-Za-z]+)\/[A-Za-z0-9\-.]{1,64}(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/
const conditional = /^([A-Za-z]+)\?\S+$/
const absolute = /^[A-Za-z][A-Za-z0-9+.-]*:./

/** True for a URI with a scheme: `https://…`, `urn:uuid:…`. */
export function isAbsoluteUri(uri: string): boolean {
  return uri.startsWith('http://') || uri.startsWith('https://') || absolute.test(uri)
}

/** Checks the `reference` of a Reference against the types its element may point at. */
export function checkReference(
  { reference }: Record<string, unknown>,
  targets: ReadonlySet<string> | undefined,
  walk: Walk,
): void {
  if (typeof reference !== 'string' || reference === '') return
  const problem = reference.startsWith('#') ? localProblem(reference, walk) : typeProblem(reference, targets, walk)
  if (problem) report(walk, 'value', `${quoted(reference)} ${problem}`, 'reference')
}

function localProblem(reference: string, walk: Walk): string | undefined {
  noteLocal(walk, reference)
  return reference === '#' || walk.container.ids.has(reference.slice(1))
    ? undefined
    : 'is not among the contained resources'
}

function typeProblem(reference: string, targets: ReadonlySet<string> | undefined, walk: Walk): string | undefined {
  const type = (relative.exec(reference) ?? conditional.exec(reference))?.[1]
  if (type === undefined)
    return absolute.test(reference) ? undefined : 'is not a reference: Type/id, a URL, urn:… or #id'
  if (!isResourceType(type)) return `names ${type}, which is not a resource type`
  if (reference.includes('?') && !walk.conditional)
    return 'is a conditional reference, which is allowed in a transaction only'
  return targets && !targets.has(type) ? `is not one of ${[...targets].join(', ')}` : undefined
}
