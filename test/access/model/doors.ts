// The acts of a history as requests: Connect, the patient's telephone, and FHIR in all its forms.
import type { Answer } from '../../support/fhir.ts'
import type { Play, Stage } from './play.ts'
import { patientId } from './play.ts'
import type { Step, Way } from './steps.ts'
import { written } from './terms.ts'

export interface Act {
  readonly stage: Stage
  readonly on: Play
  readonly step: Step
  /** Id of the consent that a telephone answers. */
  readonly target: string
}

export interface Reply {
  readonly status: number
  /** The consent that the reply names. */
  readonly id: string | undefined
  readonly text: string
}

const json = { accept: 'application/json', 'content-type': 'application/json' }

/** Does what a step says. */
export async function actor({ stage, on, step, target }: Act): Promise<Reply> {
  switch (step.act) {
    case 'put':
      return asFhir(stage, on, step, 'PUT', written(step.id, patientId(on, step.patient), step.terms))
    case 'patch':
      return asFhir(stage, on, step, 'PATCH', undefined)
    case 'delete':
      return asFhir(stage, on, step, 'DELETE', undefined)
    case 'merge':
      return merge(stage, on)
    case 'unmerge':
      return unmerge(stage, on)
    case 'phone':
      return byPhone(stage, on, `${target}/${step.answer}`)
    default: {
      const path = `/api/v1/connect/patient/${on.healthIds[step.patient]}/consent/${step.act}`
      const body = JSON.stringify('type' in step ? { consent_type: step.type } : {})
      return told(await stage.call('POST', path, { token: stage.tokens[step.by], headers: json, body }))
    }
  }
}

const told = ({ status, body, text }: Answer): Reply => ({ status, id: body?.consent_id ?? undefined, text })

async function byPhone(stage: Stage, on: Play, answer: string): Promise<Reply> {
  on.phone ??= await stage.enrol(patientId(on, 0), on.healthIds[0]!)
  return told(await stage.call('POST', `/api/v1/mobile/consents/${answer}`, { token: on.phone, headers: json }))
}

const deactivation = [{ op: 'replace', path: '/status', value: 'inactive' }]
const patchJson = { 'content-type': 'application/json-patch+json' }

type FhirStep = Extract<Step, { act: 'put' | 'patch' | 'delete' }>

async function asFhir(
  stage: Stage,
  on: Play,
  step: FhirStep,
  method: string,
  resource: object | undefined,
): Promise<Reply> {
  const token = stage.tokens[step.by]
  const way = wayOf(on, step)
  const url = way === 'conditional' ? `Consent?_id=${step.id}` : `Consent/${step.id}`
  if (way === 'alone' || way === 'conditional') {
    const sent = method === 'PATCH' ? { body: JSON.stringify(deactivation), headers: patchJson } : { body: resource }
    return plain(await stage.call(method, url, { token, ...sent }))
  }
  const patch = { resourceType: 'Binary', contentType: 'application/json-patch+json', data: base64(deactivation) }
  const content = method === 'PATCH' ? patch : resource
  const entry = [{ request: { method, url }, ...(content && { resource: content }) }]
  const reply = await stage.call('POST', '', { token, body: { resourceType: 'Bundle', type: way, entry } })
  const { status } = reply.body?.entry?.[0]?.response ?? {}
  return { ...plain(reply), ...(reply.status === 200 && { status: Number.parseInt(status, 10) }) }
}

const plain = ({ status, text }: Answer): Reply => ({ status, id: undefined, text })
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')

/** A condition finds only what is there and can be seen: whoever created it, and the keeper, find it. */
function wayOf({ world }: Play, { way, id, by, act }: FhirStep): Way {
  if (way !== 'conditional' || act === 'put') return way
  const kept = world.consents.get(id)
  return kept && (by === 'keeper' || kept.creator === by) ? way : 'alone'
}

async function merge({ call, tokens, enrol }: Stage, on: Play): Promise<Reply> {
  // A telephone is enrolled under the Health ID that holds, and goes on to count after a merge.
  on.phone ??= await enrol(patientId(on, 0), on.healthIds[0]!)
  const parameter = ['source-patient', 'target-patient'].map((name, at) => ({
    name,
    valueReference: { reference: `Patient/${patientId(on, at)}` },
  }))
  const body = { resourceType: 'Parameters', parameter }
  return plain(await call('POST', 'Patient/$merge', { token: tokens['keeper'], body }))
}

async function unmerge({ call, tokens }: Stage, on: Play): Promise<Reply> {
  const entry = on.patients.map((resource, at) => ({
    resource,
    request: { method: 'PUT', url: `Patient/${patientId(on, at)}` },
  }))
  const body = { resourceType: 'Bundle', type: 'transaction', entry }
  return plain(await call('POST', '', { token: tokens['keeper'], body }))
}
