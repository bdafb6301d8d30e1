// Concept maps as `translate` looks codes up in them. https://hl7.org/fhir/R4/conceptmap.html

import type { ConceptMap, Mapping, Span } from '../ast.ts'
import { EQUIVALENCES, equivalenceIn, isJson, type Json, objects, string } from '../resource-parts.ts'

export interface Translation {
  readonly system: string
  readonly code: string
  readonly display: string | undefined
}

interface Entry {
  readonly sourceSystem: string
  /** Absent where the map states that there is no such concept. */
  readonly target: Translation | undefined
  /** https://hl7.org/fhir/R4/valueset-concept-map-equivalence.html */
  readonly equivalence: string
  /** Where the two codes stand in the text of a map. */
  readonly source?: Span
  readonly place?: Span
}

export interface Table {
  readonly entries: ReadonlyMap<string, readonly Entry[]>
  /** Systems whose codes stay as they are without an entry, and the system they then belong to. */
  readonly kept: ReadonlyMap<string, string>
  /** Codes without an entry become this, by the system they are of. */
  readonly fixed: ReadonlyMap<string, Translation>
}

/** The table of a `conceptmap` in a map. */
export function tableOf({ prefixes, mappings, unmapped }: ConceptMap): Table {
  const urls = new Map(prefixes.map(({ name, url }) => [name.text, url.text]))
  const entries = new Map<string, Entry[]>()
  const targets = new Map<string, string>()
  for (const mapping of mappings) {
    const entry = entryOf(mapping, urls)
    add(entries, mapping.source.code.text, entry)
    if (entry.target) targets.set(entry.sourceSystem, entry.target.system)
  }
  const kept = new Map<string, string>()
  for (const { prefix } of unmapped) {
    const about = prefix ? [urls.get(prefix.text) ?? ''] : [...new Set([...targets.keys(), ...urls.values()])]
    for (const system of about) kept.set(system, targets.get(system) ?? system)
  }
  return { entries, kept, fixed: new Map() }
}

function entryOf({ source, target, operator }: Mapping, urls: ReadonlyMap<string, string>): Entry {
  return {
    sourceSystem: urls.get(source.prefix.text) ?? '',
    target: target && { system: urls.get(target.prefix.text) ?? '', code: target.code.text, display: undefined },
    equivalence: EQUIVALENCES.get(operator) ?? 'relatedto',
    source: source.code.span,
    place: target?.code.span,
  }
}

function add(entries: Map<string, Entry[]>, code: string, entry: Entry): void {
  const list = entries.get(code)
  if (list) list.push(entry)
  else entries.set(code, [entry])
}

/** The table of a ConceptMap resource. */
export function tableOfResource(resource: Json): Table {
  const entries = new Map<string, Entry[]>()
  const kept = new Map<string, string>()
  const fixed = new Map<string, Translation>()
  for (const group of objects(resource.group)) {
    const [source, target] = [string(group.source) ?? '', string(group.target) ?? '']
    const translation = (of: Json): Translation | undefined =>
      string(of.code) === undefined
        ? undefined
        : { system: target, code: string(of.code)!, display: string(of.display) }
    for (const element of objects(group.element)) {
      for (const each of objects(element.target)) {
        const equivalence = equivalenceIn(each) ?? 'equivalent'
        add(entries, string(element.code) ?? '', { sourceSystem: source, target: translation(each), equivalence })
      }
    }
    const unmapped = isJson(group.unmapped) ? group.unmapped : {}
    const other = unmapped.mode === 'fixed' ? translation(unmapped) : undefined
    if (unmapped.mode === 'provided') kept.set(source, target || source)
    if (other) fixed.set(source, other)
  }
  return { entries, kept, fixed }
}

/** From the best to the least; what is not in the list does not translate. */
const USABLE = ['equal', 'equivalent', 'relatedto', 'wider', 'subsumes', 'narrower', 'specializes', 'inexact']

/** Returns the result of a lookup: a translation, `none` where the map states that there is none, undefined without an entry. */
export function lookUp(table: Table, code: string, system: string | undefined): Translation | 'none' | undefined {
  const all = table.entries.get(code) ?? []
  const about =
    system === undefined ? all : all.filter(each => each.sourceSystem === system || each.sourceSystem === '')
  let best: Entry | undefined
  for (const each of about) if (each.target && isBetter(each, best)) best = each
  if (best) return best.target
  if (about.length > 0) return 'none'
  return left(table, code, system)
}

/** Lines that say of a code what an earlier line contradicts with equal right, so that only their order would decide. */
export function rivalsIn({ entries }: Table): { readonly entry: Entry; readonly first: Entry }[] {
  return [...entries.values()].flatMap(lines => {
    const best = new Map<string, Entry>()
    for (const each of lines) if (isBetter(each, best.get(each.sourceSystem))) best.set(each.sourceSystem, each)
    return lines.flatMap(entry => {
      const first = best.get(entry.sourceSystem)
      return first && first.equivalence === entry.equivalence && !isSameTarget(first, entry) ? [{ entry, first }] : []
    })
  })
}

const isSameTarget = ({ target: one }: Entry, { target: other }: Entry): boolean =>
  one?.code === other?.code && one?.system === other?.system

function isBetter(entry: Entry, than: Entry | undefined): boolean {
  const rank = USABLE.indexOf(entry.equivalence)
  return rank >= 0 && (!than || rank < USABLE.indexOf(than.equivalence))
}

function left({ kept, fixed }: Table, code: string, system: string | undefined): Translation | undefined {
  const [from] = system === undefined ? [...kept.keys(), ...fixed.keys()] : [system]
  if (from === undefined) return undefined
  const to = kept.get(from)
  return fixed.get(from) ?? (to === undefined ? undefined : { system: to, code, display: undefined })
}
