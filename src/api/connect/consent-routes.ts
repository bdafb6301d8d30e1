// Consent: how it stands, asking for it, and recording what the patient decides (interface §4.5, decisions §3 and §5).

import type { ConsentDecision } from '../../consents/service.ts'
import { type Given, termsOf } from '../../consents/terms.ts'
import { bearer, type Reply, type Route, type RouteRequest, reply, route } from '../../http/route.ts'
import { Type } from '../../lib/schema.ts'
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
        'Ends every permission of your organisation; permissions of other organisations remain. Returns 409 and changes nothing if there is no consent, or if one of the consents also contains a refusal for another party. The message then names the party that can end it.',
      summary: 'Record that a patient revokes consent, effective from the next request',
    }),
    endRoute(parts, {
      answer: 'deny',
      description:
        'Rejects every pending request that concerns only your organisation. Returns 409 and changes nothing if there is no request, or if one also concerns other organisations.',
      summary: 'Record that a patient denies a consent request',
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
    summary: 'Get the consent status of a patient for your organisation',
    description: 'Returns the consent in force; otherwise the pending request; otherwise the most recent consent.',
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
    summary: 'Request consent from a patient',
    description:
      'The patient answers on an enrolled mobile device, or you record the answer with a grant. Repeating the same request changes nothing.',
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
    summary: 'Record that a patient grants consent to your organisation',
    description:
      'The patient must be present or verified in another way. If a request or consent of the same type exists, the grant answers or renews it.',
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
  { answer, summary, description }: { answer: Exclude<ConsentDecision, 'grant'>; summary: string; description: string },
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
