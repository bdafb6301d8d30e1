// A folder of maps for tests: two records of a ward, and maps between these and R4.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'
import { temporaryFolder } from '../support/temporary-folder.ts'

const Allergy = Type.Object(
  {
    id: Type.String(),
    patient_id: Type.String(),
    substance: Type.String({ minLength: 1 }),
    severity: Type.Optional(Type.Union([Type.Enum(['mild', 'severe']), Type.Null()])),
    note: Type.Optional(Type.String()),
  },
  { $id: 'WardAllergy', additionalProperties: false },
)

const Visit = Type.Object({ base_url: Type.String() }, { $id: 'WardVisit' })

export const shapes = [Allergy, Visit]

const SHAPE = 'https://health-interop.org/fhir/StructureDefinition/WardAllergy'
const R4 = 'http://hl7.org/fhir/StructureDefinition/AllergyIntolerance'

export const toFhir = `/// url = 'https://ward.example/allergy-to-fhir'
/// name = 'AllergyToFhir'

conceptmap "criticality" {
  prefix s = "https://ward.example/severity"
  prefix t = "http://hl7.org/fhir/allergy-intolerance-criticality"

  s:mild - t:low
  s:severe - t:high
}

uses "${SHAPE}" alias WardAllergy as source
uses "${R4}" alias AllergyIntolerance as target

group AllergyToFhir(source src : WardAllergy, target tgt : AllergyIntolerance) {
  src.id -> tgt.id;
  src.patient_id as id -> tgt.patient as patient, patient.reference = ('Patient/' & %id);
  src.substance as substance -> tgt.code = cc(substance);
  src -> tgt.clinicalStatus = cc('http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', 'active');
  src.severity as severity -> tgt.criticality = translate(severity, '#criticality', 'code');
}
`

export const fromFhir = `/// url = 'https://ward.example/allergy-from-fhir'
/// name = 'AllergyFromFhir'

uses "${R4}" alias AllergyIntolerance as source
uses "${SHAPE}" alias WardAllergy as target

group AllergyFromFhir(source src : AllergyIntolerance, target tgt : WardAllergy) {
  src.id -> tgt.id;
  src.patient as patient -> tgt.patient_id = (%patient.reference.substring(8));
  src.code as code -> tgt.substance = (%code.text);
}
`

export const example = {
  name: 'peanuts, severe',
  from: { id: 'a1', patient_id: 'p1', substance: 'peanut', severity: 'severe', note: 'ask the mother' },
  to: {
    resourceType: 'AllergyIntolerance',
    id: 'a1',
    patient: { reference: 'Patient/p1' },
    code: { text: 'peanut' },
    clinicalStatus: {
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' }],
    },
    criticality: 'high',
  },
}

export const sound: Readonly<Record<string, string>> = {
  'allergy-to-fhir.fml': toFhir,
  'allergy-to-fhir.examples.json': JSON.stringify([example], null, 2),
  'allergy-from-fhir.fml': fromFhir,
}

/** A folder with these files; it is removed after the file's last test. */
export async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryFolder('maps')
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}
