// Consent: how it stands, asking for it, and recording what the patient decides (interface §4.5, decisions §3 and §5).
import { Type } from 'typebox'
import type { Answer } from '../../consents/desk.ts'
import { type Given, termsOf } from '../../consents/terms.ts'
import { bearer, type Reply, type Route, type RouteRequest, reply, route } from '../../http/route.ts'
import { healthIdParam, patientOf } from '../../mpi/patient-of.ts'
import { ConsentRecord } from '../../shapes/consent.ts'
import { ConsentAsk, ConsentGrant } from './consent-shapes.ts'
import type { ConnectParts } from './parts.ts'

const base = '/api/v1/connect/patient/{health_id}/consent'
const tag = 'Connect'

export function consentRoutes(parts: ConnectParts): Route[] {
  return [
    statusRoute(parts),
    askRoute(parts),
    grantRoute(parts),
    endRoute(parts, {
      answer: 'revoke',
      description:
        'Ends every permission of the own organisation, and nothing that a Consent says to others. A 409 says that there is none, or that a refusal of another party stands in one of them, and who can end it; nothing has ended then.',
      summary: 'Record that the patient takes the consent back; it holds no more from the next request on',
    }),
    endRoute(parts, {
      answer: 'deny',
      description:
        'Rejects every request that is for the own organisation alone. A 409 says that there is none, or that one asks for others too; nothing is rejected then.',
      summary: 'Record that the patient refuses what was asked for',
    }),
  ]
}

const Nothing = Type.Object({}, { additionalProperties: false })

type About = Pick<RouteRequest<{ health_id: string }, unknown, unknown>, 'params' | 'caller' | 'requestId'>

const subjectOf = ({ databaseFor }: ConnectParts, { params, caller }: About) =>
  patientOf(databaseFor(caller), params.health_id)

function statusRoute(parts: ConnectParts): Route {
  return route({
    method: 'GET',
    path: `${base}/status`,
    tag,
    operationId: 'consentStatus',
    summary: 'How the consent of a patient for the own organisation stands',
    description: 'What is in force comes first, then what was asked for, then what was last.',
    access: bearer('consents:read', 'consents:write'),
    params: healthIdParam,
    replies: { 200: ConsentRecord },
    async handle(request) {
      const subject = await subjectOf(parts, request)
      return reply(200, await parts.consents.status(request, subject, request.caller.organizationId))
    },
  })
}

function askRoute(parts: ConnectParts): Route {
  return route({
    method: 'POST',
    path: `${base}/request`,
    tag,
    operationId: 'requestConsent',
    summary: 'Ask a patient for consent',
    description:
      'The patient answers it by telephone, or a grant records the answer. Asking again for the same changes nothing.',
    access: bearer('consents:write'),
    params: healthIdParam,
    body: ConsentAsk,
    maxBodyBytes: 16_384,
    replies: { 202: ConsentRecord },
    async handle(request) {
      const terms = termsOf(parts, request.body)
      const subject = await subjectOf(parts, request)
      return reply(202, await parts.consents.ask(request, subject, request.caller.organizationId, terms))
    },
  })
}

function grantRoute(parts: ConnectParts): Route {
  return route({
    method: 'POST',
    path: `${base}/grant`,
    tag,
    operationId: 'grantConsent',
    summary: 'Record that the patient consents that the own organisation sees data',
    description:
      'The patient must be present, or verified in another way. It answers what was asked for, or renews what was given, of the same type.',
    access: bearer('consents:write'),
    params: healthIdParam,
    body: ConsentGrant,
    maxBodyBytes: 16_384,
    replies: { 201: ConsentRecord },
    async handle(request) {
      const { body, caller } = request
      const terms = termsOf(parts, body as Given)
      const subject = await subjectOf(parts, request)
      const { consents } = parts
      return reply(201, await consents.grant(request, subject, caller.organizationId, terms, body.verification_method))
    },
  })
}

function endRoute(
  parts: ConnectParts,
  { answer, summary, description }: { answer: Exclude<Answer, 'grant'>; summary: string; description: string },
): Route {
  return route({
    method: 'POST',
    path: `${base}/${answer}`,
    tag,
    operationId: `${answer}Consent`,
    summary,
    description,
    access: bearer('consents:write'),
    params: healthIdParam,
    body: Nothing,
    bodyOptional: true,
    maxBodyBytes: 16_384,
    replies: { 200: ConsentRecord },
    async handle(request): Promise<Reply> {
      const subject = await subjectOf(parts, request)
      return reply(200, await parts.consents.answerAll(request, subject, request.caller.organizationId, answer))
    },
  })
}
