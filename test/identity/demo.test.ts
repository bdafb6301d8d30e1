// The demo client of a local service may do everything, and its demo user signs in with one click.
import { expect, test } from 'vitest'
import { covers, scopes } from '../../src/access/scopes.ts'
import { revokeClient } from '../../src/identity/clients.ts'
import { demoScopes, ensureDemoUser, mustBeFitForProduction } from '../../src/identity/demo.ts'
import { demoClient, demoUser } from '../../src/identity/demo-accounts.ts'
import { disableUser, listUsers } from '../../src/identity/users.ts'
import { readConfig } from '../../src/lib/config.ts'
import { openTestDatabase } from '../support/database.ts'

test('the demo client may ask for every scope', () => {
  const wanted = [...Object.keys(scopes), 'system/Patient.cruds', 'system/Binary.write']
  expect(wanted.filter(scope => !covers(demoScopes, scope))).toEqual([])
})

test('production does not start on a database with the demo user, whose password everybody knows', async () => {
  const database = await openTestDatabase()
  const config = { ...readConfig({}), environment: 'production' } as const
  await revokeClient(database, demoClient.id)
  await ensureDemoUser(database)
  await ensureDemoUser(database)
  expect(await listUsers(database)).toHaveLength(1)
  await expect(mustBeFitForProduction(config, database)).rejects.toThrow(`demo user (${demoUser.email})`)
  await disableUser(database, demoUser.email)
  await expect(mustBeFitForProduction(config, database)).resolves.toBeUndefined()
})
