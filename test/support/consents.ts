// Consents as IHE Privacy Consent on FHIR writes them.

export const terminology = 'http://terminology.hl7.org/CodeSystem'

/** A consent of the patient that opens the record to an organisation, or what `more` makes of it. */
export const consentOf = (
  id: string,
  patient: string,
  organization: string,
  provision: object = {},
  more: object = {},
) => ({
  resourceType: 'Consent',
  id,
  status: 'active',
  scope: { coding: [{ system: `${terminology}/consentscope`, code: 'patient-privacy' }] },
  category: [{ coding: [{ system: 'http://loinc.org', code: '59284-0' }] }],
  patient: { reference: `Patient/${patient}` },
  policy: [{ uri: 'https://profiles.ihe.net/ITI/PCF/Policy-basic-normal' }],
  provision: {
    type: 'permit',
    actor: [
      {
        role: { coding: [{ system: `${terminology}/v3-ParticipationType`, code: 'IRCP' }] },
        reference: { reference: `Organization/${organization}` },
      },
    ],
    ...provision,
  },
  ...more,
})

/** A provision about these resource types. */
export const ofType = (...types: string[]) => ({
  class: types.map(code => ({ system: 'http://hl7.org/fhir/resource-types', code })),
})
