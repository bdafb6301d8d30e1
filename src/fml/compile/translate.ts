// `translate(code, '#conceptmap', 'code')`: looks a code up, and reports at compile time which codes have no entry.
// https://hl7.org/fhir/R4/mapping-language.html

import type { Items, Typed } from '../../fhirpath/compile.ts'
import { EMPTY, typed } from '../../fhirpath/node.ts'
import { didYouMean, nearest } from '../../lib/nearest.ts'
import type { Invocation } from '../ast.ts'
import { shown } from '../problem.ts'
import type { Json } from '../run/frame.ts'
import { Refusal } from '../run/map-error.ts'
import { simple } from './computed.ts'
import { type Build, lenient, replacing, report, type Scope, type Unit } from './scope.ts'
import { say } from './shared.ts'
import { lookUp, type Table, type Translation } from './table.ts'
import { withImports } from './unit.ts'
import type { Value } from './value.ts'

const OUTPUTS: Readonly<Record<string, string>> = {
  code: 'code',
  Coding: 'Coding',
  coding: 'Coding',
  CodeableConcept: 'CodeableConcept',
  system: 'uri',
  display: 'string',
}

export function translated(args: readonly Value[], call: Invocation, scope: Scope): Value | undefined {
  const [value, mapName, outputName] = args as readonly [Value, Value, Value | undefined]
  const url = mapName.constant?.value
  const output = outputName ? String(outputName.constant?.value) : 'code'
  if (!Object.hasOwn(OUTPUTS, output)) {
    const meant = nearest(output, Object.keys(OUTPUTS))
    const { span } = call.args[2]!
    const way = didYouMean(meant, '; use code, Coding, CodeableConcept, system or display')
    report(scope, span, `${shown(output)} is not an output of translate${way}`, replacing(span, meant && `'${meant}'`))
    return undefined
  }
  const named = typeof url === 'string' ? tableNamed(url, value, call, scope) : undefined
  if (!named) {
    if (typeof url === 'string') return untranslated(url, OUTPUTS[output]!, scope)
    report(scope, call.args[1]!.span, "write the concept map as a string, such as '#severity'")
    return undefined
  }
  const { table, unit } = named
  checkComplete(value, table, call, scope)
  if (unit) noteLookup(value, table, unit, scope)
  const type = OUTPUTS[output]!
  const name = String(url)
  return {
    types: [type],
    codes: output === 'code' ? targetsFor(table, value.codes) : undefined,
    constant: undefined,
    table: { entries: table.entries, unit },
    run: translating(value, item => outcome(item, table, name, output, type), table),
  }
}

/** A map of others runs as far as it does without the concept map that it does not find. */
function untranslated(url: string, type: string, { build }: Scope): Value | undefined {
  if (!build.isLenient) return undefined
  return simple(type, () => {
    throw new Refusal(`there is no concept map ${shown(url)} here`)
  })
}

/** Codes that the concept map has are looked up once: most maps meet a few codes again and again. */
function translating(value: Value, look: (item: Typed) => Items, table: Table): Value['run'] {
  const known = new Map<string, Items>()
  const find = (item: Typed): Items => {
    const { value: code } = item
    if (typeof code !== 'string' || !table.entries.has(code)) return look(item)
    let found = known.get(code)
    if (!found) known.set(code, (found = look(item)))
    return found
  }
  return frame => {
    const items = value.run(frame)
    return items.length === 1 ? find(items[0]!) : items.flatMap(find)
  }
}

function outcome(item: Typed, table: Table, name: string, output: string, type: string): Items {
  const found = translationOf(item, table, name)
  if (found === undefined) return EMPTY
  const made = shape(found, output)
  return made === undefined ? EMPTY : [typed(made, type)]
}

function shape({ system, code, display }: Translation, output: string): unknown {
  if (output === 'code') return code
  if (output === 'system') return system === '' ? undefined : system
  if (output === 'display') {
    if (display === undefined) throw new Refusal('the concept map has no display for this code')
    return display
  }
  const coding: Json = { ...(system === '' ? {} : { system }), code, ...(display === undefined ? {} : { display }) }
  return output === 'CodeableConcept' ? { coding: [coding] } : coding
}

/** The translation of a code, a Coding, or the first coding of a CodeableConcept that the map knows. */
function translationOf({ value, type }: Typed, table: Table, name: string): Translation | undefined {
  if (value === undefined) return undefined
  const codings = candidates(value, type)
  let isNone = false
  for (const { code, system } of codings) {
    const found = lookUp(table, code, system)
    if (found === 'none') isNone = true
    else if (found) return found
  }
  if (isNone) return undefined
  const codes = codings.map(each => codeText(each.code)).join(', ')
  throw new Refusal(`${codes === '' ? 'a value without a code' : codes} has no translation in ${name}`)
}

interface Candidate {
  readonly code: string
  readonly system: string | undefined
}

function candidates(value: unknown, type: string): Candidate[] {
  if (typeof value === 'string') return [{ code: value, system: undefined }]
  if (typeof value !== 'object' || value === null) return [{ code: String(value), system: undefined }]
  const json = value as Json
  if (type === 'CodeableConcept' || Array.isArray(json.coding)) {
    return (Array.isArray(json.coding) ? json.coding : []).flatMap(each => candidates(each, 'Coding'))
  }
  if (typeof json.code !== 'string') return []
  return [{ code: json.code, system: typeof json.system === 'string' ? json.system : undefined }]
}

/** A code can be shown in messages; a longer text may contain patient data. */
function codeText(code: string): string {
  return code.length <= 40 && /^\S+(?: \S+)?$/.test(code) ? `\`${code}\`` : 'this text'
}

/** `#id` is in this map or one it imports, `url#id` in the map of that URL, anything else a ConceptMap of its own. */
function tableNamed(
  url: string,
  { codes, domain = codes }: Value,
  call: Invocation,
  scope: Scope,
): { table: Table; unit?: Unit } | undefined {
  const { build, unit } = scope
  const [base = '', fragment] = url.split('#')
  const units = base === '' ? withImports(unit, build) : [...(base === unit.url ? [unit] : []), ...unitsOf(base, build)]
  const tables = () => units.flatMap(each => [...each.tables.keys()].map(id => `${base}#${id}`))
  const here = () => withImports(unit, build).flatMap(each => [...each.tables.keys()].map(id => `#${id}`))
  build.see?.({ kind: 'table', span: call.args[1]!.span, name: url, codes: domain, tables: here })
  const owner = fragment === undefined ? undefined : units.find(each => each.tables.has(fragment))
  if (owner) return { table: owner.tables.get(fragment!)!, unit: owner }
  const found = build.table(url) ?? unit.tables.get(url)
  if (found) return { table: found }
  const { span } = call.args[1]!
  const meant = nearest(url, tables())
  const question = didYouMean(meant)
  report(scope, span, `there is no concept map ${shown(url)} here${question}`, {
    ...replacing(span, meant && `'${meant}'`),
    // What is meant is certainly in this map, so that it is a slip, and not something that is missing.
    ...(meant === undefined ? lenient(build) : {}),
    isAbsence: true,
  })
  return undefined
}

/** The maps of a URL, on which the map at hand depends from now on. */
function unitsOf(url: string, build: Build): readonly Unit[] {
  return say(build, each => each.unit(url))
}

/** Codes that are possible in the source and missing in the concept map. */
function checkComplete({ codes, types }: Value, table: Table, call: Invocation, scope: Scope): void {
  if (!codes || types?.length !== 1 || !scope.build.system.isPrimitive(types[0]!)) return
  const missing = [...codes].filter(code => lookUp(table, code, undefined) === undefined)
  if (missing.length === 0) return
  const some = missing.slice(0, 6).map(code => `\`${code}\``)
  const more = missing.length > 6 ? ` and ${missing.length - 6} more` : ''
  const { span } = call.args[1]!
  const verb = missing.length > 1 ? 'have no translation' : 'has no translation'
  report(
    scope,
    span,
    `${some.join(', ')}${more} ${verb} in this concept map; add ${missing.length > 1 ? 'them' : 'it'}, or keep such codes with \`unmapped for s = provided\``,
    { ...lenient(scope.build), isAbsence: true },
  )
}

/** Records which codes are looked up in a table of a map, so that unused lines can be reported. */
function noteLookup({ domain, types }: Value, table: Table, unit: Unit, { build }: Scope): void {
  const isCode = types?.length === 1 && build.system.isPrimitive(types[0]!)
  const own = isCode ? domain : undefined
  say(build, ({ lookups }) => {
    const known = lookups.get(table)
    if (!known) lookups.set(table, { unit, domain: own })
    else known.domain = own && known.domain && new Set([...known.domain, ...own])
  })
}

/** Lines of tables that can never be used: no element that is looked up has such a code. */
export function checkLookups(build: Build): void {
  for (const [table, { unit, domain }] of build.lookups) {
    if (!domain) continue
    for (const [code, [entry]] of table.entries) {
      if (domain.has(code) || !entry?.source) continue
      const meant = nearest(code, [...domain])
      const list = domain.size > 12 ? '' : ` (${[...domain].join(', ')})`
      const message = `${shown(code)} is never translated${didYouMean(meant, `: it is not one of the possible codes${list}`)}`
      report({ build, unit }, entry.source, message, { ...replacing(entry.source, meant), severity: 'warning' })
    }
  }
}

/** The codes that can come out. */
function targetsFor(table: Table, codes: ReadonlySet<string> | undefined): ReadonlySet<string> | undefined {
  if (table.kept.size > 0 && !codes) return undefined
  const from = codes ?? table.entries.keys()
  const found = [...from].flatMap(code => {
    const to = lookUp(table, code, undefined)
    return to && to !== 'none' ? [to.code] : []
  })
  for (const { code } of table.fixed.values()) found.push(code)
  return new Set(found)
}
