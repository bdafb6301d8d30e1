// The demo client of a local service, and what keeps it out of production.

import { scopes } from '../access/scopes.ts'
import type { Database } from '../db/database.ts'
import { type Config, ConfigError } from '../lib/config.ts'
import { createClient } from './clients.ts'

/** Fixed on purpose: it stands in the README, so that the first call works as it is written there. */
export const demoClient = {
  id: 'demo-client',
  secret: 'demo-secret-for-local-use-only',
  organizationId: 'demo-organization',
} as const

/** All rights: every named scope, and every FHIR interaction. */
export const demoScopes = [...Object.keys(scopes), 'system/*.cruds']

/** Creates the demo client, or brings its scopes up to date. Only for ENVIRONMENT=local. */
export async function ensureDemoClient(database: Database): Promise<void> {
  const rows = await database.query({
    text: 'update client set scopes = $2 where id = $1 returning id',
    values: [demoClient.id, demoScopes],
  })
  if (rows.length > 0) return
  await createClient(database, 'local', { ...demoClient, name: 'Demo client', scopes: demoScopes }).catch(error => {
    if (error.code !== 'CONFLICT') throw error
  })
}

/**
 * Refuses to start production with what only a local service may have.
 * @throws ConfigError that states what to do.
 */
export async function mustBeFitForProduction(config: Config, database: Database): Promise<void> {
  if (config.environment !== 'production') return
  const demo = await database.query({
    text: 'select id from client where id = $1 and revoked_at is null',
    values: [demoClient.id],
  })
  if (demo.length > 0)
    throw new ConfigError(
      `The database contains the demo client (${demoClient.id}), whose secret is public: revoke it, or use a separate database for production.`,
    )
}
