// The patient of a Health ID that an address names.
import { beforeAll, expect, test } from 'vitest'
import { system } from '../../src/access/caller.ts'
import type { Database } from '../../src/db/database.ts'
import { mint } from '../../src/lib/health-id.ts'
import { patientOf } from '../../src/mpi/patient-of.ts'
import { addressesOf } from '../../src/mpi/register/patient.ts'
import { openTestStorage } from '../support/storage.ts'

let database: Database
const current = mint('CM')
const former = mint('CM')
const bare = mint('CM')

beforeAll(async () => {
  const storage = await openTestStorage()
  database = storage.database
  const store = async (id: string, ...identifiers: [use: string, value: string][]) => {
    const { healthIds } = addressesOf(storage.base)
    const identifier = identifiers.map(([use, value]) => ({ use, system: healthIds, value }))
    await storage.storeFor(system).update('Patient', id, { resourceType: 'Patient', id, identifier }, {})
  }
  await store('amina', ['official', current], ['old', former])
  await store('nobody', ['old', bare])
})

test('a Health ID leads to its patient, however it is written', async () => {
  const expected = { patient: 'amina', healthId: current, isMerged: false }
  expect(await patientOf(database, current)).toMatchObject(expected)
  expect(await patientOf(database, current.toLowerCase().replaceAll('-', ' '))).toMatchObject(expected)
})

test('a former Health ID leads to the same patient, and to the Health ID that holds now', async () => {
  expect(await patientOf(database, former)).toMatchObject({ patient: 'amina', healthId: current })
})

test('where none holds now, the Health ID is the one that was asked for', async () => {
  expect(await patientOf(database, bare)).toMatchObject({ patient: 'nobody', healthId: bare })
})

test('a Health ID that nobody has is not found, and the answer says where it stood', async () => {
  await expect(patientOf(database, mint('CM'))).rejects.toMatchObject({
    code: 'PATIENT_NOT_FOUND',
    message: expect.stringContaining('resolve'),
    options: {
      details: [{ field: 'path.health_id', code: 'not-found', message: expect.stringContaining('registered') }],
    },
  })
})

test('what is no Health ID is refused by the place where it stood', async () => {
  await expect(patientOf(database, 'CM-0000')).rejects.toMatchObject({
    code: 'INVALID_HEALTH_ID',
    options: { details: [{ field: 'path.health_id' }] },
  })
})
