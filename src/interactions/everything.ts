// Patient/$everything: the patient, its compartment, and what these refer to (https://hl7.org/fhir/R4/operation-patient-everything.html).
import { dateInterval } from '../store/dates.ts'
import type { EverythingPlace, EverythingRequest } from '../store/everything/request.ts'
import type { Store } from '../store/store.ts'
import { type Link, searchset } from './bundle.ts'
import { operationPairs, single, wrongParameter } from './parameters.ts'
import type { FhirReply, SearchCall } from './request.ts'
import { typesNamed } from './search.ts'

type Pairs = readonly (readonly [string, string])[]

/** Most resources of one page; without _count an answer is whole up to here, and paged beyond. */
const most = 10_000
/** Page of `Patient/$everything` without _count: all patients are seldom meant to come at once. */
const typePage = 1000

/** @param address of the request, for the links of its pages */
export async function everythingOf(
  store: Store,
  request: SearchCall,
  address = `${request.base}/${request.segments.join('/')}`,
): Promise<FhirReply> {
  const pairs = operationPairs(request)
  const patient = request.segments.length === 3 ? request.segments[1] : undefined
  const page = await store.everything({
    ...wanted(pairs, patient === undefined ? typePage : most),
    patient,
    memory: request.memory,
  })
  const links = linksOf(address, pairs, page.next)
  const { matches, included, total } = page
  const body = searchset(request.base, matches, included, links, total, undefined)
  return { status: 200, body, found: matches.length + included.length }
}

function wanted(pairs: Pairs, page: number): Omit<EverythingRequest, 'patient'> {
  const types = typesNamed(pairs)
  return {
    start: date(pairs, 'start')?.low,
    end: date(pairs, 'end')?.high,
    since: date(pairs, '_since')?.low,
    types: types.length > 0 ? types : undefined,
    count: countOf(pairs) ?? page,
    after: placeOf(pairs),
  }
}

function date(pairs: Pairs, name: string): { low: number; high: number } | undefined {
  const text = single(pairs, name)
  if (text === undefined) return undefined
  const interval = dateInterval(text.replace(' ', '+'))
  if (!interval) throw wrongParameter(name, `${name} must be a date, such as 2024, 2024-05-31 or 2024-05-31T14:00:00Z.`)
  return interval
}

function countOf(pairs: Pairs): number | undefined {
  const text = single(pairs, '_count')
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(text)) throw wrongParameter('_count', '_count must be a positive whole number.')
  return Math.min(Number(text), most)
}

const understood = new Set(['start', 'end', '_since', '_type', '_count'])

function linksOf(address: string, pairs: Pairs, next: EverythingPlace | undefined): Link[] {
  const kept = pairs.filter(([name]) => understood.has(name)).map(([name, value]): [string, string] => [name, value])
  const url = (...more: [string, string][]): string => {
    const query = new URLSearchParams([...kept, ...more]).toString()
    return query === '' ? address : `${address}?${query}`
  }
  const cursor = single(pairs, '_cursor')
  const links: Link[] = [{ relation: 'self', url: cursor === undefined ? url() : url(['_cursor', cursor]) }]
  if (next) links.push({ relation: 'next', url: url(['_cursor', cursorTo(next)]) })
  return links
}

const cursorTo = ({ part, key, total }: EverythingPlace): string =>
  `${part === 'compartment' ? 'c' : 'o'}${key}${total === undefined ? '' : `-${total}`}`

function placeOf(pairs: Pairs): EverythingPlace | undefined {
  const text = single(pairs, '_cursor')
  if (text === undefined) return undefined
  const [, part, key, total] = /^([co])(\d{1,15})(?:-(\d{1,9}))?$/.exec(text) ?? []
  if (!part) throw wrongParameter('_cursor', 'The page link is not valid: follow the links of the previous page.')
  const place = { part: part === 'c' ? 'compartment' : 'outside', key: Number(key) } as const
  return total === undefined ? place : { ...place, total: Number(total) }
}
