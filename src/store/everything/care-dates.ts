// When the care took place that a resource is about: what `start` and `end` of $everything ask, which are "care dates, not record
// currency dates" (https://hl7.org/fhir/R4/operation-patient-everything.html).
import { int2Array, int4Array } from '../../db/arrays.ts'
import { noDate } from '../index/draft.ts'
import type { Indexer } from '../index/entry.ts'
import type { Binder } from '../search/binder.ts'
import { typeNumber } from '../type-number.ts'

/** Dates of care in ms, both ends inclusive; undefined: open. */
export interface CareDates {
  readonly start: number | undefined
  readonly end: number | undefined
}

/**
 * The dates of care of a type. `always`: it has none, or is ongoing, so that it is never left out; `at`: a date parameter, or the
 * ordering date where that has no value; `lasting`: from one date on, until another if there is one; `element`: a period or date
 * that R4 has no parameter for.
 */
type Care =
  | { readonly kind: 'always' }
  | { readonly kind: 'at'; readonly param: string; readonly orElseOrdered?: boolean }
  | { readonly kind: 'lasting'; readonly from: string; readonly until?: string }
  | { readonly kind: 'element'; readonly period: string; readonly date?: string }

const always: Care = { kind: 'always' }

/**
 * Types whose ordering date (index/clinical-date.ts) is when something was recorded or billed; for all others it is the date of
 * care.
 */
const cares: Readonly<Record<string, Care>> = {
  // Allergies and the history of a family go on; the rest is no care.
  AllergyIntolerance: always,
  AuditEvent: always,
  Basic: always,
  ClaimResponse: always,
  Consent: always,
  DocumentManifest: always,
  FamilyMemberHistory: always,
  Invoice: always,
  List: always,
  Patient: always,
  Person: always,
  RelatedPerson: always,
  ChargeItem: { kind: 'at', param: 'occurrence' },
  CommunicationRequest: { kind: 'at', param: 'occurrence', orElseOrdered: true },
  Composition: { kind: 'at', param: 'period', orElseOrdered: true },
  DeviceRequest: { kind: 'at', param: 'event-date', orElseOrdered: true },
  DocumentReference: { kind: 'at', param: 'period' },
  MeasureReport: { kind: 'at', param: 'period' },
  Media: { kind: 'at', param: 'created' },
  Provenance: { kind: 'at', param: 'when' },
  RequestGroup: { kind: 'at', param: 'authored' },
  ServiceRequest: { kind: 'at', param: 'occurrence', orElseOrdered: true },
  Task: { kind: 'at', param: 'period', orElseOrdered: true },
  Condition: { kind: 'lasting', from: 'onset-date', until: 'abatement-date' },
  Goal: { kind: 'lasting', from: 'start-date' },
  Claim: { kind: 'element', period: 'billablePeriod' },
  ExplanationOfBenefit: { kind: 'element', period: 'billablePeriod' },
  CoverageEligibilityRequest: { kind: 'element', period: 'servicedPeriod', date: 'servicedDate' },
  CoverageEligibilityResponse: { kind: 'element', period: 'servicedPeriod', date: 'servicedDate' },
}

/** The condition that the row of `search`, of one of these types, is about care within the dates or has no date of care. */
export function careCondition(
  dates: CareDates,
  types: readonly string[],
  row: string,
  indexer: Indexer,
  binder: Binder,
): string {
  const bounds: Bounds = {
    start: dates.start === undefined ? undefined : `${binder.bind(dates.start)}::double precision`,
    end: dates.end === undefined ? undefined : `${binder.bind(dates.end)}::double precision`,
  }
  const ordered = `(${row}.date = ${noDate} or ${overlap(`${row}.date`, `${row}.date_high`, bounds)})`
  const cases = types.flatMap(type => {
    const care = cares[type]
    if (!care) return []
    const condition = conditionFor(care, { type, row, indexer, bounds, ordered, binder })
    return [{ type, condition }]
  })
  const alike = Map.groupBy(cases, each => each.condition)
  const whens = [...alike].map(([condition, each]) => {
    const numbers = binder.bind(int2Array(each.map(({ type }) => typeNumber(type))))
    return `when ${row}.type = any(${numbers}::smallint[]) then ${condition}`
  })
  return whens.length === 0 ? ordered : `case ${whens.join(' ')} else ${ordered} end`
}

/** Placeholders of the dates. */
interface Bounds {
  readonly start: string | undefined
  readonly end: string | undefined
}

function overlap(low: string, high: string, { start, end }: Bounds): string {
  const conditions = [...(start ? [`${high} >= ${start}`] : []), ...(end ? [`${low} <= ${end}`] : [])]
  return conditions.length === 0 ? 'true' : conditions.join(' and ')
}

interface Place {
  readonly type: string
  readonly row: string
  readonly indexer: Indexer
  readonly bounds: Bounds
  /** The condition on the ordering date. */
  readonly ordered: string
  readonly binder: Binder
}

function conditionFor(care: Care, place: Place): string {
  switch (care.kind) {
    case 'always':
      return 'true'
    case 'at':
      return atCondition(care.param, care.orElseOrdered === true, place)
    case 'lasting':
      return lastingCondition(care.from, care.until, place)
    case 'element':
      return elementCondition(care.period, care.date, place)
  }
}

/** Rows of `span` that hold the parameter's dates. */
function spansOf(param: string, { type, row, indexer, binder }: Place): string {
  const numbers = indexer.params.keys(type, param).map(key => key.number)
  return `select 1 from span v where v.shard = ${row}.shard and v.key = ${row}.key and v.param = any(${binder.bind(int4Array(numbers))}::integer[]) and v.token = 0`
}

function atCondition(param: string, orElseOrdered: boolean, place: Place): string {
  const spans = spansOf(param, place)
  const within = `exists (${spans} and ${overlap('v.low', 'v.high', place.bounds)})`
  return `(case when exists (${spans}) then ${within} else ${orElseOrdered ? place.ordered : 'true'} end)`
}

/** Matches what has begun before the end and has not ended before the start; without an end it is ongoing. */
function lastingCondition(from: string, until: string | undefined, place: Place): string {
  const { row, bounds, indexer, type } = place
  const conditions: string[] = []
  if (bounds.end && indexer.columns(type).date === from) conditions.push(`${row}.date <= ${bounds.end}`)
  else if (bounds.end) {
    const begins = spansOf(from, place)
    conditions.push(`(not exists (${begins}) or exists (${begins} and v.low <= ${bounds.end}))`)
  }
  if (bounds.start && until !== undefined) {
    const ends = spansOf(until, place)
    conditions.push(`(not exists (${ends}) or exists (${ends} and v.high >= ${bounds.start}))`)
  }
  return conditions.length === 0 ? 'true' : `(${conditions.join(' and ')})`
}

/** The dates are read in the body, for the few resources of such a type that a compartment has. */
function elementCondition(period: string, date: string | undefined, { row, bounds }: Place): string {
  const of = (end: 'start' | 'end'): string => {
    const inPeriod = `b.body::json #>> '{${period},${end}}'`
    return date === undefined ? inPeriod : `coalesce(b.body::json ->> '${date}', ${inPeriod})`
  }
  const conditions: string[] = []
  if (bounds.start) conditions.push(`coalesce(${endOf('e.last')} > to_timestamp(${bounds.start} / 1000), true)`)
  if (bounds.end) conditions.push(`coalesce(${beginOf('e.first')} <= to_timestamp(${bounds.end} / 1000), true)`)
  return `exists (select 1 from resource b, lateral (select ${of('start')} as first, ${of('end')} as last offset 0) e
    where b.shard = ${row}.shard and b.key = ${row}.key${conditions.map(each => ` and ${each}`).join('')})`
}

// The length of a FHIR date gives its precision: 2024, 2024-05, 2024-05-31 or a time with its zone.
const beginOf = (date: string): string =>
  `(case when length(${date}) > 10 then ${date}::timestamptz
    else (${date} || substr('0001-01-01', length(${date}) + 1))::timestamp at time zone 'UTC' end)`

const endOf = (date: string): string =>
  `(${beginOf(date)} + (case length(${date}) when 4 then '1 year' when 7 then '1 month' when 10 then '1 day' else '1 second' end)::interval)`
