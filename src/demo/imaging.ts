// An ultrasound scan of the demo set: the order, the study and the report.
import type { JsonObject } from '../lib/json.ts'
import { at, coding, organization, practitioner, reference, snomed, terminology } from './fhir.ts'

const patient = 'grace-tchoumi'
const day = '2026-08-17'
const ultrasound = { system: 'http://dicom.nema.org/resources/ontology/DCM', code: 'US', display: 'Ultrasound' }
const scan = coding(snomed, '268445003', 'Ultrasound scan - obstetric')

export function demoImaging(): JsonObject[] {
  return [
    {
      resourceType: 'ServiceRequest',
      id: `${patient}-scan-order`,
      status: 'completed',
      intent: 'order',
      category: [coding(snomed, '363679005', 'Imaging')],
      code: scan,
      subject: reference('Patient', patient),
      authoredOn: at(day),
      requester: reference('Practitioner', practitioner),
    },
    {
      resourceType: 'ImagingStudy',
      id: `${patient}-scan`,
      identifier: [{ system: 'urn:dicom:uid', value: 'urn:oid:2.25.186217349511086450913740325566708921' }],
      status: 'available',
      modality: [ultrasound],
      subject: reference('Patient', patient),
      started: at(day, '11:00:00'),
      basedOn: [reference('ServiceRequest', `${patient}-scan-order`)],
      numberOfSeries: 1,
      numberOfInstances: 12,
      description: 'Obstetric ultrasound',
      series: [{ uid: '2.25.186217349511086450913740325566708922', modality: ultrasound, numberOfInstances: 12 }],
    },
    {
      resourceType: 'DiagnosticReport',
      id: `${patient}-scan-report`,
      basedOn: [reference('ServiceRequest', `${patient}-scan-order`)],
      status: 'final',
      category: [coding(`${terminology}/v2-0074`, 'RUS', 'Radiology Ultrasound')],
      code: scan,
      subject: reference('Patient', patient),
      effectiveDateTime: at(day, '11:00:00'),
      issued: at(day, '12:10:00'),
      performer: [reference('Organization', organization)],
      imagingStudy: [reference('ImagingStudy', `${patient}-scan`)],
      conclusion: 'One foetus, heartbeat present.',
    },
  ]
}
