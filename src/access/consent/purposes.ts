// What data can be asked for: the purposes of use that consents speak of (https://terminology.hl7.org/CodeSystem-v3-ActReason.html).

/** Codes of v3-ActReason, by the word that the interface has for each. */
export const purposeCodes = {
  treatment: 'TREAT',
  payment: 'HPAYMT',
  operations: 'HOPERAT',
  research: 'HRESCH',
  public_health: 'PUBHLTH',
  emergency: 'ETREAT',
} as const

/** Every purpose that a request can be for; breaking the glass is apart, since no consent is asked then. */
export const purposes: readonly string[] = Object.values(purposeCodes)

/** What a request is for that does not say so. */
export const usualPurpose = purposeCodes.treatment

/** The code that a word or code stands for, in any case; undefined if it is none. */
export function purposeCode(word: string): string | undefined {
  const name = word.trim().toLowerCase().replaceAll('-', '_')
  if (Object.hasOwn(purposeCodes, name)) return purposeCodes[name as keyof typeof purposeCodes]
  return purposes.find(code => code.toLowerCase() === name)
}
