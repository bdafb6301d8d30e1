// Patient/$merge: merges two patients that are one person (https://hl7.org/fhir/R5/patient-operation-merge.html, which
// R4 does not have; the shape is the same). References to the source stay, and lead a reader to the target. Patient/$unmerge makes them
// two people again.

import { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject, parseJson } from '../lib/json.ts'
import { linked, obstacle, replacesLink, survivor, undoObstacle } from '../mpi/register/merge.ts'
import { type Addresses, healthIdsOf } from '../mpi/register/patient.ts'
import { merged, partedFrom, unmerged } from '../patients/merge.ts'
import type { Store } from '../store/store.ts'
import { referenceTarget } from '../store/values.ts'
import { wrongParameter } from './parameters.ts'
import type { FhirReply, FhirRequest } from './request.ts'
import { flagOf, type Inputs, inputsOf } from './terminology/inputs.ts'

export const mergeTakes = { preview: 'true returns the merged patient without storing it.' } as const

const taken = ['source-patient', 'target-patient', 'result-patient', ...Object.keys(mergeTakes)]

export const unmergeTakes = { preview: 'true returns the target as it would be without storing it.' } as const

export async function mergeOf(store: Store, request: FhirRequest): Promise<FhirReply> {
  const inputs = inputsOf(store.library(), request, taken)
  const { addresses } = request.people
  const [source, target] = [idIn(inputs, 'source-patient', addresses), idIn(inputs, 'target-patient', addresses)]
  const isPreview = flagOf(inputs, 'preview')
  const merge = async (own: Store, service: Store): Promise<string> => {
    const [from, into] = [await readBy(own, source), await readBy(own, target)]
    const reason = obstacle(from.patient, into.patient, addresses)
    if (reason !== undefined) throw refused(reason)
    const result = resultOf(inputs, from.patient, into.patient, addresses)
    if (isPreview) return previewed(own, result)
    const last = await merged({ own, service, addresses }, from, into, result)
    return last ?? JSON.stringify(result)
  }
  const result = await request.people.together(merge)
  return { status: 200, body: answer(request.body, result, isPreview ? preview : done) }
}

const preview = 'This is a preview of the target. Nothing was stored.'
const done = 'The patients were merged. Patient/$unmerge undoes it.'
const undone =
  'The merge was undone. What was recorded for the target since the merge, or moved to it, stays there: review whose it is.'

export async function unmergeOf(store: Store, request: FhirRequest): Promise<FhirReply> {
  const inputs = inputsOf(store.library(), request, ['source-patient', 'target-patient', ...Object.keys(unmergeTakes)])
  const { addresses } = request.people
  const [source, target] = [idIn(inputs, 'source-patient', addresses), idIn(inputs, 'target-patient', addresses)]
  const isPreview = flagOf(inputs, 'preview')
  const result = await request.people.together(async (own, service) => {
    const [from, into] = [await readBy(own, source), await readBy(own, target)]
    const reason = undoObstacle(from.patient, into.patient, addresses)
    if (reason !== undefined) throw refused(reason)
    const parts = { own, service, addresses }
    if (isPreview) return previewed(own, (await partedFrom(parts, from.patient, into.patient)).target)
    return (await unmerged(parts, from, into))!
  })
  return { status: 200, body: answer(request.body, result, isPreview ? preview : undone) }
}

function idIn(inputs: Inputs, name: string, { base }: Addresses): string {
  const [value, ...more] = inputs.all(name)
  const reference = isObject(value) ? value['reference'] : undefined
  const target = typeof reference === 'string' ? referenceTarget(reference, base) : undefined
  if (!target?.startsWith('Patient/') || more.length > 0)
    throw wrongParameter(name, `${name} must occur exactly once: a reference such as Patient/123, as valueReference.`)
  return target.slice('Patient/'.length)
}

async function readBy(store: Store, id: string): Promise<{ patient: JsonObject; version: number }> {
  const { body, version } = await store.read('Patient', id)
  return { patient: parseJson(body) as JsonObject, version }
}

const refused = (message: string, field?: string): Failure =>
  new Failure('VALIDATION_FAILED', message, {
    issue: 'business-rule',
    details: [{ ...(field ? { field } : {}), code: 'business-rule', message }],
  })

/** The target as it will be: as the caller says, or with what the source had. */
function resultOf(inputs: Inputs, source: JsonObject, target: JsonObject, addresses: Addresses): JsonObject {
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
