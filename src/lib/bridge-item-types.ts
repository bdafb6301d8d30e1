// What an item of a Bridge agent can be: the agent and the service have one list.

export const itemTypes = [
  'patient',
  'encounter',
  'lab_result',
  'stock_level',
  'blood_unit',
  'payment',
  'hl7v2',
  'fhir',
] as const

export type ItemType = (typeof itemTypes)[number]
