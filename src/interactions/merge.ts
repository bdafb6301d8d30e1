// Patient/$merge: merges two patients that are one person (https://hl7.org/fhir/R5/patient-operation-merge.html, which
// R4 does not have; the shape is the same). References to the source stay, and lead a reader to the target. Patient/$unmerge makes them
// two people again.

import { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject, parseJson } from '../lib/json.ts'
import { linked, obstacle, replacesLink, survivor, undoObstacle } from '../mpi/register/merge.ts'
import { type Addresses, healthIdsOf } from '../mpi/register/patient.ts'
import { type Merging, merged, partedFrom, type ReadPatient, unmerged } from '../patients/merge.ts'
import type { Store } from '../store/store.ts'
import { referenceTarget } from '../store/values.ts'
import { wrongParameter } from './parameters.ts'
import type { FhirReply, FhirRequest } from './request.ts'
import { flagOf, type Inputs, inputsOf } from './terminology/inputs.ts'

export const mergeTakes = { preview: 'true returns the merged patient without storing it.' } as const

export const unmergeTakes = { preview: 'true returns the target as it would be without storing it.' } as const

/** What becomes of two patients. */
interface Act {
  readonly takes: readonly string[]
  /** Why it cannot be done to these two; undefined if it can. */
  readonly obstacle: typeof obstacle
  /** Returns the target as it would be. */
  readonly plan: (inputs: Inputs, pair: Pair) => JsonObject | Promise<JsonObject>
  /** Stores it. @returns the body of the target */
  readonly store: (inputs: Inputs, pair: Pair) => Promise<string | undefined>
  readonly done: string
}

interface Pair extends Merging {
  readonly from: ReadPatient
  readonly into: ReadPatient
}

export const mergeOf = (store: Store, request: FhirRequest): Promise<FhirReply> =>
  acted(store, request, {
    takes: ['result-patient', ...Object.keys(mergeTakes)],
    obstacle,
    plan: resultOf,
    store: (inputs, pair) => merged(pair, pair.from, pair.into, resultOf(inputs, pair)),
    done: 'The patients were merged. Patient/$unmerge undoes it.',
  })

export const unmergeOf = (store: Store, request: FhirRequest): Promise<FhirReply> =>
  acted(store, request, {
    takes: Object.keys(unmergeTakes),
    obstacle: undoObstacle,
    plan: async (_inputs, pair) => (await partedFrom(pair, pair.from.patient, pair.into.patient)).target,
    store: (_inputs, pair) => unmerged(pair, pair.from, pair.into),
    done: 'The merge was undone. What was recorded for the target since the merge, or moved to it, stays there: review whose it is.',
  })

async function acted(store: Store, request: FhirRequest, act: Act): Promise<FhirReply> {
  const inputs = inputsOf(store.library(), request, ['source-patient', 'target-patient', ...act.takes])
  const { addresses } = request.people
  const [source, target] = [idIn(inputs, 'source-patient', addresses), idIn(inputs, 'target-patient', addresses)]
  const isPreview = flagOf(inputs, 'preview')
  const result = await request.people.together(async (own, service) => {
    const pair = { own, service, addresses, from: await readBy(own, source), into: await readBy(own, target) }
    const reason = act.obstacle(pair.from.patient, pair.into.patient, addresses)
    if (reason !== undefined) throw refused(reason)
    if (isPreview) return previewed(own, await act.plan(inputs, pair))
    return (await act.store(inputs, pair)) ?? JSON.stringify(await act.plan(inputs, pair))
  })
  const text = isPreview ? 'This is a preview of the target. Nothing was stored.' : act.done
  return { status: 200, body: answer(request.body, result, text) }
}

function idIn(inputs: Inputs, name: string, { base }: Addresses): string {
  const [value, ...more] = inputs.all(name)
  const reference = isObject(value) ? value['reference'] : undefined
  const target = typeof reference === 'string' ? referenceTarget(reference, base) : undefined
  if (!target?.startsWith('Patient/') || more.length > 0)
    throw wrongParameter(name, `${name} must occur exactly once: a reference such as Patient/123, as valueReference.`)
  return target.slice('Patient/'.length)
}

async function readBy(store: Store, id: string): Promise<ReadPatient> {
  const { body, version } = await store.read('Patient', id)
  return { patient: parseJson(body) as JsonObject, version }
}

const refused = (message: string, field?: string): Failure =>
  new Failure('VALIDATION_FAILED', message, {
    issue: 'business-rule',
    details: [{ ...(field ? { field } : {}), code: 'business-rule', message }],
  })

/** The target as it will be: as the caller says, or with what the source had. */
function resultOf(
  inputs: Inputs,
  { from: { patient: source }, into: { patient: target }, addresses }: Pair,
): JsonObject {
  const [given, ...more] = inputs.all('result-patient')
  const usual = survivor(source, target, addresses)
  if (given === undefined) return usual
  if (!isObject(given) || given['resourceType'] !== 'Patient' || more.length > 0)
    throw wrongParameter('result-patient', 'result-patient must be one Patient.')
  if (given['id'] !== target['id']) throw refused('result-patient must have the id of the target.', 'result-patient.id')
  const held = healthIdsOf(given, addresses).current
  if (healthIdsOf(usual, addresses).current.some(each => !held.includes(each)))
    throw refused('result-patient must keep the Health ID of the target.', 'result-patient.identifier')
  return linked(given, replacesLink(source))
}

/** Says before what would be refused then. */
function previewed(store: Store, result: JsonObject): string {
  const [error] = store.validate('Patient', result).filter(({ severity }) => severity === 'error')
  if (error) throw refused(error.diagnostics, error.expression)
  return JSON.stringify(result)
}

function answer(input: unknown, result: string, text: string): string {
  const outcome = {
    resourceType: 'OperationOutcome',
    issue: [{ severity: 'information', code: 'informational', details: { text }, diagnostics: text }],
  }
  const parameters = JSON.stringify({
    resourceType: 'Parameters',
    parameter: [
      { name: 'input', resource: input },
      { name: 'outcome', resource: outcome },
    ],
  })
  return `${parameters.slice(0, -2)},{"name":"result","resource":${result}}]}`
}
