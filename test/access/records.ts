// The store of a data set, without anybody who serves it: callers write and read as consents let them.

import { createCaller, system } from '../../src/access/caller.ts'
import type { Storage } from '../../src/app/storage.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { Principal } from '../../src/store/principal.ts'
import { dataSetAt } from '../support/base.ts'
import type { TestDatabase } from '../support/database.ts'
import { openTestStorage } from '../support/storage.ts'

/** A client of an organisation, which sees by consent. */
export const clientOf = (organizationId: string, clientId = `${organizationId}-app`) =>
  createCaller({ clientId, organizationId, scopes: ['system/*.cruds'], consentExempt: false })

export interface Records extends Storage {
  /** Stores resources one by one. @param by the service itself, unless it is said */
  put(resources: readonly object[], by?: Principal): Promise<void>
  remove(name: string, by?: Principal): Promise<void>
  /** Of these names of resources, those that a caller reads. */
  seen(by: Principal, ...names: string[]): Promise<string[]>
}

export const recordsAt = dataSetAt('https://records.example')

/** @param connection to a database, which other records may be of, too */
export async function openRecords(dataSet = recordsAt, connection?: TestDatabase): Promise<Records> {
  const storage = await openTestStorage(dataSet, connection)
  const partsOf = (name: string) => name.split('/') as [type: string, id: string]
  return {
    ...storage,
    async put(resources, by = system) {
      for (const resource of resources as JsonObject[])
        await storage.storeFor(by).update(String(resource['resourceType']), String(resource['id']), resource, {})
    },
    async remove(name, by = system) {
      await storage.storeFor(by).remove(...partsOf(name), {})
    },
    async seen(by, ...names) {
      const store = storage.storeFor(by)
      const isSeen = async (name: string) =>
        store.read(...partsOf(name)).then(
          () => [name],
          () => [],
        )
      return (await Promise.all(names.map(isSeen))).flat()
    },
  }
}

/** A patient, and a condition of the same id. */
export const recordOf = (id: string, more: object = {}) => [
  { resourceType: 'Patient', id, ...more },
  { resourceType: 'Condition', id, subject: { reference: `Patient/${id}` }, code: { text: id } },
]

/** A link of a Patient. */
export const linkTo = (type: string, id: string) => ({ type, other: { reference: `Patient/${id}` } })
