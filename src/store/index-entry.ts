// What a resource is found by: every search parameter of its type, turned into postings, intervals and words.

import type { SearchParamModel } from '../definitions/model.ts'
import { searchParams, typeModel } from '../definitions/r4.ts'
import { compileTyped } from '../fhirpath/compile.ts'
import type { JsonObject } from '../lib/json.ts'
import { clinicalDate, mainCode } from './clinical-date.ts'
import { compositeAdder } from './index-composites.ts'
import { addContained, containedTargets } from './index-contained.ts'
import {
  addDates,
  addMagnitudes,
  addMainCode,
  addOrderingDate,
  addPositions,
  addReferences,
  addToken,
  addUri,
  addWords,
  type Draft,
  type Extract,
  type Extractor,
  type IndexEntry,
  noDate,
} from './index-draft.ts'
import { isSingle, isStored, pathText } from './param-paths.ts'
import * as postings from './postings.ts'
import { type ParamKey, paramKey } from './postings.ts'
import { textPostings } from './text-postings.ts'
import { tokensOf } from './values.ts'

/** How the type's column-held parameters are found, for the search planner. */
interface Columns {
  /** Code of the date parameter that the columns date and date_high hold whole, if one is. */
  readonly date: string | undefined
  /** Codes of the reference parameters that the column patient holds whole. */
  readonly patient: ReadonlySet<string>
}

interface TypeIndex {
  readonly extractors: readonly Extractor[]
  readonly columns: Columns
}

/** Builds index entries; `base` is the address of this server's FHIR endpoint, so that absolute references to it are known as its own. */
export function createIndexer(base: string) {
  const types = new Map<string, TypeIndex>()
  const indexOf = (type: string): TypeIndex => {
    let index = types.get(type)
    if (!index) types.set(type, (index = compileType(type, base)))
    return index
  }
  return {
    columns: (type: string): Columns => indexOf(type).columns,
    entry(resource: JsonObject): IndexEntry {
      const type = String(resource['resourceType'])
      const draft = draftOf(resource, type, resource['contained'] !== undefined)
      return {
        ...draft,
        self: postings.selfHash(type, String(resource['id'])),
        tokens: [...draft.tokens],
        refs: [...draft.refs],
        texts: textPostings(resource, type),
        codes: [...draft.codes],
      }
    },
  }

  function draftOf(resource: JsonObject, type: string, hasContained: boolean): Draft {
    const draft = emptyDraft()
    const env = { resource }
    for (const extractor of indexOf(type).extractors) {
      const values = extractor.run(resource, env)
      if (values.length === 0) continue
      draft.tokens.add(postings.present(extractor.key))
      extractor.add(draft, values, resource)
      if (!hasContained) continue
      for (const inner of containedTargets(resource, values)) {
        const innerType = String(inner['resourceType'])
        addContained(draft, extractor.key, innerType, draftOf(inner, innerType, false))
      }
    }
    return draft
  }
}

const emptyDraft = (): Draft => ({
  tokens: new Set(),
  refs: new Set(),
  spans: [],
  words: [],
  terms: [],
  codes: new Set(),
  patient: undefined,
  date: noDate,
  dateHigh: noDate,
})

export type Indexer = ReturnType<typeof createIndexer>

// Held by the table `resource` itself, not by postings.
const elsewhere = new Set(['_id', '_lastUpdated', '_text', '_content', '_list', '_has', '_filter', '_type', '_query'])

function compileType(type: string, base: string): TypeIndex {
  const columns = columnsOf(type)
  const extractors: Extractor[] = []
  for (const param of searchParams(type).values()) {
    if (!param.expression || elsewhere.has(param.code) || !isStored(type, param.code)) continue
    const run: Extract = compileTyped(param.expression, { model: { typeModel }, type })
    const key = paramKey(type, param.code)
    extractors.push({ key, run, add: adder(param, key, type, base, columns) })
  }
  return { extractors, columns }
}

function columnsOf(type: string): Columns {
  const params = searchParams(type)
  const date = params.get(clinicalDate(type))
  const patient = params.get('patient')
  const held = new Set<string>()
  if (patient && isSingle(patient, type)) {
    for (const param of params.values()) {
      if (param.type === 'reference' && pathText(param, type) === pathText(patient, type)) held.add(param.code)
    }
  }
  return { date: date?.type === 'date' && isSingle(date, type) ? date.code : undefined, patient: held }
}

function adder(param: SearchParamModel, key: ParamKey, type: string, base: string, columns: Columns): Extractor['add'] {
  switch (param.type) {
    case 'token':
      return tokenAdder(key, param.code === mainCode(type))
    case 'reference':
      return (draft, values) => addReferences(draft, values, key, base, columns.patient.has(param.code))
    case 'date':
      return param.code === columns.date ? addOrderingDate : (draft, values) => addDates(draft, values, key)
    case 'number':
    case 'quantity':
      return (draft, values) => addMagnitudes(draft, values, key.number, 0n)
    case 'string':
      return (draft, values) => addWords(draft, values, key)
    case 'uri':
      return (draft, values) => values.forEach(({ value }) => typeof value === 'string' && addUri(draft, key, value))
    case 'composite':
      return compositeAdder(param, key, type, base)
    case 'special':
      return (draft, values) => addPositions(draft, values, key)
  }
}

function tokenAdder(key: ParamKey, isMainCode: boolean): Extractor['add'] {
  return (draft, values) => {
    for (const { type, value } of values) {
      for (const token of tokensOf(type, value)) {
        addToken(draft, key, token)
        if (isMainCode) addMainCode(draft, key, token)
      }
    }
  }
}
