// Which names the types and elements of logical models may have.

import { shown } from './problem.ts'

/** What every object has of itself in JavaScript, and what would be harmed if data were written there. */
const HARMFUL = new Set(['__proto__', 'constructor', 'prototype'])

/** The signs that FHIR keeps out of names (eld-19). https://hl7.org/fhir/R4/elementdefinition.html#invs */
const PLAIN = /^[^\s.,:;'"`/|?!@#$%&*()[\]{}]{1,64}$/

/** Returns the name if it is valid; `where` is what the Error names as its owner. */
export function plainName(name: string, where: string): string {
  if (HARMFUL.has(name)) throw new Error(`${where}: reserved name ${shown(name)}`)
  if (!PLAIN.test(name))
    throw new Error(`${where}: ${shown(name)} is not a valid name: it contains spaces or punctuation`)
  return name
}
