// The demo set: four complete patients of a hospital in Cameroon, and what goes on there; invented, the same on every machine but for
// what is counted from the day of its load.
import type { Database } from '../db/database.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Base } from '../store/base.ts'
import type { Projection } from '../store/projection.ts'
import { purge } from '../store/purge.ts'
import type { Store } from '../store/store.ts'
import { demoResources } from './resources.ts'

export interface DemoData {
  /** Puts the demo set in place if the store has none of it yet. */
  ensure(): Promise<void>
  /** Removes whatever is stored about the demo patients, then puts the demo set in place. */
  restore(): Promise<{ seeded: Record<string, number>; patients: string[] }>
}

export interface DemoParts {
  readonly database: Database
  readonly store: Store
  readonly projections: readonly Projection[]
  /** Of the data set, whose naming systems it uses. */
  readonly base: Base
}

export function createDemoData({ database, store, projections, base }: DemoParts): DemoData {
  const systems = { healthId: base.naming('health-id'), below: `${base.origin}/fhir/NamingSystem` }
  const made = (): JsonObject[] => demoResources(systems, new Date())
  return {
    async ensure() {
      const resources = made()
      const patient = resources.find(each => each['resourceType'] === 'Patient')!
      const known = await store.history({ type: 'Patient', id: String(patient['id']), count: 1 }).catch(() => undefined)
      if (!known?.versions.length) await seed(store, resources)
    },
    async restore() {
      const resources = made()
      const patients = resources.filter(each => each['resourceType'] === 'Patient')
      await purge(
        database,
        patients.map(each => String(each['id'])),
        resources.map(nameOf),
        projections,
      )
      await seed(store, resources)
      return { seeded: countByType(resources), patients: patients.map(healthIdOf) }
    },
  }
}

const nameOf = (resource: JsonObject): { type: string; id: string } => ({
  type: String(resource['resourceType']),
  id: String(resource['id']),
})

async function seed(store: Store, resources: readonly JsonObject[]): Promise<void> {
  const entries = resources.map(resource => ({
    ...nameOf(resource),
    fullUrl: undefined,
    method: 'PUT' as const,
    query: undefined,
    resource,
  }))
  await store.transaction(entries, () => Promise.resolve(undefined))
}

function countByType(resources: readonly JsonObject[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { type } of resources.map(nameOf)) counts[type] = (counts[type] ?? 0) + 1
  return counts
}

function healthIdOf(patient: JsonObject): string {
  return (patient['identifier'] as { value: string }[])[0]!.value
}
