// GET AuditEvent and AuditEvent/{id}: the audit trail, which clients read and never write (https://hl7.org/fhir/R4/auditevent.html).
import { type AuditTest, anyTest } from '../audit/criteria.ts'
import type { AuditPlace } from '../audit/reader.ts'
import type { Base } from '../store/base.ts'
import { splitOr, unescaped } from '../store/search/query-text.ts'
import { auditEventId, auditEventOf } from './audit-event.ts'
import { type AuditParameter, auditParameters } from './audit-parameters.ts'
import { type Link, mustBeFollowed, searchset, warningOutcome } from './bundle.ts'
import { wrongParameter } from './parameters.ts'
import { project, projectionFrom } from './projection.ts'
import type { FhirReply, FhirRequest, SearchCall } from './request.ts'

type Pairs = readonly (readonly [string, string])[]

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

/** @param about an address of its own, and the criterion that it stands for */
export async function searchTrail(
  { base, trail, people, search, body }: SearchCall,
  about?: { readonly address: string; readonly own: readonly [string, string] },
): Promise<FhirReply> {
  const pairs: Pairs = [...search, ...(body instanceof URLSearchParams ? body : [])]
  const applied = pairs.filter(([name, value]) => name !== '_cursor' && value !== '')
  const shape = shapeOf(pairs)
  const own = people.addresses.base
  const asked = about ? [about.own, ...applied] : applied
  const tests = asked.filter(([name]) => !controls.has(name)).map(([name, value]) => testOf(name, value, own))
  const found = await trail.search({ tests, count: shape.count, after: shape.after, text: text(asked) })
  const shown = found.slice(0, shape.count)
  const projection = projectionFrom(new URLSearchParams(text(pairs)))
  const hits = shown.map(record => ({
    type: 'AuditEvent',
    id: auditEventId(record),
    body: project(JSON.stringify(auditEventOf(record, own.endpoint)), projection),
  }))
  const address = about?.address ?? `${base}/AuditEvent`
  const links: Link[] = [{ relation: 'self', url: `${address}?${text(applied)}` }]
  const last = found.length > shown.length ? shown.at(-1) : undefined
  if (last) {
    const cursor = [last.recordedAt.getTime(), last.chain, last.sequence].join('-')
    links.push({ relation: 'next', url: `${address}?${text([...applied, ['_cursor', cursor]])}` })
  }
  mustBeFollowed(links)
  // What is archived follows the last page.
  const archived = last ? undefined : await trail.archivedUntil(tests)
  const total = last || archived || shape.after || !shape.isTotalWanted ? undefined : shown.length
  const page = searchset(base, hits, [], links, total, archived && archivedOutcome(archived))
  return { status: 200, body: page, found: hits.length }
}

const archivedOutcome = (until: Date): string | undefined =>
  warningOutcome(
    [],
    [
      `Rows of the audit trail up to ${until.toISOString()} are archived and not searched. Ask the operator of this service for them, or search by a later date.`,
    ],
  )

/** Parameters that shape the answer. */
const controls: ReadonlySet<string> = new Set([
  '_count',
  '_sort',
  '_total',
  '_cursor',
  '_format',
  '_pretty',
  '_elements',
  '_summary',
])

const text = (pairs: Pairs): string => new URLSearchParams(pairs.map(([name, value]) => [name, value])).toString()

/**
 * Returns the test of one parameter. Ignoring an unsupported condition would disclose rows beyond the request, so it is
 * refused.
 */
function testOf(name: string, value: string, base: Base): AuditTest {
  const [code, modifier = '', ...more] = name.split(':') as [string, string?, ...string[]]
  const parameter = Object.hasOwn(auditParameters, code) ? auditParameters[code] : undefined
  if (!parameter || more.length > 0)
    throw wrongParameter(name.slice(0, 60), `The audit trail cannot be searched by ${name.slice(0, 60)}.`)
  if (modifier === 'missing') return missingTest(parameter, code, value)
  if (modifier !== '' && !parameter.modifiers.includes(modifier))
    throw wrongParameter(name.slice(0, 60), wordsFor(code, modifier, parameter))
  const values = splitOr(value).map(each => parameter.find(unescaped(each), modifier, base))
  // None of several: `action:not=C,R` is neither.
  return modifier === 'not' ? { all: values } : anyTest(values)
}

function missingTest({ has }: AuditParameter, code: string, value: string): AuditTest {
  if (value === 'true') return { not: has }
  if (value === 'false') return has
  throw wrongParameter(`${code}:missing`, `${code}:missing must be true or false.`)
}

function wordsFor(code: string, modifier: string, { type, modifiers }: AuditParameter): string {
  const taken = ['missing', ...modifiers].map(each => `:${each}`).join(', ')
  return `:${modifier.slice(0, 60)} is not supported on the ${type} parameter ${code}, which supports ${taken}.`
}

interface Shape {
  readonly count: number
  readonly after: AuditPlace | undefined
  readonly isTotalWanted: boolean
}

function shapeOf(pairs: Pairs): Shape {
  const all = (name: string): string[] =>
    pairs.filter(([key, value]) => key === name && value !== '').map(([, value]) => value)
  for (const sort of all('_sort'))
    if (sort !== '-date')
      throw wrongParameter('_sort', 'The audit trail can only be sorted newest first: use _sort=-date.')
  for (const total of all('_total'))
    if (total === 'accurate' || total === 'estimate')
      throw wrongParameter(
        '_total',
        'The audit trail is not counted: the total is given only if all matches fit on one page.',
      )
    else if (total !== 'none') throw wrongParameter('_total', '_total must be none for AuditEvent.')
  return {
    count: countOf(all('_count')[0]),
    after: placeOf(all('_cursor')[0]),
    isTotalWanted: all('_total').length === 0,
  }
}

function countOf(value = '20'): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw wrongParameter('_count', '_count must be a positive whole number.')
  return Math.min(Number(value), 1000)
}

function placeOf(value: string | undefined): AuditPlace | undefined {
  if (value === undefined) return undefined
  const [, time, chain, sequence] = /^(\d{1,15})-(\d{1,10})-(\d{1,15})$/.exec(value) ?? []
  if (!time) throw wrongParameter('_cursor', 'The page link is not valid: follow the links of the previous page.')
  return { time: Number(time), chain: Number(chain), sequence: Number(sequence) }
}
