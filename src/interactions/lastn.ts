// Observation/$lastn: the newest observations of each kind (https://hl7.org/fhir/R4/observation-operation-lastn.html).
import { Failure } from '../lib/failure.ts'
import type { Store } from '../store/store.ts'
import { type Link, searchset, warningOutcome } from './bundle.ts'
import { operationPairs, single, wrongParameter } from './parameters.ts'
import type { FhirReply, FhirRequest } from './request.ts'

/** Parameters that would give the answer another shape than the operation has. */
const shaping = ['_sort', '_count', '_total', '_summary', '_elements', '_include', '_revinclude', '_cursor']

/** Most observations of each kind: the answer has no pages. */
const mostOfKind = 100

/** Any search parameter of Observation chooses; `max` says how many of each kind. */
export async function lastnOf(store: Store, request: FhirRequest): Promise<FhirReply> {
  const pairs = operationPairs(request)
  for (const [name] of pairs)
    if (shaping.includes(name.split(':')[0]!)) throw wrongParameter(name, `$lastn does not support ${name}.`)
  const max = maxOf(single(pairs, 'max'))
  const filters = pairs.filter(([name]) => name !== 'max')
  const search = store.parse(['Observation'], filters, request.prefer.strict)
  const result = await store.lastn(search, max)
  const query = new URLSearchParams([...search.applied.map(([name, value]) => [name, value]), ['max', String(max)]])
  const links: Link[] = [{ relation: 'self', url: `${request.base}/Observation/$lastn?${query}` }]
  const outcome = warningOutcome(result.warnings)
  return {
    status: 200,
    body: searchset(request.base, result.matches, [], links, result.matches.length, outcome),
  }
}

function maxOf(text: string | undefined): number {
  if (text === undefined) return 1
  if (!/^[1-9]\d{0,5}$/.test(text)) throw wrongParameter('max', 'max must be a positive whole number.')
  if (Number(text) > mostOfKind) {
    const message = `max must be at most ${mostOfKind}: for more of one kind, search Observation by code.`
    throw new Failure('MALFORMED_REQUEST', message, {
      issue: 'too-costly',
      details: [{ field: 'max', code: 'too-costly', message }],
    })
  }
  return Number(text)
}
