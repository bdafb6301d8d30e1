// The parameters of an export, read strictly: a parameter that is not supported is refused, or, under `Prefer:
// handling=lenient`, left out and noted in the export's error file
// (https://hl7.org/fhir/uv/bulkdata/STU2/export.html#query-parameters).
import { isResourceType, resourceTypes } from '../../definitions/r4.ts'
import { Failure } from '../../lib/failure.ts'
import { isObject } from '../../lib/json.ts'
import { dateInterval } from '../../store/dates.ts'
import type { ExportScope } from '../../store/export/scope.ts'
import { isInPatientCompartment } from '../../store/search/sql-compartment.ts'
import type { Store } from '../../store/store.ts'
import { parametersOf, wrongParameter } from '../parameters.ts'
import type { Level } from './operations.ts'

/** Something that was not done as it was asked. */
export interface Note {
  readonly code: string
  readonly text: string
}

/** An export as it is kept with its job. */
export interface ExportOrder extends Omit<ExportScope, 'job'> {
  readonly elements: readonly string[]
  readonly notes: readonly Note[]
}

/** An order, and the patients that were named, where some were. */
export interface ReadOrder {
  readonly order: Omit<ExportOrder, 'of'>
  readonly patients: readonly string[] | undefined
}

export interface BulkOrder {
  readonly level: Level
  readonly search: URLSearchParams
  readonly body: unknown
  readonly isLenient: boolean
}

interface Param {
  readonly name: string
  readonly value: string
  readonly isInBody: boolean
}

type Notes = Note[]

/** @throws Failure MALFORMED_REQUEST naming the parameter, INSUFFICIENT_SCOPE for a type that is named and not open. */
export function readOrder(asked: BulkOrder, store: Store): ReadOrder {
  const params = paramsOf(asked)
  const notes: Notes = []
  const refuse = (failure: Failure): void => {
    if (!asked.isLenient) throw failure
    notes.push({ code: failure.options.details?.[0]?.code ?? failure.issue, text: failure.message })
  }
  for (const { name } of params) if (!understood.has(name)) refuse(unknown(name))
  mustBeNdjson(params)
  for (const { value } of named(params, 'includeAssociatedData')) refuse(notAssociated(value))
  const since = instant(params, '_since')
  const until = instant(params, '_until')
  const types = typesOf(asked.level, params, store, refuse)
  const order = { types, since, until, filters: filtersOf(params), elements: elementsOf(params), notes }
  return { order, patients: patientsOf(asked.level, params) }
}

const understood = new Set([
  '_outputFormat',
  '_since',
  '_until',
  '_type',
  '_typeFilter',
  '_elements',
  'patient',
  'includeAssociatedData',
  '_format',
  '_pretty',
])

const notSupported = (name: string, message: string): Failure =>
  new Failure('MALFORMED_REQUEST', message, { details: [{ field: name, code: 'not-supported', message }] })

const unknown = (name: string): Failure =>
  notSupported(name.slice(0, 60), `The parameter ${name.slice(0, 60)} is not known for an export.`)

const notAssociated = (value: string): Failure =>
  notSupported(
    'includeAssociatedData',
    `includeAssociatedData=${value.slice(0, 60)} is not supported: an export always includes the Provenance of the exported resources, unless _type excludes it.`,
  )

function paramsOf({ search, body }: BulkOrder): Param[] {
  const inAddress = [...search].map(([name, value]) => ({ name, value, isInBody: false }))
  if (body === undefined) return inAddress
  if (!isObject(body) || body['resourceType'] !== 'Parameters')
    throw new Failure('MALFORMED_REQUEST', 'The body of an export must be a Parameters resource or absent.')
  const inBody = parametersOf(body).map(each => ({
    name: String(each['name']),
    value: textOf(each),
    isInBody: true,
  }))
  return [...inAddress, ...inBody]
}

/** The value of a parameter as text: of a Reference its reference, of a Coding its code. */
function textOf(parameter: { [key: string]: unknown }): string {
  const [, value] = Object.entries(parameter).find(([key]) => /^value[A-Z]/.test(key)) ?? []
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return String(value)
  const inner = isObject(value) ? (value['reference'] ?? value['code']) : undefined
  if (typeof inner === 'string') return inner
  const name = String(parameter['name']).slice(0, 60)
  throw wrongParameter(name, `The parameter ${name} has no value of a supported type.`)
}

const named = (params: readonly Param[], name: string): Param[] =>
  params.filter(each => each.name === name && each.value !== '')

/** The values of a parameter that may recur; lists with commas are taken too. */
const listed = (params: readonly Param[], name: string): string[] =>
  named(params, name)
    .flatMap(each => each.value.split(','))
    .map(each => each.trim())
    .filter(Boolean)

function one(params: readonly Param[], name: string): string | undefined {
  const values = named(params, name)
  if (values.length > 1) throw wrongParameter(name, `${name} must not be repeated.`)
  return values[0]?.value
}

const formats = new Set(['application/fhir+ndjson', 'application/ndjson', 'ndjson'])

function mustBeNdjson(params: readonly Param[]): void {
  // In a query a plus sign stands for a space.
  const format = one(params, '_outputFormat')?.replace('fhir ndjson', 'fhir+ndjson')
  if (format !== undefined && !formats.has(format))
    throw wrongParameter('_outputFormat', `_outputFormat must be one of ${[...formats].join(', ')}.`)
}

function instant(params: readonly Param[], name: string): number | undefined {
  const text = one(params, name)?.replace(' ', '+')
  if (text === undefined) return undefined
  const interval = /T\d\d:\d\d:\d\d.*(Z|[+-]\d\d:\d\d)$/.test(text) ? dateInterval(text) : undefined
  if (!interval) throw wrongParameter(name, `${name} must be an instant with its zone, such as 2024-05-31T14:00:00Z.`)
  return interval.low
}

function typesOf(level: Level, params: readonly Param[], store: Store, refuse: (failure: Failure) => void): string[] {
  const isOpen = (type: string): boolean => store.may(type, 'r') && store.may(type, 's')
  const wanted = new Set(listed(params, '_type'))
  for (const type of wanted)
    if (!isResourceType(type)) {
      refuse(wrongParameter('_type', `_type: "${type.slice(0, 60)}" is not a resource type.`))
      wanted.delete(type)
    }
  const closed = [...wanted].filter(type => !isOpen(type))
  if (closed.length > 0)
    throw new Failure(
      'INSUFFICIENT_SCOPE',
      `The scopes of the token do not permit exporting ${closed.join(', ')}: ${closed.map(type => `system/${type}.rs`).join(' ')} does.`,
    )
  if (wanted.size === 0 && listed(params, '_type').length > 0)
    throw wrongParameter('_type', '_type contains no known resource type.')
  const types = resourceTypes.filter(type => (wanted.size > 0 ? wanted.has(type) : isOpen(type)))
  const inside = level === 'system' ? types : types.filter(isInPatientCompartment)
  if (inside.length > 0) return types
  if (wanted.size === 0)
    throw new Failure(
      'INSUFFICIENT_SCOPE',
      'The token permits no resource type for this export: it requires system/Type.rs.',
    )
  throw notSupported('_type', `_type: ${types.join(', ')} is in no patient's compartment; export it from the system.`)
}

/** Several filters in one parameter are separated by a comma and the next type, as the guide's first version had it. */
const filtersOf = (params: readonly Param[]): string[] =>
  named(params, '_typeFilter').flatMap(each => each.value.split(/,(?=[A-Z][A-Za-z]+\?)/))

function elementsOf(params: readonly Param[]): string[] {
  const elements = listed(params, '_elements')
  for (const element of elements)
    if (!/^(?:[A-Z][A-Za-z]*\.)?[a-z][A-Za-z0-9]*$/.test(element))
      throw wrongParameter('_elements', `_elements: "${element.slice(0, 60)}" is not of the form name or Type.name.`)
  return elements
}

/** Never left out, leniently or not: without it the export would cover all patients. */
function patientsOf(level: Level, params: readonly Param[]): readonly string[] | undefined {
  const given = named(params, 'patient')
  if (given.length === 0) return undefined
  if (level === 'system')
    throw notSupported('patient', 'patient is supported by Patient/$export and Group/{id}/$export only.')
  if (given.some(each => !each.isInBody))
    throw notSupported('patient', 'patient is supported only in a Parameters body (POST), so that URLs contain no ids.')
  return given.map(each => each.value)
}
