// The demo client of a local service, and what keeps it out of production.

import { roles } from '../access/caller.ts'
import { scopes } from '../access/scopes.ts'
import type { Database } from '../db/database.ts'
import { type Config, ConfigError } from '../lib/config.ts'
import { createClient } from './clients.ts'
import { demoClient, demoUser } from './demo-accounts.ts'
import { createUser, findUser } from './users.ts'

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

/** Creates the demo user, with every role. Only for ENVIRONMENT=local. */
export async function ensureDemoUser(database: Database): Promise<void> {
  const { email, password } = demoUser
  if (await findUser(database, email)) return
  await createUser(database, { email, organizationId: demoClient.organizationId, roles, password }).catch(error => {
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
  if (await findUser(database, demoUser.email))
    throw new ConfigError(
      `The database contains the demo user (${demoUser.email}), whose password is public: disable the user, or use a separate database for production.`,
    )
}
