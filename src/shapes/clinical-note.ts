// A clinician's note about a visit, as the Connect and SDK interfaces give it: interface §2.10.

import { Type } from 'typebox'
import { code, id, moment, nullable, text } from './fields.ts'

/** Stored as Composition, or as DocumentReference where a document is wanted. */
export const ClinicalNote = Type.Object(
  {
    id: id('The note itself.'),
    visit_id: Type.Optional(id('The visit the note is about; absent for a document that no visit is known for.')),
    provider_id: Type.Optional(id('The practitioner who wrote the note; absent where a system or a patient did.')),
    status: code(
      ['draft', 'signed', 'amended'],
      'draft: may still change and is not to be relied on. signed: the author stands by it. amended: was changed after signing.',
    ),
    history_of_present_illness: nullable(text('Why the patient came and how the complaint developed.')),
    examination_findings: nullable(text('What was found on examination.')),
    treatment_plan: nullable(text('What is to be done.')),
    signed_at: nullable(moment('When the author signed.')),
    amends_note_id: nullable(id('The note that this one amends.')),
    created_at: nullable(moment('When the note was begun.')),
  },
  {
    $id: 'ClinicalNote',
    description: 'A clinical note about a visit: history, examination, plan.',
    additionalProperties: false,
  },
)
