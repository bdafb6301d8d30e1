// GET AuditEvent and AuditEvent/{id}: the audit trail, which clients read and never write (https://hl7.org/fhir/R4/auditevent.html).
import { type AuditPlace, type AuditQuery, auditId } from '../audit/reader.ts'
import { Failure } from '../lib/failure.ts'
import { dateInterval, earliest, type Interval, latest } from '../store/dates.ts'
import { auditEventId, auditEventOf } from './audit-event.ts'
import { type Link, searchset, warningOutcome } from './bundle.ts'
import { wrongParameter } from './parameters.ts'
import { project, projectionFrom } from './projection.ts'
import type { FhirReply, FhirRequest } from './request.ts'

type Pairs = readonly (readonly [string, string])[]

/** What the trail is searched by, with the types that the CapabilityStatement names. */
export const auditParameters = {
  _id: 'token',
  date: 'date',
  patient: 'reference',
  agent: 'reference',
  action: 'token',
  outcome: 'token',
  entity: 'reference',
} as const

/** True for what the audit trail answers instead of the store. */
export function isAboutTrail({ segments, method }: FhirRequest): boolean {
  const [type, second, ...more] = segments
  if (type !== 'AuditEvent' || more.length > 0) return false
  if (method === 'POST') return second === '_search'
  return (method === 'GET' || method === 'HEAD') && !/^[_$]/.test(second ?? '')
}

export async function trailOf(request: FhirRequest): Promise<FhirReply> {
  const id = request.segments[1]
  return id === undefined || id === '_search' ? searchTrail(request) : readTrail(request, id)
}

async function readTrail(request: FhirRequest, id: string): Promise<FhirReply> {
  const record = await request.trail.read(id)
  const body = JSON.stringify(auditEventOf(record, request.people.addresses.base.endpoint))
  return { status: 200, body: project(body, projectionFrom(request.search)), version: 1, updatedAt: record.recordedAt }
}

async function searchTrail(request: FhirRequest): Promise<FhirReply> {
  const { base, trail, prefer, people } = request
  const pairs: Pairs = [...request.search, ...(request.body instanceof URLSearchParams ? request.body : [])]
  const unknown = pairs
    .map(([name]) => name)
    .filter(name => !understood.has(name.replace(/^agent:identifier$/, 'agent')))
  const words = unknown.map(name => `The audit trail cannot be searched by ${name.slice(0, 60)}.`)
  if (prefer.strict && words.length > 0) throw new Failure('MALFORMED_REQUEST', words.join(' '))
  const applied = pairs.filter(([name]) => !unknown.includes(name) && name !== '_cursor')
  const query = queryOf(pairs, text(applied))
  const found = await trail.search(query)
  const shown = found.slice(0, query.count)
  const hits = shown.map(record => ({
    type: 'AuditEvent',
    id: auditEventId(record),
    body: project(JSON.stringify(auditEventOf(record, people.addresses.base.endpoint)), projectionFrom(request.search)),
  }))
  const address = `${base}/AuditEvent`
  const links: Link[] = [{ relation: 'self', url: `${address}?${text(applied)}` }]
  const last = found.length > shown.length ? shown.at(-1) : undefined
  if (last) {
    const cursor = [last.recordedAt.getTime(), last.chain, last.sequence].join('-')
    links.push({ relation: 'next', url: `${address}?${text([...applied, ['_cursor', cursor]])}` })
  }
  const outcome = warningOutcome(words)
  return { status: 200, body: searchset(base, hits, [], links, undefined, outcome) }
}

const understood = new Set([
  ...Object.keys(auditParameters),
  '_count',
  '_sort',
  '_cursor',
  '_format',
  '_elements',
  '_summary',
])
const text = (pairs: Pairs): string => new URLSearchParams(pairs.map(([name, value]) => [name, value])).toString()

function queryOf(pairs: Pairs, asText: string): AuditQuery {
  const all = (name: string): string[] => pairs.filter(([key]) => key === name).map(([, value]) => value)
  const list = (name: string, read: (value: string) => string = value => value): string[] | undefined => {
    const [value, ...more] = all(name)
    if (more.length > 0) throw wrongParameter(name, `${name} can be given once, with commas between alternatives.`)
    return value?.split(',').filter(Boolean).map(read)
  }
  for (const sort of all('_sort'))
    if (sort !== '-date') throw wrongParameter('_sort', 'The audit trail is told newest first: _sort=-date.')
  return {
    ids: list('_id')?.flatMap(id => auditId(id) ?? []),
    dates: all('date').map(intervalOf),
    patients: list('patient', value => value.replace(/^.*Patient\//, '')),
    clients: list('agent:identifier', codeOf) ?? list('agent', agentOf),
    actions: list('action', codeOf),
    outcomes: list('outcome', codeOf),
    entities: list('entity')?.map(entityOf),
    count: countOf(all('_count')[0]),
    after: placeOf(all('_cursor')[0]),
    text: asText,
  }
}

/** Of `system|value` the value. */
const codeOf = (value: string): string => value.slice(value.lastIndexOf('|') + 1)

/** An agent as rows tell it: a client or user by its identifier, a patient by reference. */
const agentOf = (value: string): string => codeOf(value).replace(/^.*\bPatient\//, 'patient/')

function entityOf(value: string): { type: string; id: string } {
  const [, type, id] = /(?:^|\/)([A-Z][A-Za-z]+)\/([A-Za-z0-9.-]{1,64})$/.exec(value) ?? []
  if (!type || !id) throw wrongParameter('entity', 'entity must be a reference, such as Observation/1.')
  return { type, id }
}

function intervalOf(value: string): Interval {
  const [, prefix, date] = /^(eq|ge|gt|le|lt|sa|eb)?(.*)$/s.exec(value.replace(' ', '+')) as unknown as [
    string,
    string?,
    string?,
  ]
  const interval = dateInterval(date ?? '')
  if (!interval) throw wrongParameter('date', 'date must be a date, such as ge2026-01-31 or lt2026-01-31T14:00:00Z.')
  const { low, high } = interval
  if (prefix === 'ge') return { low, high: latest }
  if (prefix === 'gt' || prefix === 'sa') return { low: high + 1, high: latest }
  if (prefix === 'le') return { low: earliest, high }
  if (prefix === 'lt' || prefix === 'eb') return { low: earliest, high: low - 1 }
  return interval
}

function countOf(value = '20'): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw wrongParameter('_count', '_count must be a whole number above 0.')
  return Math.min(Number(value), 1000)
}

function placeOf(value: string | undefined): AuditPlace | undefined {
  if (value === undefined) return undefined
  const [, time, chain, sequence] = /^(\d{1,15})-(\d{1,9})-(\d{1,15})$/.exec(value) ?? []
  if (!time) throw wrongParameter('_cursor', 'The page link is not valid: follow the links of the previous page.')
  return { time: Number(time), chain: Number(chain), sequence: Number(sequence) }
}
