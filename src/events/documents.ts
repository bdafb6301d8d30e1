// Events about clinical documents, which are DocumentReferences and Compositions: interface §6.1.

import { isObject, type JsonObject } from '../lib/json.ts'
import { code, id } from '../shapes/fields.ts'
import { objects } from '../store/values.ts'
import { any, both, entered, type LifecycleStep, type State, status } from './claims.ts'
import { described, type EventContent, facilityId, orNull } from './content.ts'
import { facilityIn, idIn, patientIn, targetOf } from './elements.ts'

const kinds = ['DocumentReference', 'Composition'] as const
const documentId = id('The document.')
const documentType = code([...kinds], 'The FHIR resource type of the document.')

const example = {
  health_id: 'CM-9C1T-3NR9-A9HC',
  document_id: 'f08b3c6d-52a1-4e97-b8d4-6c3e91f07a25',
  document_type: 'DocumentReference',
}

export const documentEvents = {
  'document.issued': described(
    'Clinical document issued',
    {
      document_id: documentId,
      document_type: documentType,
      status: code(['final', 'amended'], 'amended: the document was changed after signing.'),
      encounter_id: orNull(id('The encounter the document is about. Null if not recorded.')),
      facility_id: facilityId,
    },
    {
      ...example,
      status: 'final',
      encounter_id: '92d40f6b-e831-4c57-a1b9-5f08c63e7d24',
      facility_id: 'hopital-central-yaounde',
    },
  ),
  'document.verified': described(
    'Document QR verified',
    {
      document_id: documentId,
      document_type: documentType,
      verification_id: id('The VerificationResult that records the verification.'),
      facility_id: facilityId,
    },
    {
      ...example,
      verification_id: '5f8e03c6-a9d7-4b12-8c4f-72e6d1b0a983',
      facility_id: 'hopital-central-yaounde',
    },
  ),
}

const isAmended: State = ({ docStatus, status }) => (docStatus ?? status) === 'amended'
const isSigned: State = ({ docStatus }) => docStatus === undefined || docStatus === 'final' || docStatus === 'amended'

const issuedReference = both(status('current'), isSigned)
const issuedComposition = status('final', 'amended')

/** A document is issued, so that readers may rely on it, or is amended after that. */
export const issued = {
  DocumentReference: any(entered(issuedReference), entered(both(issuedReference, isAmended))),
  Composition: any(entered(issuedComposition), entered(isAmended)),
}

/** A document of the type. */
export function document(type: (typeof kinds)[number]) {
  return ({ id, now = {}, around }: LifecycleStep): EventContent => {
    const { context, encounter } = now
    const encounters = isObject(context) ? context['encounter'] : encounter
    const facility = facilityOf(now, around)
    return {
      patient: patientIn(now['subject'], around),
      facility,
      data: {
        document_id: id,
        document_type: type,
        status: isAmended(now, around) ? 'amended' : 'final',
        encounter_id: idIn(encounters, ['Encounter'], around) ?? null,
        facility_id: facility ?? null,
      },
    }
  }
}

/** Every document that was verified. Where it is known, subscribers that may see it are notified. */
export function verifiedDocuments(step: LifecycleStep): EventContent[] {
  const { id, around } = step
  return targetsOf(step).map(({ type, id: document_id }) => {
    const found = around.known.get(`${type}/${document_id}`)
    const facility = found && facilityOf(found, around)
    return {
      patient: found && patientIn(found['subject'], around),
      facility,
      data: { document_id, document_type: type, verification_id: id, facility_id: facility ?? null },
      source: found && { type, id: document_id, version: versionOf(found) },
    }
  })
}

/** Returns the documents that the rule for verifications needs. */
export function documentsToRead(step: LifecycleStep): string[] {
  if (step.now?.['status'] !== 'validated') return []
  return targetsOf(step)
    .map(({ type, id }) => `${type}/${id}`)
    .filter(name => !step.around.known.has(name))
}

/** Most documents for which one verification produces events. */
const mostDocuments = 100

function targetsOf({ now = {}, around }: LifecycleStep): { type: string; id: string }[] {
  const targets = objects(now['target']).flatMap(each => targetOf(each, around.base) ?? [])
  return targets.filter(({ type }) => kinds.some(kind => kind === type)).slice(0, mostDocuments)
}

const facilityOf = (resource: JsonObject, around: LifecycleStep['around']): string | undefined =>
  facilityIn(resource, around, resource['custodian'], resource['author'])

function versionOf({ meta }: JsonObject): number {
  const version = isObject(meta) ? Number(meta['versionId']) : 0
  return Number.isSafeInteger(version) ? version : 0
}
