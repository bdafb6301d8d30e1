// Three maps that keep to what @medplum/core understands, so that two engines can be measured on the same work. That one must
// be told the type of the resource it makes, by a rule that no other engine needs.

const head = (source: string, target: string) => `
uses "${source}" alias From as source
uses "http://hl7.org/fhir/StructureDefinition/${target}" alias ${target} as target
`
const record = 'https://health-interop.org/fhir/StructureDefinition'

export interface CommonMap {
  readonly name: string
  readonly text: string
  readonly source: unknown
}

const allergy = {
  id: '5d0c7b9a-3e61-4f28-9c84-a1b2e6f07d35',
  patient_id: '3f2b8c1e-9d47-4a6b-8e15-2c7f0a9b4d31',
  provider_id: 'c5a81e37-60f2-4b9d-8c14-e72f3d06b5a9',
  substance: 'Penicillin G',
  severity: 'severe',
  status: 'active',
  created_at: '2026-03-14T09:30:00+01:00',
}

const criticality = `conceptmap "criticality" {
  prefix s = "https://clinic.example/severity"
  prefix t = "http://hl7.org/fhir/allergy-intolerance-criticality"

  s:mild == t:low
  s:moderate == t:low
  s:severe == t:high
  s:"life_threatening" == t:high
}
`

const toFhir = `/// url = 'https://clinic.example/allergy-to-fhir'
/// name = 'AllergyToFhir'

${criticality}${head(`${record}/AllergyRecord`, 'AllergyIntolerance')}
group AllergyToFhir(source src : From, target tgt : AllergyIntolerance) {
  src -> tgt.resourceType = 'AllergyIntolerance' "type";
  src.id as v -> tgt.id = v "id";
  src.patient_id as v -> tgt.patient as p, p.reference = append('Patient/', v) "patient";
  src.provider_id as v -> tgt.recorder as r, r.reference = append('Practitioner/', v) "recorder";
  src.created_at as v -> tgt.recordedDate = v "recorded";
  src.substance as v -> tgt.code as c, c.text = v "code";
  src.severity as v -> tgt.criticality = translate(v, '#criticality', 'code') "criticality";
  src.status as v -> tgt.clinicalStatus as cs, cs.coding as cd, cd.system = 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', cd.code = v "status";
}
`

const fromFhir = `/// url = 'https://clinic.example/allergy-from-fhir'
/// name = 'AllergyFromFhir'

uses "http://hl7.org/fhir/StructureDefinition/AllergyIntolerance" alias From as source

group AllergyFromFhir(source src : From, target tgt) {
  src.id as v -> tgt.id = v "id";
  src.patient as p -> tgt.patient_id = (p.reference) "patient";
  src.recorder as r -> tgt.provider_id = (r.reference) "recorder";
  src.recordedDate as v -> tgt.created_at = v "recorded";
  src.code as c -> tgt.substance = (c.text) "code";
  src.criticality as v -> tgt.severity = v "criticality";
  src.clinicalStatus as s -> tgt.status = (s.coding.code) "status";
}
`

const labPush = `/// url = 'https://clinic.example/lab-to-fhir'
/// name = 'LabToFhir'

${head(`${record}/LabResultPush`, 'Bundle')}
group LabToFhir(source src : From, target tgt : Bundle) {
  src -> tgt.resourceType = 'Bundle' "resource";
  src -> tgt.type = 'transaction' "type";
  src -> tgt.entry as e, e.resource = create('Observation') as obs then Obs(src, obs) "obs";
  src -> tgt.entry as e, e.resource = create('DiagnosticReport') as rep then Report(src, rep) "report";
}

group Obs(source src : From, target tgt : Observation) {
  src -> tgt.status = 'final' "status";
  src.test_name as v -> tgt.code as c, c.text = v "code";
  src.result_value as v -> tgt.valueString = v "value";
  src.interpretation as v -> tgt.note as n, n.text = v "note";
  src.health_id as v -> tgt.subject as s, s.identifier as i, i.value = v "subject";
}

group Report(source src : From, target tgt : DiagnosticReport) {
  src -> tgt.status = 'final' "status";
  src.test_name as v -> tgt.code as c, c.text = v "code";
  src.interpretation as v -> tgt.conclusion = v "conclusion";
}
`

const fhirAllergy = {
  resourceType: 'AllergyIntolerance',
  id: 'a',
  patient: { reference: 'Patient/1' },
  recorder: { reference: 'Practitioner/1' },
  recordedDate: '2026-03-14',
  code: { text: 'Penicillin G' },
  criticality: 'high',
  clinicalStatus: { coding: [{ code: 'active' }] },
}

const lab = {
  health_id: 'CM-TQYE-6SRK-YQ6S',
  test_name: 'HbA1c',
  result_value: '9.1 %',
  interpretation: 'poorly controlled',
}

export const commonMaps: readonly CommonMap[] = [
  { name: 'allergy to FHIR', text: toFhir, source: allergy },
  { name: 'FHIR to allergy', text: fromFhir, source: fhirAllergy },
  { name: 'lab result to Bundle', text: labPush, source: lab },
]
