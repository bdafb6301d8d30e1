// How a type is indexed: what each of its search parameters puts into the draft of an entry, and where a search finds that.

import type { SearchParamModel } from '../../definitions/model.ts'
import { compartmentParams, searchParams, typeModel } from '../../definitions/r4.ts'
import { compileTyped } from '../../fhirpath/compile.ts'
import type { Base } from '../base.ts'
import { expressionOptions } from '../search-params/expression.ts'
import type { OwnParam } from '../search-params/known.ts'
import { tokensOf } from '../values.ts'
import { clinicalDate, mainCode } from './clinical-date.ts'
import { componentNeeds, compositeAdder } from './composites.ts'
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
  type Extract,
  type Extractor,
  type PatientRole,
} from './draft.ts'
import { isBare, isSingle, isStored, pathText, storedKeys } from './param-paths.ts'
import { type ParamKey, paramKey } from './postings.ts'
import { presenceOf } from './presence.ts'

/** The parameters that columns of `search` hold. */
interface Held {
  /** Code of the date parameter that the columns date and date_high hold whole, if one is. */
  readonly date: string | undefined
  /** Codes of the reference parameters that the column patient holds whole. */
  readonly patient: ReadonlySet<string>
}

/** How the parameters of a type are found, for the search planner. */
export interface Columns extends Held {
  /** Keys of the parameters that are posted where they have no value. */
  readonly usual: ReadonlySet<ParamKey>
}

export interface TypeIndex {
  readonly extractors: readonly Extractor[]
  readonly columns: Columns
}

// Held by the table `resource` itself, not by postings.
const elsewhere = new Set(['_id', '_lastUpdated', '_text', '_content', '_list', '_has', '_filter', '_type', '_query'])

/** What resources of a type are found by: R4's parameters, and those of users that are in use. */
export function compileType(type: string, base: Base, own: readonly OwnParam[]): TypeIndex {
  const held = heldBy(type)
  const usual = new Set<ParamKey>()
  const extractors: Extractor[] = []
  for (const param of searchParams(type).values()) {
    if (!param.expression || elsewhere.has(param.code) || !isStored(type, param.code)) continue
    const run = compileTyped(param.expression, { model: { typeModel }, type })
    const key = paramKey(type, param.code)
    const presence = presenceOf(param, type, held.patient.has(param.code) || held.date === param.code)
    if (presence === 'absent') usual.add(key)
    const needs = run.reads ? [run.reads] : componentNeeds(param, type)
    extractors.push({ key, needs, run, presence, add: adder(param, key, type, base, held) })
  }
  const used = own.filter(param => param.suspended === undefined)
  return {
    extractors: [...extractors, ...used.map(param => ownExtractor(param, base))],
    columns: { ...held, usual },
  }
}

const noneHeld: Held = { date: undefined, patient: new Set() }

/** Extracts what a user's parameter finds a resource by. */
export function ownExtractor(param: OwnParam, base: Base): Extractor {
  const run: Extract = compileTyped(param.tree, expressionOptions(param.of))
  const add =
    param.type === 'token' ? tokenAdder(param.key, {}, base) : adder(param, param.key, param.of, base, noneHeld)
  return { key: param.key, needs: [], own: param, run, presence: 'present', add }
}

function heldBy(type: string): Held {
  const params = searchParams(type)
  const date = params.get(clinicalDate(type))
  const patient = params.get('patient')
  const same = new Set<string>()
  if (patient && isSingle(patient, type)) {
    for (const param of params.values()) {
      if (param.type === 'reference' && pathText(param, type) === pathText(patient, type)) same.add(param.code)
    }
  }
  return { date: date?.type === 'date' && isSingle(date, type) ? date.code : undefined, patient: same }
}

function adder(param: SearchParamModel, key: ParamKey, type: string, base: Base, held: Held): Extractor['add'] {
  switch (param.type) {
    case 'token':
      return tokenAdder(key, { isMainCode: param.code === mainCode(type), isBare: isBare(type, key) }, base)
    case 'reference': {
      const role = roleOf(key, param.code, type, held)
      return (draft, values) => addReferences(draft, values, key, base, role)
    }
    case 'date':
      return param.code === held.date ? addOrderingDate : (draft, values) => addDates(draft, values, key)
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

/** The column `patient` puts a resource into the compartment of a patient; for other parameters a posting does. A Patient is in its own. */
function roleOf(key: ParamKey, code: string, type: string, held: Held): PatientRole {
  if (held.patient.has(code)) return 'subject'
  if (type === 'Patient') return undefined
  const ways = compartmentParams('Patient', type).filter(each => !held.patient.has(each))
  return ways.some(each => storedKeys(type, each).includes(key)) ? 'member' : undefined
}

interface TokenKind {
  readonly isMainCode?: boolean
  readonly isBare?: boolean
}

function tokenAdder(key: ParamKey, { isMainCode, isBare }: TokenKind, base: Base): Extractor['add'] {
  return (draft, values) => {
    for (const { type, value } of values) {
      for (const token of tokensOf(type, value)) {
        addToken(draft, key, token, base, isBare)
        if (isMainCode) addMainCode(draft, key, token)
      }
    }
  }
}
