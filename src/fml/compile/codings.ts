// Code systems and codes that a map writes out: a slip in one of them is found by no value set.
// https://hl7.org/fhir/R4/terminologies-systems.html

import { codeSystemCodes, codeSystemUrls } from '../../definitions/r4.ts'
import type { Binary, Expression } from '../../fhirpath/ast.ts'
import { didYouMean, nearest, nearestUrl } from '../../lib/nearest.ts'
import type { Argument, ConceptMap, Span, Target } from '../ast.ts'
import { NOWHERE, shown } from '../problem.ts'
import { codesIn, type Terminology } from '../value-set.ts'
import { lenient, replacing, report, type Scope } from './scope.ts'
import type { Value } from './value.ts'

type Place = Pick<Scope, 'build' | 'unit'> & { readonly site?: Scope['site'] }

/** Systems whose codes R4 does not carry. */
const ELSEWHERE = [
  'http://loinc.org',
  'http://snomed.info/sct',
  'http://unitsofmeasure.org',
  'http://www.nlm.nih.gov/research/umls/rxnorm',
  'http://hl7.org/fhir/sid/icd-10',
  'http://hl7.org/fhir/sid/icd-10-cm',
  'http://hl7.org/fhir/sid/cvx',
  'http://hl7.org/fhir/sid/ndc',
  'http://www.whocc.no/atc',
  'urn:ietf:bcp:47',
  'urn:ietf:bcp:13',
  'urn:iso:std:iso:3166',
  'urn:iso:std:iso:4217',
]

/** `cc('system', 'code')` and `c('system', 'code')`. */
export function checkTransform(values: readonly Value[], args: readonly Argument[], scope: Scope): void {
  if (values.length < 2) return
  const [system, code] = values.map(({ constant }) =>
    typeof constant?.value === 'string' ? constant.value : undefined,
  )
  const isKnown = system === undefined || checkSystem(system, args[0]!.span, scope)
  if (isKnown && system !== undefined && code !== undefined) checkCode(system, code, args[1]!.span, scope)
}

/** `c.system = '…', c.code = '…'` for one Coding. */
export function checkTargets(targets: readonly Target[], scope: Scope): void {
  for (const { path, transform } of targets) {
    const [owner, element] = path?.names ?? []
    if (element?.text !== 'system' || path!.names.length !== 2 || transform?.kind !== 'literal') continue
    const variable = scope.variables.get(owner!.text)
    if (
      variable?.kind !== 'target' ||
      variable.type !== 'Coding' ||
      !checkSystem(transform.text, transform.span, scope)
    )
      continue
    for (const other of targets) {
      const [holder, name] = other.path?.names ?? []
      if (holder?.text === owner!.text && name?.text === 'code' && other.transform?.kind === 'literal')
        checkCode(transform.text, other.transform.text, other.transform.span, scope)
    }
  }
}

/** `where(system = '…' and code = '…')` */
export function checkConditions(tree: Expression, span: Span, scope: Scope): void {
  if (tree.kind !== 'binary') return
  const terms = conjunction(tree).flatMap(each => compared(each) ?? [])
  for (const { name, path, text, at } of terms) {
    if (name !== 'system' || !checkSystem(text, placed(text, at, span), scope)) continue
    for (const other of terms)
      if (other.name === 'code' && other.path === path)
        checkCode(text, other.text, placed(other.text, other.at, span), scope)
  }
}

interface Compared {
  readonly name: string
  /** What the element belongs to. */
  readonly path: string
  readonly text: string
  readonly at: Expression['at']
}

function conjunction(tree: Binary): Expression[] {
  if (tree.operator !== 'and') return [tree]
  return [tree.left, tree.right].flatMap(each => (each.kind === 'binary' ? conjunction(each) : [each]))
}

function compared(tree: Expression): Compared | undefined {
  if (tree.kind !== 'binary' || (tree.operator !== '=' && tree.operator !== '~')) return undefined
  const { left, right } = tree
  if (left.kind !== 'member' || right.kind !== 'literal' || right.type !== 'String') return undefined
  const path = left.input ? pathOf(left.input) : ''
  return path === undefined ? undefined : { name: left.name, path, text: right.text, at: right.at }
}

function pathOf(tree: Expression): string | undefined {
  if (tree.kind === 'variable') return `%${tree.name}`
  if (tree.kind === 'special') return `$${tree.name}`
  if (tree.kind !== 'member') return undefined
  const before = tree.input ? pathOf(tree.input) : ''
  return before === undefined ? undefined : `${before}.${tree.name}`
}

function placed(text: string, at: Expression['at'], span: Span): Span {
  return span === NOWHERE ? NOWHERE : { ...at, length: text.length + 2 }
}

/** The systems and codes of a table. */
export function checkTable({ prefixes, mappings }: ConceptMap, place: Place): void {
  const systems = new Map<string, string>()
  for (const { name, url } of prefixes)
    if (checkSystem(url.text, url.span, place, '"')) systems.set(name.text, url.text)
  for (const { source, target } of mappings) {
    for (const each of target ? [source, target] : [source]) {
      const system = systems.get(each.prefix.text)
      if (system !== undefined) checkCode(system, each.code.text, each.code.span, place, '')
    }
  }
}

const systems = new WeakMap<Terminology, ReadonlySet<string>>()

/** The code systems of R4, of the folder and of elsewhere. */
function systemsOf(terminology: Terminology): ReadonlySet<string> {
  let known = systems.get(terminology)
  if (!known) systems.set(terminology, (known = new Set([...codeSystemUrls(), ...terminology.urls, ...ELSEWHERE])))
  return known
}

/** True unless the system is probably another one, misspelt. */
function checkSystem(url: string, span: Span, place: Place, mark = "'"): boolean {
  const known = systemsOf(place.build.terminology)
  if (known.has(url)) return true
  const meant = nearestUrl(url, [...known])
  // Numbered systems differ in a digit, and the next number may be newer than R4.
  if (meant === undefined || meant.replace(/\d/g, '') === url.replace(/\d/g, '')) return true
  report(place, span, `there is no code system ${shown(url)}${didYouMean(meant)}`, {
    ...replacing(span, `${mark}${meant}${mark}`),
    ...lenient(place.build),
  })
  return false
}

/** Systems that belong to R4 itself do not grow; of others a newer edition may have the code. */
const FIXED = 'http://hl7.org/fhir/'

function checkCode(system: string, code: string, span: Span, place: Place, mark = "'"): void {
  const codes = codesOf(system, place)
  if (!codes || codes.has(code)) return
  const meant = nearest(code, [...codes])
  const isSure = meant !== undefined || system.startsWith(FIXED)
  report(place, span, `${shown(code)} is not a code of ${system}${didYouMean(meant)}`, {
    ...replacing(span, meant && `${mark}${meant}${mark}`),
    ...(isSure ? lenient(place.build) : { severity: 'warning' }),
  })
}

function codesOf(system: string, { build }: Place): ReadonlySet<string> | undefined {
  const resource = build.terminology.codeSystem(system)
  return resource?.['content'] === 'complete' ? codesIn(resource) : codeSystemCodes(system)
}
