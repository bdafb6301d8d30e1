// GET sdk/patients/{health_id}/summary: what a clinician needs first (interface §2.15, decisions §12).

import { bearer, type Route, reply, route } from '../../http/route.ts'
import { Type } from '../../lib/schema.ts'
import { healthIdParam, patientOf } from '../../mpi/patient-of.ts'
import { type SectionName, type Summary, sections, summaryOf } from '../../records/summary.ts'
import { Demographics } from '../../shapes/demographics.ts'
import type { SdkParts } from './parts.ts'

const { first_name, last_name, date_of_birth, sex, blood_group } = Demographics.properties

const names = sections.map(({ name }) => name)

const descriptions: Readonly<Record<SectionName, string>> = {
  active_medications: 'The active prescriptions, newest first, at most 100.',
  active_allergies: 'The active allergies and intolerances, newest first, at most 100.',
  recent_labs: 'The laboratory results of the last twelve months, newest first, at most 10.',
  recent_visits: 'The visits of the last twelve months, newest first, at most 10.',
}

const SummaryReply = Type.Object(
  {
    health_id: Type.String({ description: 'The current Health ID.' }),
    patient: Type.Object({ health_id: Type.String(), first_name, last_name, date_of_birth, sex, blood_group }),
    ...Object.fromEntries(
      sections.map(({ name, shape }) => [name, Type.Array(shape, { description: descriptions[name] })]),
    ),
    withheld: Type.Array(Type.Enum(['patient', ...names]), {
      description: 'The sections that no consent opens. The patient may or may not have such records.',
    }),
    truncated: Type.Array(Type.Enum([...names]), {
      description: 'The sections with more records than are listed. Search for the others.',
    }),
    unreadable: Type.Integer({
      description: 'The number of stored resources that cannot be represented in this form. FHIR searches return them.',
    }),
    generated_at: Type.String({ format: 'date-time' }),
    consent_id: Type.Union([Type.String(), Type.Null()], {
      description:
        'The consent that permits the access. Null for emergency access and for the record-keeping system itself.',
    }),
  },
  { $id: 'PatientSummary', description: 'The summary of a patient.' },
)

export function summaryRoute(parts: SdkParts): Route {
  return route({
    method: 'GET',
    path: '/api/v1/sdk/patients/{health_id}/summary',
    tag: 'SDK',
    operationId: 'patientSummary',
    summary: 'Get the summary of a patient',
    description:
      'Returns demographics, blood group, active medications and allergies, and recent laboratory results and visits. Requires a consent in force for your organisation, or a declared emergency. The blood group is the newest tested one (LOINC 882-1, or 883-9 with 10331-7), else the one recorded at registration.',
    access: bearer('patients:read'),
    params: healthIdParam,
    replies: { 200: SummaryReply },
    async handle(request) {
      const subject = await patientOf(parts.databaseFor(request.caller), request.params.health_id)
      const summary = await summaryOf(parts, request, subject)
      return reply(200, {
        health_id: subject.healthId,
        patient: { health_id: subject.healthId, ...personIn(summary) },
        ...summary.lists,
        withheld: summary.withheld,
        truncated: summary.truncated,
        unreadable: summary.unreadable,
        generated_at: parts.now().toISOString(),
        consent_id: summary.consent ?? null,
      })
    },
  })
}

const personIn = ({ patient, bloodGroup }: Summary) => ({
  first_name: patient?.first_name ?? null,
  last_name: patient?.last_name ?? null,
  date_of_birth: patient?.date_of_birth ?? null,
  sex: patient?.sex ?? null,
  blood_group: bloodGroup,
})
