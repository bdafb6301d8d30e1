// Records that integrated systems push: encounters and laboratory results (interface §2.17, decisions §12).

import { bearer, type Route, reply, route } from '../../http/route.ts'
import { type TObject, Type } from '../../lib/schema.ts'
import { type Pushed, push } from '../../records/push.ts'
import { EncounterPush, LabResultPush } from '../../shapes/pushes.ts'
import type { SdkParts } from './parts.ts'

const PushReply = Type.Object(
  {
    id: Type.String({ description: 'The id of the main resource.' }),
    resource: Type.String({ description: 'The main resource: Type/id.', examples: ['Encounter/0192f3c4-…'] }),
    resources: Type.Array(Type.String(), { description: 'Every resource that the record became: Type/id.' }),
    status: Type.Literal('accepted'),
    events: Type.Array(Type.String(), {
      description: 'The ids of the events that the record caused. Subscribers receive each as a webhook.',
    }),
  },
  { $id: 'PushReply', description: 'An accepted record.' },
)

interface PushDefinition {
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly scope: string
  readonly body: TObject
  readonly map: string
  /** The type of the resource that stands for the record. */
  readonly main: string
}

const pushes: readonly PushDefinition[] = [
  {
    path: '/api/v1/sdk/records/encounters',
    operationId: 'pushEncounter',
    summary: 'Push an encounter, recommendation or alert',
    description:
      'Stores an Encounter, for an alert also a DetectedIssue, and a Provenance of your organisation. Requires no consent. The map encounter-push-to-fhir defines the FHIR form.',
    scope: 'encounters:write',
    body: EncounterPush,
    map: 'encounter-push-to-fhir',
    main: 'Encounter',
  },
  {
    path: '/api/v1/sdk/records/lab-results',
    operationId: 'pushLabResult',
    summary: 'Push a laboratory result',
    description:
      'Stores an Observation and the DiagnosticReport that releases it. Requires no consent. The map lab-push-to-fhir defines the FHIR form.',
    scope: 'labs:write',
    body: LabResultPush,
    map: 'lab-push-to-fhir',
    main: 'DiagnosticReport',
  },
]

export function pushRoutes(parts: SdkParts): Route[] {
  return pushes.map(({ scope, map, main, ...shape }) =>
    route({
      ...shape,
      method: 'POST',
      tag: 'SDK',
      access: bearer(scope),
      maxBodyBytes: 65_536,
      replies: { 201: PushReply },
      refusals: [404],
      async handle(request) {
        const { resources, events } = await push(parts, request, map, request.body as unknown as Pushed)
        const resource = resources.find(each => each.startsWith(`${main}/`)) ?? resources[0] ?? ''
        const id = resource.slice(resource.indexOf('/') + 1)
        return reply(201, { id, resource, resources, status: 'accepted', events })
      },
    }),
  )
}
