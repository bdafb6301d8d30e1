// The purposes of use that consents name (https://terminology.hl7.org/CodeSystem-v3-ActReason.html).

/** Codes of v3-ActReason, by their names in the interface. */
export const purposeCodes = {
  treatment: 'TREAT',
  payment: 'HPAYMT',
  operations: 'HOPERAT',
  research: 'HRESCH',
  public_health: 'PUBHLTH',
  emergency: 'ETREAT',
} as const

/** Every purpose that a request can state. Breaking the glass is separate, since it does not ask for consent. */
export const purposes: readonly string[] = Object.values(purposeCodes)

/** The purpose of a request that does not state one. */
export const usualPurpose = purposeCodes.treatment

/** The sender of an access, and the purpose that it stated, as the audit trail has them. */
interface Accessor {
  readonly clientId: string
  readonly organizationId: string
  /** Empty if it stated none. */
  readonly purpose: string
}

/** Returns the purpose of an access: that of a client which states none is treatment; empty for people and the service itself. */
export function purposeOf({ clientId, organizationId, purpose }: Accessor): string {
  const isClient = organizationId !== '' && !clientId.includes('/')
  return purpose || (isClient ? usualPurpose : '')
}

/** Returns the code for a word or code, in any case, or undefined if it is none. */
export function purposeCode(word: string): string | undefined {
  const name = word.trim().toLowerCase().replaceAll('-', '_')
  if (Object.hasOwn(purposeCodes, name)) return purposeCodes[name as keyof typeof purposeCodes]
  return purposes.find(code => code.toLowerCase() === name)
}
