// Patients' own tokens (MobileToken, interface §5): given for a one-time code, opaque, revocable, known in every process at once.

import { type PatientCaller, patientCaller } from '../access/caller.ts'
import type { Credentials } from '../access/scheme.ts'
import type { Database } from '../db/database.ts'
import { Failure } from '../lib/failure.ts'
import { parse } from '../lib/health-id.ts'
import { randomText } from '../lib/ids.ts'
import { type Holder, mergedInto, survivorOf } from '../mpi/register/health-ids.ts'
import { redeemCode } from './enrolment.ts'
import { digestOf, newOpaque } from './opaque.ts'
import { type Throttle, tried } from './throttle.ts'

export const patientTokenPrefix = 'pat_'

const livesFor = 180 * 86_400_000

/** A token as it is returned, once. */
interface GivenToken {
  readonly token: string
  readonly expiresAt: Date
  readonly healthId: string
}

export interface Patients {
  /**
   * Exchanges a code for a token.
   * @param address of the caller, by which failures are counted.
   * @throws Failure UNAUTHENTICATED for any wrong pair, AUTH_THROTTLED after too many.
   */
  enrol(given: { healthId: string; code: string; address: string }): Promise<GivenToken>
  /** Authenticates a patient by their token. @throws Failure UNAUTHENTICATED, TOKEN_EXPIRED, TOKEN_INVALID. */
  authenticate(credentials: Pick<Credentials, 'headers'>): Promise<PatientCaller>
  revoke(caller: PatientCaller): Promise<void>
}

export interface PatientsParts {
  readonly database: Database
  readonly throttle: Throttle
  /** Returns the patient that holds a Health ID now. */
  readonly holderOf: (healthId: string) => Promise<Holder | undefined>
  readonly now: () => number
}

export function createPatients({ database, throttle, holderOf, now }: PatientsParts): Patients {
  return {
    async enrol({ healthId, code, address }) {
      const reading = parse(healthId)
      const canonical = 'healthId' in reading ? reading.healthId : ''
      const patient = await tried(throttle(canonical, address), async () => {
        const holder = await holderOf(canonical)
        const isRight = await redeemCode(database, holder?.patient ?? '', code, now())
        return isRight ? holder : undefined
      })
      if (!patient)
        throw new Failure(
          'UNAUTHENTICATED',
          'The Health ID and the code do not match, or the code has expired or was used: request a new code.',
        )
      const given = await give(database, patient.patient, canonical, now())
      return { ...given, healthId: patient.current ?? canonical }
    },
    async authenticate({ headers }) {
      const found = await tokenRow(database, presented(headers))
      if (!found || found.revoked_at) throw invalid('it is unknown or was revoked')
      if (found.expires_at.getTime() <= now())
        throw new Failure('TOKEN_EXPIRED', 'The patient token has expired: enrol the device again.')
      const holder = await holderOf(found.health_id)
      if (!holder) throw invalid('its Health ID is no longer registered')
      if (!(await isHeldBy(database, found.patient_id, holder)))
        throw invalid('its Health ID now belongs to another patient record: enrol the device again')
      return patientCaller(holder.patient, holder.current ?? found.health_id, found.id)
    },
    async revoke({ tokenId, within }) {
      await (within ?? database).query({
        text: 'update patient_token set revoked_at = coalesce(revoked_at, $2) where id = $1',
        values: [tokenId, new Date(now())],
      })
    },
  }
}

/**
 * Revokes every telephone of a patient, and an unused code.
 * @returns the number of tokens revoked.
 */
export function unenrol(database: Database, patientId: string): Promise<number> {
  return database.transaction(async on => {
    const patients = await mergedInto(on, patientId)
    await on.run({ text: 'delete from enrolment_code where patient_id = any($1)', values: [patients] })
    const ended = await on.query({
      text: 'update patient_token set revoked_at = now() where patient_id = any($1) and revoked_at is null returning 1 as ended',
      values: [patients],
    })
    return ended.length
  })
}

/** Whether the holder of the Health ID is still the patient who enrolled, or the one into whom that one was merged since. */
const isHeldBy = async (database: Database, patientId: string, { patient }: Holder): Promise<boolean> =>
  patient === patientId || patient === (await survivorOf(database, patientId))

/** @param healthId by which the patient enrolled: a merge that is undone parts those who used different ones. */
async function give(
  database: Database,
  patientId: string,
  healthId: string,
  now: number,
): Promise<Omit<GivenToken, 'healthId'>> {
  const token = newOpaque(patientTokenPrefix)
  const expiresAt = new Date(now + livesFor)
  await database.query({
    text: `insert into patient_token (hash, id, patient_id, health_id, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6)`,
    values: [digestOf(token), randomText(22), patientId, healthId, new Date(now), expiresAt],
  })
  return { token, expiresAt }
}

interface TokenRow {
  readonly id: string
  readonly patient_id: string
  readonly health_id: string
  readonly expires_at: Date
  readonly revoked_at: Date | null
}

async function tokenRow(database: Database, token: string): Promise<TokenRow | undefined> {
  const [row] = await database.query<TokenRow>({
    name: 'patient-token',
    isFixed: true,
    text: 'select id, patient_id, health_id, expires_at, revoked_at from patient_token where hash = $1',
    values: [digestOf(token)],
  })
  return row
}

/** @throws Failure UNAUTHENTICATED without a token, TOKEN_INVALID for one of another kind. */
function presented(headers: Credentials['headers']): string {
  const token = /^bearer +(\S+) *$/i.exec(String(headers['authorization']))?.[1]
  if (token === undefined)
    throw new Failure(
      'UNAUTHENTICATED',
      'Send a patient token: Authorization: Bearer pat_…. Get one from POST /api/v1/mobile/enrol.',
    )
  if (!/^pat_[0-9A-Za-z]{43}$/.test(token))
    throw invalid('this operation requires a patient token, pat_…, from POST /api/v1/mobile/enrol')
  return token
}

const invalid = (why: string) => new Failure('TOKEN_INVALID', `The token is not valid: ${why}.`)
