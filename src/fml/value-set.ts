// Value sets for `memberOf()`: whether they hold a code, as far as their definition decides it here.
// https://hl7.org/fhir/R4/valueset.html#compositions

import { isJson, type Json, objects, string } from './resource-parts.ts'
import { unversioned } from './structures.ts'

/** A value set. */
interface ValueSet {
  /** Whether it holds a code, of any of its systems where none is named; undefined where that is not known here. */
  has(code: string, system: string | undefined): boolean | undefined
}

/** What a definition draws upon. */
export interface Terminology {
  valueSet(url: string): ValueSet | undefined
  /** The URLs of value sets and code systems next to the maps, for suggestions. */
  readonly urls: readonly string[]
  /** The CodeSystem resource of a URL. */
  codeSystem(url: string): Json | undefined
}

/** A value set whose codes are listed by system; `''` stands for codes without a system. */
function listedValueSet(systems: ReadonlyMap<string, ReadonlySet<string>>): ValueSet {
  return {
    has(code, system) {
      if (system !== undefined) return systems.get(system)?.has(code) ?? false
      for (const codes of systems.values()) if (codes.has(code)) return true
      return false
    },
  }
}

/** The value set that a resource defines: by its expansion if this is whole, otherwise by its definition. */
function valueSetOfResource({ expansion, compose }: Json, terminology: Terminology): ValueSet {
  const expanded = isJson(expansion) && wholeExpansion(expansion)
  if (expanded) return listedValueSet(expanded)
  const definition = isJson(compose) ? compose : {}
  const [include, exclude] = [definition.include, definition.exclude].map(parts =>
    objects(parts).map(part => partOf(part, terminology)),
  )
  return {
    has(code, system) {
      const isIn = some(include!, code, system)
      if (isIn === false) return include!.length > 0 ? false : undefined
      const isOut = some(exclude!, code, system)
      return isOut === true ? false : isOut === undefined ? undefined : isIn
    },
  }
}

/** The codes of an expansion by system; undefined if it is only a page. */
function wholeExpansion({ contains, total }: Json): ReadonlyMap<string, ReadonlySet<string>> | undefined {
  const systems = new Map<string, Set<string>>()
  const waiting = [...objects(contains)]
  let listed = 0
  for (let each = waiting.pop(); each; each = waiting.pop()) {
    listed++
    waiting.push(...objects(each.contains))
    if (string(each.code) !== undefined && each.abstract !== true)
      add(systems, string(each.system) ?? '', string(each.code)!)
  }
  return typeof total === 'number' && total > listed ? undefined : systems
}

function add(systems: Map<string, Set<string>>, system: string, code: string): void {
  const codes = systems.get(system)
  if (codes) codes.add(code)
  else systems.set(system, new Set([code]))
}

/** One include or exclude: the codes of its system that all its value sets hold. */
function partOf(part: Json, terminology: Terminology): ValueSet {
  const system = string(part.system)
  const imports = Array.isArray(part.valueSet) ? part.valueSet.map(String) : []
  let own: ValueSet | undefined
  return {
    has(code, asked) {
      own ??= system === undefined ? undefined : systemPart(part, system, terminology)
      let answer = own ? own.has(code, asked) : imports.length > 0 ? true : undefined
      for (const url of imports) {
        if (answer === false) return false
        const imported = terminology.valueSet(url)?.has(code, asked)
        if (imported !== true) answer = imported
      }
      return answer
    },
  }
}

function systemPart(part: Json, system: string, { codeSystem }: Terminology): ValueSet {
  const listed = codesIn(part)
  if (listed.size > 0) return listedValueSet(new Map([[system, listed]]))
  const resource = codeSystem(system)
  const codes = resource?.content === 'complete' && objects(part.filter).length === 0 ? codesIn(resource) : undefined
  return {
    has(code, asked) {
      if (asked !== undefined && asked !== system) return false
      return codes?.has(code)
    },
  }
}

/** The codes of a part that lists them, or of a CodeSystem. */
export function codesIn(holder: Json): ReadonlySet<string> {
  const codes = new Set<string>()
  const waiting = [...objects(holder.concept)]
  for (let each = waiting.pop(); each; each = waiting.pop()) {
    waiting.push(...objects(each.concept))
    if (string(each.code) !== undefined) codes.add(string(each.code)!)
  }
  return codes
}

/** True if one of them holds the code; undefined if one might. */
function some(sets: readonly ValueSet[], code: string, system: string | undefined): boolean | undefined {
  let answer: boolean | undefined = false
  for (const each of sets) {
    const has = each.has(code, system)
    if (has === true) return true
    if (has === undefined) answer = undefined
  }
  return answer
}

/** Codings of a code, Coding, CodeableConcept or Quantity. */
export function codingsOf(value: unknown): { code: string; system: string | undefined }[] {
  if (typeof value === 'string') return [{ code: value, system: undefined }]
  if (!isJson(value)) return []
  if (Array.isArray(value.coding)) return value.coding.flatMap(each => (isJson(each) ? codingsOf(each) : []))
  const code = string(value.code)
  // A Coding without a system is in no value set.
  return code === undefined ? [] : [{ code, system: string(value.system) ?? '' }]
}

/** Returns the value sets and code systems of these resources by URL, together with the `known` ones. */
export function terminologyOf(
  resources: ReadonlyMap<string, Json>,
  known: (url: string) => ReadonlyMap<string, ReadonlySet<string>> | undefined,
): Terminology {
  const made = new Map<string, ValueSet | undefined>()
  const terminology: Terminology = {
    urls: [...resources.keys()],
    codeSystem: url => resourceAt(resources, url, 'CodeSystem'),
    valueSet(canonical) {
      const url = unversioned(canonical)
      if (!made.has(url)) made.set(url, make(url))
      return made.get(url)
    },
  }
  const make = (url: string): ValueSet | undefined => {
    const resource = resourceAt(resources, url, 'ValueSet')
    const systems = resource ? undefined : known(url)
    if (resource) return once(valueSetOfResource(resource, terminology))
    return systems && listedValueSet(systems)
  }
  return terminology
}

/** For maps without other resources: all value sets are unknown. */
export const NO_TERMINOLOGY: Terminology = terminologyOf(new Map(), () => undefined)

function resourceAt(resources: ReadonlyMap<string, Json>, url: string, type: string): Json | undefined {
  const found = resources.get(unversioned(url))
  return found?.resourceType === type ? found : undefined
}

/** A value set that imports itself has no defined content. */
function once(set: ValueSet): ValueSet {
  let isAsked = false
  return {
    has(code, system) {
      if (isAsked) return undefined
      isAsked = true
      try {
        return set.has(code, system)
      } finally {
        isAsked = false
      }
    },
  }
}
