// Patient/$match: which registered people a patient could be (https://hl7.org/fhir/R4/patient-operation-match.html).

import { Failure } from '../lib/failure.ts'
import { parse } from '../lib/health-id.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import type { Piece } from '../lib/pieces.ts'
import type { Grade } from '../mpi/matching/decide.ts'
import { featuresOf } from '../mpi/matching/person.ts'
import { healthIdsOf, personOf } from '../mpi/register/patient.ts'
import { shownScore } from '../mpi/register/review.ts'
import type { Store } from '../store/store.ts'
import { matchset } from './bundle.ts'
import { wrongParameter } from './parameters.ts'
import type { People } from './people.ts'
import type { FhirReply, FhirRequest } from './request.ts'
import { countOf, flagOf, inputsOf } from './terminology/inputs.ts'

export const matchTakes = {
  onlyCertainMatches: 'true returns only a certain match, or none.',
  count: 'The maximum number of matches, at most 100. Default: 20.',
} as const

const USUAL = 20
const MOST = 100
/** A Health ID and demographics that disagree: one of both is wrong. */
const DOUBTFUL = 0.5

interface Match {
  readonly id: string
  readonly grade: Grade
  readonly score: number
}

/** Patients that the caller may not see are left out, and not named in the audit trail, which the caller may read. */
export async function matchOf(store: Store, request: FhirRequest): Promise<FhirReply> {
  if (!store.may('Patient', 's'))
    throw new Failure(
      'INSUFFICIENT_SCOPE',
      'The scopes of the token do not permit searching Patient: system/Patient.s does.',
    )
  const inputs = inputsOf(store.library(), request, ['resource', ...Object.keys(matchTakes)])
  const [patient, ...more] = inputs.all('resource')
  if (!isObject(patient) || more.length > 0)
    throw wrongParameter(
      'resource',
      'The Parameters resource must contain resource exactly once: the Patient to compare.',
    )
  mustBeSound(store, patient)
  const isCertain = flagOf(inputs, 'onlyCertainMatches')
  const count = Math.min(countOf(inputs, 'count') ?? USUAL, MOST)
  const matches = await matchesOf(request.people, patient)
  const wanted = matches.filter(({ grade }) => !isCertain || grade === 'certain').slice(0, count)
  return { status: 200, body: matchset(request.base, await seen(request.people, wanted)) }
}

function mustBeSound(store: Store, patient: JsonObject): void {
  const errors = store.validate('Patient', patient).filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (!first) return
  throw new Failure('MALFORMED_REQUEST', `The Patient to compare is not valid: ${first.diagnostics}`, {
    details: errors
      .slice(0, 100)
      .map(({ expression, code, diagnostics }) => ({ field: expression, code, message: diagnostics })),
  })
}

/** Returns all candidates, the likeliest first. */
async function matchesOf(people: People, patient: JsonObject): Promise<Match[]> {
  const person = featuresOf(personOf(patient))
  const [{ ranked }, holder] = await Promise.all([people.rank(person), holderIn(people, patient)])
  const found = ranked
    .filter(({ grade }) => grade !== 'certainly-not')
    .map((each): Match => ({ id: each.id, grade: each.grade, score: shownScore(each) }))
  if (holder === undefined) return inOrder(found)
  const same = ranked.find(({ id }) => id === holder)
  const isUnknown = person.names.length === 0 || person.birth === undefined
  const agrees = same ? same.grade !== 'certainly-not' && !same.score.isBlocked : isUnknown
  const others = found.filter(({ id }) => id !== holder)
  if (!agrees) return inOrder([{ id: holder, grade: 'possible', score: DOUBTFUL }, ...others])
  const possible = others.map((each): Match => (each.grade === 'certain' ? { ...each, grade: 'probable' } : each))
  return inOrder([{ id: holder, grade: 'certain', score: 1 }, ...possible])
}

const inOrder = (matches: readonly Match[]): Match[] => matches.toSorted((a, b) => b.score - a.score)

/** Who holds the Health ID that the patient to compare has. */
async function holderIn(people: People, patient: JsonObject): Promise<string | undefined> {
  const [text] = healthIdsOf(patient, people.addresses).current
  const reading = parse(text ?? '')
  return 'healthId' in reading ? (await people.holderOf(reading.healthId))?.patient : undefined
}

async function seen(people: People, matches: readonly Match[]): Promise<(Match & { body: Piece })[]> {
  const bodies = await people.seen(matches.map(({ id }) => id))
  return matches.flatMap(each => {
    const body = bodies.get(each.id)
    return body === undefined ? [] : [{ ...each, body }]
  })
}
