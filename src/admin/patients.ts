// npm run admin -- patient …: codes with which patients enrol their telephones.
import { issueCode } from '../auth/enrolment.ts'
import { findPatient, healthIdSystem, unenrol } from '../auth/patients.ts'
import { addressOf } from '../lib/config.ts'
import { Failure } from '../lib/failure.ts'
import { parse } from '../lib/health-id.ts'
import { type Command, listing, theOne } from './command.ts'

export const patientEnrol: Command = {
  name: 'patient enrol',
  usage: 'HEALTH_ID',
  summary: 'Makes a one-time code with which a patient enrols a telephone, and shows it once',
  details:
    'It works within 72 hours and ends with the fifth wrong try. An earlier code that was not used ends now. Make sure who stands before you.',
  options: {},
  async run(call) {
    const healthId = healthIdOf(theOne(call, 'Health ID'))
    const baseUrl = addressOf(call.config)
    const patient = await findPatient(await call.openStore(), baseUrl, healthId)
    if (!patient)
      throw new Failure(
        'NOT_FOUND',
        `There is no patient with the identifier ${healthIdSystem(baseUrl)}|${healthId}; BASE_URL must be that of the service.`,
      )
    const { code, expiresAt } = await issueCode(call.database, patient, Date.now())
    const rows = [
      ['code', code],
      ['expires', expiresAt.toISOString()],
    ] as const
    return {
      isGood: true,
      text: listing(rows),
      notes: 'The code is shown this once: only a hash of it is kept.\n',
      json: { health_id: healthId, patient_id: patient.patientId, code, expires_at: expiresAt },
    }
  },
}

export const patientUnenrol: Command = {
  name: 'patient unenrol',
  usage: 'HEALTH_ID',
  summary: 'Ends every telephone of a patient, and a code that was not used: for one that was lost',
  details: '',
  options: {},
  async run(call) {
    const healthId = healthIdOf(theOne(call, 'Health ID'))
    const tokens = await unenrol(call.database, healthId)
    return {
      isGood: true,
      text: `Telephones of ${healthId} ended: ${tokens}.\n`,
      json: { health_id: healthId, tokens_ended: tokens },
    }
  },
}

/** @throws Failure VALIDATION_FAILED */
function healthIdOf(text: string): string {
  const reading = parse(text)
  if ('healthId' in reading) return reading.healthId
  const why = reading.fault === 'checksum' ? 'its check symbols do not fit: look again' : 'write CM-TQYE-6SRK-YQ6S'
  throw new Failure('VALIDATION_FAILED', `${text.slice(0, 100)} is no Health ID: ${why}.`)
}
