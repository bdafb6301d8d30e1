// The ids by which a client, an agent and a user name the resource that they belong to, checked when they are created.
import { Failure } from '../lib/failure.ts'
import { isId } from '../store/ids.ts'

/**
 * Checks an id before it is stored: references are made of it, and one that is no FHIR id would fail in each of them later.
 * @param what what it identifies, as messages call it: `organization`
 * @throws Failure VALIDATION_FAILED if it is no FHIR id.
 */
export function mustBeResourceId(id: string, what: 'organization' | 'facility'): void {
  const isUsable: boolean = isId(id)
  if (isUsable) return
  throw new Failure(
    'VALIDATION_FAILED',
    `"${id.slice(0, 100)}" is not the id of a resource: give the id of the ${what}, not its name; an id has 1 to 64 letters, digits, hyphens and dots.`,
  )
}
