// The addresses that a data set was served at, as the Health IDs that it gave out tell.
import { expect, test } from 'vitest'
import { system } from '../../../src/access/caller.ts'
import { openStorage } from '../../../src/app/storage.ts'
import { mint } from '../../../src/lib/health-id.ts'
import type { JsonObject } from '../../../src/lib/json.ts'
import { createLog } from '../../../src/lib/log.ts'
import { originsInUse } from '../../../src/mpi/register/origins.ts'
import { dataSetAt } from '../../support/base.ts'
import { onCleanup } from '../../support/cleanup.ts'
import { configOfRun, createTestDatabase } from '../../support/database.ts'

const identifierAt = (origin: string, value = mint('CM')) => ({
  system: `${origin}/fhir/NamingSystem/health-id`,
  value,
})

test('addresses are found by the Health IDs that were given out at them, the most used first, and of equals in order', async () => {
  const connection = await createTestDatabase()
  const config = configOfRun()
  const servedAt = (origin: string) => {
    const storage = openStorage(config, connection, dataSetAt(origin), createLog('silent'), Buffer.alloc(32))
    onCleanup(() => storage.database.end())
    return storage
  }
  const [often, seldom, never] = ['often', 'seldom', 'never'].map(name => `https://${name}.example`) as [
    string,
    string,
    string,
  ]
  const also = 'https://also.example'
  const { database } = servedAt(never)
  const put = (origin: string, ...resources: JsonObject[]) =>
    Promise.all(
      resources.map(body =>
        servedAt(origin).storeFor(system).update(String(body['resourceType']), String(body['id']), body, {}),
      ),
    )
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
