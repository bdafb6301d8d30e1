// One-time codes: a facility gives one to a patient, who exchanges it for the token of their telephone.
import { randomBytes } from 'node:crypto'
import type { Database } from '../db/database.ts'
import { digestOf, isDigestOf } from './opaque.ts'

const livesFor = 72 * 3_600_000
const mostTries = 5

// Crockford's base32, as in Health IDs: it avoids letters that look like digits, such as O and 0.
const symbols = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Twelve symbols, 60 bits, in three groups. */
function newCode(): string {
  const text = Array.from(randomBytes(12), byte => symbols[byte & 31]).join('')
  return `${text.slice(0, 4)}-${text.slice(4, 8)}-${text.slice(8)}`
}

/** Normalises a code: people may leave out the dashes, write small letters, and use O for 0 and I or L for 1. */
const folded = (code: string): string =>
  code
    .toUpperCase()
    .replace(/[\s\p{Pd}]/gu, '')
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1')

/** The text that is hashed: it includes the patient, so a guess tests one code and not all codes of the table. */
const hashed = (patientId: string, code: string): string => `${patientId} ${folded(code)}`

/** Creates a code for a patient, which ends the previous one. The code is returned once and cannot be read again. */
export async function issueCode(
  database: Database,
  patientId: string,
  now: number,
): Promise<{ code: string; expiresAt: Date }> {
  const code = newCode()
  const expiresAt = new Date(now + livesFor)
  await database.query({
    text: `insert into enrolment_code (patient_id, hash, created_at, expires_at) values ($1, $2, $3, $4)
      on conflict (patient_id) do update set hash = excluded.hash, tries = 0, created_at = excluded.created_at,
        expires_at = excluded.expires_at`,
    values: [patientId, digestOf(hashed(patientId, code)), new Date(now), expiresAt],
  })
  return { code, expiresAt }
}

interface CodeRow {
  readonly hash: Buffer
  readonly tries: number
}

const nobodys = digestOf('')

/**
 * Redeems a patient's code.
 * @returns false if there is no code, or it is wrong, which counts against the code.
 */
export function redeemCode(database: Database, patientId: string, code: string, now: number): Promise<boolean> {
  return database.transaction(async on => {
    // Counting first locks the row: of two at once with the right code, one finds it gone.
    const [row] = await on.query<CodeRow>({
      text: `update enrolment_code set tries = tries + 1 where patient_id = $1 and expires_at > $2
        returning hash, tries`,
      values: [patientId, new Date(now)],
    })
    const isRight = isDigestOf(row?.hash ?? nobodys, hashed(patientId, code)) && row !== undefined
    if (isRight || (row && row.tries >= mostTries))
      await on.run({ text: 'delete from enrolment_code where patient_id = $1', values: [patientId] })
    return isRight
  })
}
