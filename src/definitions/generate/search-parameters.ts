// Cuts the search parameters into what concerns each resource type: a FHIRPath union over many types becomes its branch.

import type { SearchParamRow } from '../rows.ts'
import type { SearchParameter, Source } from './source.ts'

const BASE = 'http://hl7.org/fhir/SearchParameter/'

export function searchParameterRows(source: Source): Record<string, SearchParamRow[]> {
  const rows: Record<string, SearchParamRow[]> = {}
  const add = (param: SearchParameter, type: string) => {
    rows[type] ??= []
    if (!rows[type].some(it => it[0] === param.code)) rows[type].push(rowOf(param, type))
  }
  for (const param of source.searchParameters) {
    for (const type of param.base) if (isPublished(param, type, source)) add(param, type)
  }
  for (const param of source.usCoreSearchParameters) for (const type of param.base) add(param, type)
  for (const list of Object.values(rows)) list.sort((a, b) => (a[0] < b[0] ? -1 : 1))
  return Object.fromEntries(Object.entries(rows).sort())
}

function isPublished(param: SearchParameter, type: string, source: Source): boolean {
  return type.endsWith('Resource') || source.publishedSearchParameters.has(`${type}.${param.code}`)
}

function rowOf(param: SearchParameter, type: string): SearchParamRow {
  const expression = expressionOf(param, type)
  const row: SearchParamRow = [param.code, param.url.replace(BASE, ''), param.type, descriptionOf(param, type)]
  if (expression) row.push(expression)
  const targets = targetsOf(param, expression)
  if (targets || param.component) row.push(targets)
  if (param.component) {
    const expressions = SWAPPED.has(param.url)
      ? param.component.map(it => it.expression).reverse()
      : param.component.map(it => it.expression)
    row.push(
      param.component.flatMap((it, index) => [it.definition.replace(BASE, ''), corrected(expressions[index] ?? '')]),
    )
  }
  return row
}

function expressionOf(param: SearchParameter, type: string): string | undefined {
  if (!param.expression) return undefined
  const branches = param.expression.split('|').map(it => corrected(it.trim()))
  const rooted = branches.map(it => (/^\(?[A-Z]/.test(it) ? it : `${type}.${it}`))
  const own = rooted.filter(it => it.replace(/^\(+/, '').match(/^\w+/)?.[0] === type)
  if (own.length === 0) throw new Error(`${param.url} says nothing of ${type}`)
  return own.join(' | ')
}

// A list of nearly all types means any; `where(resolve() is Patient)` leaves patients only.
function targetsOf(param: SearchParameter, expression?: string): string {
  const resolved = expression?.match(/resolve\(\) is (\w+)/)?.[1]
  if (resolved) return resolved
  const targets = param.target ?? []
  return targets.length > 140 ? '' : targets.filter(it => it !== 'SubscriptionStatus').join('|')
}

// "Multiple Resources: * [Patient](patient.html): A phone number * [Person](…): …"
function descriptionOf(param: SearchParameter, type: string): string {
  const line = param.description.split(/\r?\n/).find(it => it.includes(`[${type}](`))
  const text = line?.replace(/^.*?\]\([^)]*\):\s*/, '') ?? param.description
  return text.replace(/\s+/g, ' ').trim()
}

function corrected(expression: string): string {
  return ERRATA.reduce((text, [wrong, right]) => text.replace(wrong, right), expression)
}

// Composites in which R4 gives each component the expression of the other: `relatesto` reads the code, `relation` the target.
const SWAPPED = new Set([`${BASE}DocumentReference-relationship`])

// What R4 (and US Core) write that is not FHIRPath over the R4 model, each with what they mean.
const ERRATA: [RegExp, string][] = [
  [/^\((\S+) as (\w+)\)/, '$1.ofType($2)'],
  [/\.as\((\w+)\)/g, '.ofType($1)'],
  [/^\(([^()]+\.ofType\(\w+\))\)/, '$1'],
  // No such type: FHIR types are written as FHIR writes them.
  [/ofType\(DateTime\)/g, 'ofType(dateTime)'],
  // FHIRPath names the element, not its JSON key.
  [/\.valueDateTime$/, '.value.ofType(dateTime)'],
  // The codings rather than their codes, so `system|code` finds them too.
  [/\.extension\.value\.code$/, '.extension.value.ofType(Coding)'],
  [/\.value\.coding\.code$/, '.value.ofType(CodeableConcept).coding'],
]
