// What a type of FHIR resources is searched by: its parameters with modifiers and an example, and what can be included.

import type { SearchParamModel } from '../../../definitions/model.ts'
import { isResourceType, resourceTypes } from '../../../definitions/r4.ts'
import type { Route } from '../../../http/route.ts'
import { includesOf, revincludesOf } from '../../../interactions/metadata.ts'
import { Failure } from '../../../lib/failure.ts'
import { Type } from '../../../lib/schema.ts'
import { modifiersOf } from '../../../store/search/modifiers.ts'
import { html } from '../html.ts'
import { page } from '../page.ts'
import { table } from '../table.ts'
import { inConsole } from './frame.ts'
import type { Operation } from './operations.ts'
import type { ConsolePageParts } from './parts.ts'

/** Returns the type that an operation searches at first; undefined: it is no search. */
export function searchedType({ method, path, fixed, fields }: Operation): string | undefined {
  if (fixed['type'] !== undefined) return fixed['type']
  const isSearch = (method === 'GET' && path.endsWith('/{type}')) || path.endsWith('/{type}/_search')
  return isSearch ? fields.find(({ name }) => name === 'type')?.sample : undefined
}

export const searchHelp = (parts: ConsolePageParts): Route =>
  page({
    path: '/portal/console/search',
    name: 'portalConsoleSearch',
    title: 'console.search_help',
    roles: ['developer'],
    query: Type.Object({ type: Type.Optional(Type.String({ maxLength: 64 })) }),
    async show({ query: { type = 'Patient' }, caller }, view) {
      if (!isResourceType(type)) throw new Failure('NOT_FOUND', 'R4 has no such resource type.')
      const { t } = view
      const all = parts.searchParams()
      const params = [...all.of(type).values()].toSorted((one, other) => (one.code < other.code ? -1 : 1))
      const columns = [
        t('search.name'),
        t('search.type'),
        t('search.modifiers'),
        t('search.example'),
        t('search.description'),
      ]
      const lists = [
        ['_include', includesOf(type, all)],
        ['_revinclude', revincludesOf(type) ?? []],
      ] as const
      return inConsole(
        parts,
        view,
        caller,
        [`system/${type}.rs`],
        html`<p>${t('search.about')}</p>
<form method="get" action="/portal/console/search" class="filters" data-inside><label>${t('requests.type')} <select name="type">${resourceTypes.map(
          each => html`<option${each === type && html` selected`}>${each}</option>`,
        )}</select></label><button type="submit">${t('search.show')}</button></form>
<p><a href="/portal/console" data-inside>${t('console.all')}</a> · <a href="/portal/console/searchType" data-inside>${t('search.to_call')}</a></p>
<h2>${t('search.parameters', { type })}</h2>
${table(
  columns,
  params.map(each => [
    html`<code>${each.code}</code>`,
    html`${each.type}${each.type === 'reference' && each.targets && html` <small>${each.targets.length > 8 ? '…' : each.targets.join(', ')}</small>`}`,
    html`${takenBy(each, type).map(modifier => html`<code>${modifier}</code> `)}`,
    html`<code>${exampleFor(each)}</code>`,
    html`<span lang="en">${each.description}</span>`,
  ]),
)}
${lists.map(
  ([name, values]) =>
    html`<section><h2><code>${name}</code></h2><p>${t(`search.${name}`)}</p>${values.length === 0 ? html`<p>–</p>` : html`<ul class="tags">${values.map(each => html`<li><code>${each}</code></li>`)}</ul>`}</section>\n`,
)}`,
      )
    },
  })

const comparators = ['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap']
const compared: ReadonlySet<SearchParamModel['type']> = new Set(['date', 'number', 'quantity'])

/** Modifiers with their colon, and prefixes of values. */
const takenBy = (param: SearchParamModel, type: string): string[] => [
  ...modifiersOf(param, [type]).map(each => `:${each}`),
  ...(compared.has(param.type) ? comparators : []),
]

const values: Readonly<Record<SearchParamModel['type'], string>> = {
  string: 'abena',
  token: 'http://loinc.org|8480-6',
  reference: 'Patient/example',
  uri: 'http://example.org/name',
  date: 'ge2026-01-01',
  number: 'gt0.8',
  quantity: 'gt5.4|http://unitsofmeasure.org|mg',
  composite: 'http://loinc.org|8480-6$gt140',
  special: 'true',
}

/** What codes say more by than by their type. */
const known: Readonly<Record<string, string>> = {
  _id: 'example',
  active: 'true',
  gender: 'female',
  status: 'active',
  identifier: 'CM-TQYE-6SRK-YQ6S',
  near: '4.05|9.7|10|km',
  _filter: 'name co "abena"',
  phone: '+237600000000',
  email: 'jeanne@example.org',
}

function exampleFor({ code, type, targets }: SearchParamModel): string {
  const value =
    known[code] ?? (type === 'reference' && targets?.[0] !== undefined ? `${targets[0]}/example` : values[type])
  return `${code}=${value}`
}
