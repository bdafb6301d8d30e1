// A clinician's note about a visit, as the Connect and SDK interfaces give it: interface §2.10.

import { Type } from '../lib/schema.ts'
import { code, id, moment, nullable, text } from './fields.ts'

/** Stored as Composition, or as DocumentReference where a document is wanted. */
export const ClinicalNote = Type.Object(
  {
    id: id('The id of the note.'),
    visit_id: Type.Optional(id('The visit the note is about. Absent if no visit is known.')),
    provider_id: Type.Optional(id('The practitioner who wrote the note. Absent if a system or a patient wrote it.')),
    status: code(
      ['draft', 'signed', 'amended'],
      'draft: may still change and must not be relied on. signed: signed by the author. amended: changed after signing.',
    ),
    history_of_present_illness: nullable(text('The reason for the visit and how the complaint developed.')),
    examination_findings: nullable(text('The findings on examination.')),
    treatment_plan: nullable(text('The treatment plan.')),
    signed_at: nullable(moment('When the author signed.')),
    amends_note_id: nullable(id('The note that this one amends.')),
    created_at: nullable(moment('When the note was created.')),
  },
  {
    $id: 'ClinicalNote',
    description: 'A clinical note about a visit: history, examination, plan.',
    additionalProperties: false,
  },
)
