// GET connect/patient/{health_id}/records: a patient's records by type (interface §4.5, decisions §3).

import { bearer, type Route, reply, route } from '../../http/route.ts'
import { listName, pageQuery, wantedOf, wrong } from '../../lib/paging.ts'
import { type TSchema, Type } from '../../lib/schema.ts'
import { healthIdParam, patientOf } from '../../mpi/patient-of.ts'
import { kinds, recordsOf, sightOf } from '../../records/records.ts'
import { dateInterval } from '../../store/dates.ts'
import type { ConnectParts } from './parts.ts'

const names = kinds.map(({ name }) => name)

const RecordsQuery = Type.Object(
  {
    type: Type.Optional(
      Type.Enum([...names, 'all'], { description: 'The record type. Default: all.', examples: ['all'] }),
    ),
    since: Type.Optional(
      Type.String({
        maxLength: 40,
        description:
          'Return only records from this date or time on. A record without a clinical date counts as of its issue or, without that, its last change.',
        examples: ['2026-01-01'],
      }),
    ),
    until: Type.Optional(Type.String({ maxLength: 40, description: 'Return only records up to this date or time.' })),
    ...pageQuery,
  },
  { additionalProperties: false },
)

const listOf = (schema: TSchema) => Type.Optional(Type.Array(schema))

const RecordsReply = Type.Object(
  {
    health_id: Type.String(),
    type: Type.Enum([...names, 'all']),
    data: Type.Object(Object.fromEntries(kinds.map(({ name, shape }) => [name, listOf(shape)])), {
      description:
        'The records of each type, newest first. A type is absent if it was not requested, no consent opens it, or all its records have been returned.',
    }),
    withheld: Type.Array(Type.Enum([...names]), {
      description: 'The requested types that no consent opens. The patient may or may not have such records.',
    }),
    unreadable: Type.Integer({
      description:
        'The number of stored resources on this page that cannot be represented in this form. FHIR searches return them.',
    }),
    generated_at: Type.String({ format: 'date-time' }),
    consent_id: Type.Union([Type.String(), Type.Null()], {
      description:
        'The consent that permits the access. Null for emergency access and for the record-keeping system itself.',
    }),
    has_more: Type.Boolean(),
    next_cursor: Type.Union([Type.String(), Type.Null()]),
  },
  { $id: 'PatientRecords', description: 'The records of a patient.' },
)

export function recordsRoute(parts: ConnectParts): Route {
  return route({
    method: 'GET',
    path: '/api/v1/connect/patient/{health_id}/records',
    tag: 'Connect',
    operationId: 'patientRecords',
    summary: "List a patient's diagnoses, prescriptions, laboratory results and vital signs",
    description:
      'Requires a consent in force for your organisation, or a declared emergency. Records entered in error are omitted. With type=all the limit applies to each record type.',
    access: bearer('patient:diagnostics:read'),
    params: healthIdParam,
    query: RecordsQuery,
    replies: { 200: RecordsReply },
    async handle(request) {
      const { query, caller } = request
      const { type = 'all' } = query
      mustBeDates(query)
      const on = parts.databaseFor(caller)
      const subject = await patientOf(on, request.params.health_id)
      const list = listName(`records ${subject.patient}`, query)
      const { limit, after } = wantedOf(parts.cursors, list, query)
      const sight = await sightOf(
        on,
        caller,
        subject.patient,
        kinds.filter(({ name }) => type === 'all' || name === type),
      )
      const [since, until] = [query.since, query.until].map(each => each?.replace(' ', '+'))
      const slice = { since, until, limit, after: after && placesOf(after) }
      const page = await recordsOf(parts, { ...request, caller: sight.caller }, subject, sight.shown, slice)
      const hasMore = page.next.size > 0
      return reply(200, {
        health_id: subject.healthId,
        type,
        data: page.data,
        withheld: sight.withheld.map(({ name }) => name),
        unreadable: page.unreadable,
        generated_at: parts.now().toISOString(),
        consent_id: sight.consent ?? null,
        has_more: hasMore,
        next_cursor: hasMore ? parts.cursors.write(list, [...page.next].flat()) : null,
      })
    },
  })
}

/** Kinds and places, one after the other, as the cursor has them. */
function placesOf(flat: readonly string[]): Map<string, string> {
  const places = new Map<string, string>()
  for (let at = 0; at + 1 < flat.length; at += 2) places.set(flat[at]!, flat[at + 1]!)
  return places
}

function mustBeDates(query: { readonly since?: string; readonly until?: string }): void {
  for (const name of ['since', 'until'] as const) {
    const value = query[name]
    if (value !== undefined && !dateInterval(value.replace(' ', '+')))
      throw wrong(name, 'must be a date or a date and time, such as 2026-03-14 or 2026-03-14T09:30:00Z')
  }
}
