// Displays in other languages, which are designations of a concept (https://hl7.org/fhir/R4/codesystem.html#designations).
import type { JsonObject } from '../../lib/json.ts'
import { text } from '../../store/values.ts'

/** A concept as it is shown. */
interface Named {
  readonly display?: string | undefined
  readonly designations?: readonly JsonObject[]
}

/** Uses of designations that are shown in place of the display. */
const shownUses: ReadonlySet<unknown> = new Set([undefined, 'display', 'preferred', 'preferredForLanguage'])

/**
 * Returns the display in a language, as exactly as there is one: fr-CM, else fr, else that of another region. A concept without a name in
 * the language has its own display.
 * @param language a code of BCP 47, in any case; undefined: the display
 */
export function displayIn({ display, designations = [] }: Named, language: string | undefined): string | undefined {
  if (language === undefined) return display
  const wanted = language.toLowerCase()
  const isOf = (each: JsonObject, level: number): boolean => likeness(text(each['language']), wanted) === level
  const isShown = ({ use }: JsonObject): boolean => shownUses.has((use as JsonObject | undefined)?.['code'])
  for (const level of [2, 1])
    for (const found of [designations.filter(isShown), designations]) {
      const value = text(found.find(each => isOf(each, level))?.['value'])
      if (value !== undefined) return value
    }
  return display
}

/** 2: the same language; 1: the same with another region or none; 0: another language. */
function likeness(language: string | undefined, wanted: string): number {
  const given = language?.toLowerCase()
  if (given === wanted) return 2
  return given !== undefined && given.split('-')[0] === wanted.split('-')[0] ? 1 : 0
}

/** The display and all designations of a concept. */
export const namesOf = ({ display, designations = [] }: Named): string[] =>
  [display, ...designations.map(({ value }) => text(value))].filter(each => each !== undefined)
