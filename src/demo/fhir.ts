// How the demo set writes FHIR: systems, codings, references and times.
import type { JsonObject } from '../lib/json.ts'

export const loinc = 'http://loinc.org'
export const snomed = 'http://snomed.info/sct'
export const icd10 = 'http://hl7.org/fhir/sid/icd-10'
const ucum = 'http://unitsofmeasure.org'
export const v3Act = 'http://terminology.hl7.org/CodeSystem/v3-ActCode'
export const terminology = 'http://terminology.hl7.org/CodeSystem'
/** Below it are the code systems and extensions of the service. */
export const own = 'https://health-interop.org/fhir'
/** Below it are the elements of R5 that R4 carries as extensions. */
export const r5 = 'http://hl7.org/fhir/5.0/StructureDefinition'

/** To which the demo client belongs. */
export const network = 'demo-organization'
export const organization = 'hopital-central-yaounde'
export const practitioner = 'dr-nadine-fouda'

/** A concept whose text is that of its one coding. */
export const coding = (system: string, code: string, display: string): JsonObject => ({
  coding: [{ system, code, display }],
  text: display,
})
/** A concept that its code alone says. */
export const code = (system: string, value: string): JsonObject => ({ coding: [{ system, code: value }] })
export const reference = (type: string, id: string): JsonObject => ({ reference: `${type}/${id}` })
export const at = (date: string, time = '09:00:00'): string => `${date}T${time}+01:00`
export const quantity = (value: number, unit: string): JsonObject => ({ value, unit, system: ucum, code: unit })

/** Days and moments, counted from the moment at which the demo set is loaded. */
export interface Clock {
  day(days: number): string
  minutes(minutes: number): string
}

export const clockAt = (now: Date): Clock => ({
  day: days => new Date(now.getTime() + days * 86_400_000).toISOString().slice(0, 10),
  minutes: minutes => new Date(now.getTime() + minutes * 60_000).toISOString(),
})
