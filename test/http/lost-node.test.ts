// A database whose tables lie on several nodes, one of which cannot be reached: the server that answers says so with class 08
// (https://www.postgresql.org/docs/current/errcodes-appendix.html).
import { expect, test } from 'vitest'
import { isOnCluster } from '../support/citus.ts'
import { fhirCaller } from '../support/fhir.ts'
import { startService } from '../support/service.ts'
import { databaseOf } from '../support/trail.ts'

// A cluster takes no triggers on tables that it has distributed.
test.skipIf(isOnCluster()).each([
  ['08001', 'connection to the remote node failed'],
  ['08003', 'connection to the remote node failed'],
  ['08006', 'connection to the remote node failed'],
  // Citus says so of a node that had answered within the transaction before.
  ['XX000', 'failure on connection marked as essential: 10.0.0.7:5432'],
])('a change that a lost node (%s) keeps from being stored is 503, and can be repeated', async (code, message) => {
  const service = await startService()
  const call = fhirCaller(() => service)
  const database = await databaseOf(service)
  await database.query(
    `create function lost() returns trigger language plpgsql as $$ begin raise '${message}' using errcode = '${code}'; end $$`,
  )
  await database.query('create trigger lost before insert on resource for each row execute function lost()')
  const flag = { resourceType: 'Basic', id: 'kept', code: { text: 'x' } }
  const refused = await call('PUT', 'Basic/kept', { body: flag })
  expect([refused.status, refused.body.issue[0].code]).toEqual([503, 'transient'])
  expect((await call('GET', 'Basic/kept')).status).toBe(404)
  await database.query('drop trigger lost on resource')
  expect((await call('PUT', 'Basic/kept', { body: flag })).status).toBe(201)
})
