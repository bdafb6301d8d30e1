// What a request declares beside its sender: the purpose of use, and whether it is an emergency.
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { Failure } from '../lib/failure.ts'
import { hash64 } from '../lib/hash.ts'
import type { Caller } from './caller.ts'
import type { EmergencyAccess } from './consent/emergency.ts'
import { purposeCode, purposeCodes } from './consent/purposes.ts'
import { byConsent } from './consent/visibility.ts'

interface Declaring {
  readonly headers: IncomingHttpHeaders
  readonly requestId: string
  /** Called when data is shown that only the emergency opens. */
  readonly overridden: () => void
}

/**
 * Returns the caller with the purpose and the emergency that the request declares.
 * @throws Failure MALFORMED_REQUEST for an unknown purpose; INSUFFICIENT_SCOPE or EMERGENCY_REASON_REQUIRED for an
 * emergency that the caller may not declare, or does not explain.
 */
export type ReadPurpose = (caller: Caller, request: Declaring) => Caller

export function createReadPurpose(emergency: EmergencyAccess): ReadPurpose {
  return (caller, request) => {
    const purpose = purposeOf(request.headers['x-purpose-of-use'])
    const reason = emergencyReason(caller, request.headers)
    if (purpose === undefined && reason === undefined) return caller
    const declared = { ...caller, purpose: purpose ?? caller.purpose }
    if (caller.consentExempt) return declared
    const { overridden, requestId } = request
    const visibility = byConsent(declared)
    if (reason === undefined) return { ...declared, visibility }
    let first: Promise<bigint[]> | undefined
    const override = async (patient: string) => {
      first ??= emergency.open(declared, { patient, reason, requestId })
      const opened = await first
      if (!opened.includes(hash64(`Patient/${patient}`))) throw several
      overridden()
      return byConsent({ ...declared, opened })
    }
    return { ...declared, visibility: { ...visibility, override } }
  }
}

// An emergency covers one patient: a list of ids is not an emergency of each.
const several = new Failure(
  'MALFORMED_REQUEST',
  'Emergency access covers one patient: send a separate request for each patient.',
)

function purposeOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  const code = purposeCode(String(header))
  if (code) return code
  throw new Failure(
    'MALFORMED_REQUEST',
    `X-Purpose-Of-Use must be one of ${Object.entries(purposeCodes).flat().join(', ')}.`,
  )
}

const shortest = 10
const longest = 500

function emergencyReason(caller: Caller, headers: IncomingHttpHeaders): string | undefined {
  const declared = String(headers['x-emergency-access'] ?? 'false').toLowerCase()
  if (declared === 'false') return undefined
  if (declared !== 'true') throw new Failure('MALFORMED_REQUEST', 'X-Emergency-Access must be true or false.')
  if (!caller.has('emergency:access'))
    throw new Failure('INSUFFICIENT_SCOPE', 'Emergency access requires the scope emergency:access.')
  const reason = textOf(headers['x-emergency-reason']).trim()
  if (reason.length >= shortest && reason.length <= longest) return reason
  throw new Failure(
    'EMERGENCY_REASON_REQUIRED',
    `X-Emergency-Reason must state, in ${shortest} to ${longest} characters, why this patient's data is needed without consent. The reason is stored, reviewed and shown to the patient.`,
  )
}

/** The text of a header. Node reads its bytes as Latin-1; clients write UTF-8, and what is no UTF-8 stays as it was read. */
function textOf(header: string | string[] | undefined): string {
  const read = String(header ?? '')
  const bytes = Buffer.from(read, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : read
}
