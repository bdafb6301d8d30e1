// npm run admin -- patient …: codes with which patients enrol their telephones.
import { issueCode } from '../../identity/enrolment.ts'
import { unenrol } from '../../identity/patients.ts'
import { Failure } from '../../lib/failure.ts'
import { holderOf, readHealthId } from '../../mpi/register/health-ids.ts'
import { type AdminCall, type AdminCommand, listing, theOne } from './command.ts'

export const patientEnrol: AdminCommand = {
  name: 'patient enrol',
  usage: 'HEALTH_ID',
  summary: 'Create a one-time code for enrolling the mobile device of a patient and show it once',
  details:
    'The code expires after 72 hours or five failed attempts, and replaces an earlier unused code. Verify the identity of the patient first.',
  options: {},
  async run(call) {
    const { patientId, healthId } = await patientOf(call)
    const { code, expiresAt } = await issueCode(call.database, patientId, Date.now())
    const rows = [
      ['code', code],
      ['expires', expiresAt.toISOString()],
    ] as const
    return {
      isGood: true,
      text: listing(rows),
      notes: 'The code is shown only once: the service stores only its hash.\n',
      json: { health_id: healthId, patient_id: patientId, code, expires_at: expiresAt },
    }
  },
}

export const patientUnenrol: AdminCommand = {
  name: 'patient unenrol',
  usage: 'HEALTH_ID',
  summary: 'Revoke all device tokens and unused codes of a patient, for example after the loss of a device',
  details: '',
  options: {},
  async run(call) {
    const { patientId, healthId } = await patientOf(call)
    const tokens = await unenrol(call.database, patientId)
    return {
      isGood: true,
      text: `Device tokens of ${healthId} revoked: ${tokens}.\n`,
      json: { health_id: healthId, tokens_ended: tokens },
    }
  },
}

/**
 * Returns the patient that the argument names, with the current Health ID.
 * @throws Failure INVALID_HEALTH_ID, PATIENT_NOT_FOUND.
 */
async function patientOf(call: AdminCall): Promise<{ patientId: string; healthId: string }> {
  const healthId = await readHealthId(call.database, theOne(call, 'Health ID'), 'HEALTH_ID')
  const holder = await holderOf(call.database, healthId)
  if (!holder) throw new Failure('PATIENT_NOT_FOUND', `No patient is registered with the Health ID ${healthId}.`)
  return { patientId: holder.patient, healthId: holder.current ?? healthId }
}
