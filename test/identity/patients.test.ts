// Patients' own tokens: what a code gives, what the telephone proves with it, and how that ends.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { issueCode } from '../../src/identity/enrolment.ts'
import { createPatients, unenrol } from '../../src/identity/patients.ts'
import { createThrottle } from '../../src/identity/throttle.ts'
import { mint } from '../../src/lib/health-id.ts'
import type { Holder } from '../../src/mpi/register/health-ids.ts'
import { openTestDatabase } from '../support/database.ts'

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})

const day = 86_400_000
let time = 0
/** Who answers for a Health ID. */
let holders: Map<string, Holder>
let patients: ReturnType<typeof createPatients>
let count = 0
beforeEach(() => {
  time = Date.now()
  holders = new Map()
  patients = createPatients({
    ...{ database, throttle: createThrottle(() => time), now: () => time },
    holderOf: async healthId => holders.get(healthId),
  })
})

/** A patient who has a Health ID and a code. */
async function coded() {
  const [patient, healthId] = [`patient-${count++}`, mint('TD')]
  holders.set(healthId, { patient, current: healthId, isMerged: false })
  const { code, expiresAt } = await issueCode(database, patient, time)
  return { patient, healthId, code, expiresAt }
}

const enrol = (healthId: string, code: string, address = '10.0.0.1') => patients.enrol({ healthId, code, address })
const bearer = (token: string) => patients.authenticate({ headers: { authorization: `Bearer ${token}` } })
async function enrolled() {
  const { patient, healthId, code } = await coded()
  return { patient, healthId, token: (await enrol(healthId, code)).token }
}

const wrongPair = {
  code: 'UNAUTHENTICATED',
  message: 'The Health ID and the code do not match, or the code has expired or was used: request a new code.',
}
const invalid = (why: string) => ({ code: 'TOKEN_INVALID', message: `The token is not valid: ${why}.` })
const gone = invalid('it is unknown or was revoked')

test('a code gives a token once, which proves the patient for half a year', async () => {
  const { patient, healthId, code } = await coded()
  const given = await enrol(healthId, code)
  expect(given).toEqual({
    ...{ token: expect.stringMatching(/^pat_[0-9A-Za-z]{43}$/), expiresAt: new Date(time + 180 * day), healthId },
  })
  const caller = await bearer(given.token)
  expect(caller).toMatchObject({ kind: 'patient', patientId: patient, healthId })
  expect(caller.tokenId).toMatch(/^[0-9A-Za-z]{22}$/)
  await expect(enrol(healthId, code)).rejects.toMatchObject(wrongPair)
  time += 180 * day - 1
  await bearer(given.token)
  time++
  await expect(bearer(given.token)).rejects.toMatchObject({
    ...{ code: 'TOKEN_EXPIRED', message: 'The patient token has expired: enrol the device again.' },
  })
})

test('a Health ID and a code count however people write them', async () => {
  const { healthId, code } = await coded()
  expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}$/)
  const written = code.replaceAll('-', ' – ').replaceAll('0', 'o').replace('1', 'i').replaceAll('1', 'L').toLowerCase()
  const given = await enrol(healthId.toLowerCase().replaceAll('-', ' '), written)
  expect(given.healthId).toBe(healthId)
})

test('whoever has the code of somebody else, a Health ID of nobody, or none at all is told the same', async () => {
  const [{ healthId }, { code }] = [await coded(), await coded()]
  for (const [who, what] of [
    [healthId, code],
    [healthId, ''],
    [mint('TD'), code],
    ['nonsense', code],
  ] as const)
    await expect(enrol(who, what), who).rejects.toMatchObject(wrongPair)
})

test('a code lives for three days, and not a millisecond more', async () => {
  const [one, other] = [await coded(), await coded()]
  expect(one.expiresAt).toEqual(new Date(time + 3 * day))
  time += 3 * day - 1
  await enrol(one.healthId, one.code)
  time++
  await expect(enrol(other.healthId, other.code)).rejects.toMatchObject(wrongPair)
})

test('a code ends with its fifth wrong try, and with the next code, which has five of its own', async () => {
  const { patient, healthId, code } = await coded()
  const fail = async (times: number) => {
    for (let at = 0; at < times; at++) await expect(enrol(healthId, 'wrong', `10.0.1.${at}`)).rejects.toThrow()
  }
  await fail(4)
  const { code: next } = await issueCode(database, patient, time)
  await expect(enrol(healthId, code)).rejects.toMatchObject(wrongPair)
  await fail(3)
  await enrol(healthId, next)
  const { code: last } = await issueCode(database, patient, time)
  await fail(5)
  await expect(enrol(healthId, last)).rejects.toMatchObject(wrongPair)
})

test('of two who use a code at once, one is given a token', async () => {
  const { healthId, code } = await coded()
  const both = await Promise.allSettled([enrol(healthId, code), enrol(healthId, code)])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

test('failures count for the Health ID at an address, however it is written', async () => {
  const { healthId, code } = await coded()
  for (let times = 0; times < 10; times++) await expect(enrol(healthId, 'x')).rejects.toMatchObject(wrongPair)
  const throttled = { code: 'AUTH_THROTTLED' }
  await expect(enrol(healthId.toLowerCase(), code)).rejects.toMatchObject(throttled)
  const other = await coded()
  await enrol(other.healthId, other.code)
  await expect(enrol(healthId, code, '10.0.0.2')).rejects.toMatchObject(wrongPair)
})

test('a token works as Bearer, in capitals or not, with spaces around it', async () => {
  const { token, patient } = await enrolled()
  for (const authorization of [`Bearer ${token}`, `bearer   ${token}`, `BEARER ${token}  `])
    expect(await patients.authenticate({ headers: { authorization } })).toMatchObject({ patientId: patient })
})

test('what is no Bearer is told how a token is sent; what is no token of a patient, where one is given', async () => {
  const { token } = await enrolled()
  for (const authorization of [
    undefined,
    'Bearer',
    'Bearer ',
    `Basic ${token}`,
    `xBearer ${token}`,
    `Bearer ${token} x`,
  ])
    await expect(patients.authenticate({ headers: { authorization } }), authorization).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
      message: 'Send a patient token: Authorization: Bearer pat_…. Get one from POST /api/v1/mobile/enrol.',
    })
  for (const other of ['x', 'pat_', `x${token}`, `${token}x`, token.slice(0, -1), `${token.slice(0, -1)}-`])
    await expect(bearer(other), other).rejects.toMatchObject(
      invalid('this operation requires a patient token, pat_…, from POST /api/v1/mobile/enrol'),
    )
  await expect(bearer(`pat_${'x'.repeat(43)}`)).rejects.toMatchObject(gone)
})

test('a token goes with the patient: to whoever replaces him, under the Health ID that is his now', async () => {
  const { token, patient, healthId } = await enrolled()
  const current = mint('TD')
  holders.set(healthId, { patient: 'heir', current, isMerged: true })
  await expect(bearer(token)).rejects.toMatchObject(
    invalid('its Health ID now belongs to another patient record: enrol the device again'),
  )
  await database.query({
    text: `insert into patient_replaced (patient, by_patient) values ($1, 'heir')`,
    values: [patient],
  })
  expect(await bearer(token)).toMatchObject({ patientId: 'heir', healthId: current })
  holders.set(healthId, { patient: 'heir', current: undefined, isMerged: true })
  expect(await bearer(token)).toMatchObject({ patientId: 'heir', healthId })
  holders.clear()
  await expect(bearer(token)).rejects.toMatchObject(invalid('its Health ID is no longer registered'))
})

test('a token is given under the Health ID that the patient has now', async () => {
  const { patient, healthId, code } = await coded()
  const current = mint('TD')
  holders.set(healthId, { patient, current, isMerged: false })
  holders.set(current, { patient, current, isMerged: false })
  const { token, healthId: told } = await enrol(healthId, code)
  expect([told, (await bearer(token)).healthId]).toEqual([current, current])
})

test('a revoked token is known no more; another of the same patient is', async () => {
  const { token, patient, healthId } = await enrolled()
  const { code } = await issueCode(database, patient, time)
  const { token: other } = await enrol(healthId, code)
  const caller = await bearer(token)
  await patients.revoke(caller)
  await expect(bearer(token)).rejects.toMatchObject(gone)
  await bearer(other)
})

test('a revocation within a transaction comes and goes with it', async () => {
  const { token } = await enrolled()
  const caller = await bearer(token)
  const undone = database.transaction(async within => {
    await patients.revoke({ ...caller, within } as typeof caller)
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  await bearer(token)
})

test('to end the enrolment of a patient ends every telephone and the code in hand, nobody else’s', async () => {
  const [one, other] = [await enrolled(), await enrolled()]
  const { code } = await issueCode(database, one.patient, time)
  const { token } = await enrol(one.healthId, code)
  const { code: last } = await issueCode(database, one.patient, time)
  expect(await unenrol(database, one.patient)).toBe(2)
  for (const each of [one.token, token]) await expect(bearer(each)).rejects.toMatchObject(gone)
  await expect(enrol(one.healthId, last)).rejects.toMatchObject(wrongPair)
  await bearer(other.token)
  expect(await unenrol(database, one.patient)).toBe(0)
})
