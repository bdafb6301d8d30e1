// The addresses that a data set was served at, as the Health IDs that it gave out tell.
import { expect, test } from 'vitest'
import { system } from '../../../src/access/caller.ts'
import { mint } from '../../../src/lib/health-id.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import { originsInUse } from '../../../src/mpi/register/origins.ts'
import { dataSetAt } from '../../support/base.ts'
import { createTestDatabase } from '../../support/database.ts'
import { openTestStorage } from '../../support/storage.ts'

const identifierAt = (origin: string, value = mint('CM')) => ({
  system: `${origin}/fhir/NamingSystem/health-id`,
  value,
})

test('addresses are found by the Health IDs that were given out at them, the most used first, and of equals in order', async () => {
  const connection = await createTestDatabase()
  const servedAt = (origin: string) => openTestStorage(dataSetAt(origin), connection)
  const [often, seldom, never] = ['often', 'seldom', 'never'].map(name => `https://${name}.example`) as [
    string,
    string,
    string,
  ]
  const also = 'https://also.example'
  const { database } = await servedAt(never)
  const put = async (origin: string, ...resources: JsonObject[]) => {
    const { storeFor } = await servedAt(origin)
    const update = (body: JsonObject) =>
      storeFor(system).update(String(body['resourceType']), String(body['id']), body, {})
    return Promise.all(resources.map(update))
  }
  const patient = (id: string, ...identifier: JsonObject[]): JsonObject => ({ resourceType: 'Patient', id, identifier })
  const shared = mint('CM')
  await put(
    often,
    patient('ada', identifierAt(often)),
    // The number of an insurance, and what only looks like a Health ID, name no address.
    patient('ben', identifierAt(often, shared), { system: `${never}/insured`, value: shared }, identifierAt(never)),
  )
  await put(seldom, patient('cyd', identifierAt(seldom)))
  await put(also, patient('dan', identifierAt(also)))
  // What has the id of a patient is not that patient.
  await put(never, { resourceType: 'Organization', id: 'ben', name: 'Ben', identifier: [identifierAt(never, shared)] })
  expect(await originsInUse(database, 10)).toEqual([often, also, seldom])
  expect(await originsInUse(database, 2)).toEqual([often, also])
})
