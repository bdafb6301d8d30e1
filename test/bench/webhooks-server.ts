// One process that serves the same routes at two ports: telling of changes, and with callers of whose changes nobody is told.

import { createApplication } from '../../src/app/app.ts'
import { sealingKey } from '../../src/audit/chain.ts'
import { createAuditWriter } from '../../src/audit/writer.ts'
import { openDatabase } from '../../src/db/database.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { createIdempotency } from '../../src/http/idempotency.ts'
import { createLimits, quotasOf } from '../../src/http/limits.ts'
import { listen } from '../../src/http/listen.ts'
import type { Reply, Route } from '../../src/http/route.ts'
import { createApp } from '../../src/http/server.ts'
import { ensureDemoClient } from '../../src/identity/demo.ts'
import { readConfig } from '../../src/lib/config.ts'
import { encryptionKey } from '../../src/lib/encryption.ts'
import { createLog } from '../../src/lib/log.ts'
import { createUnitOfWork } from '../../src/store/unit-of-work.ts'

const config = readConfig()
const log = createLog('warn')
const embedded = await startEmbedded(config.dataDir, 2 * config.poolSize + 20, log)
const opened = openDatabase(embedded.connection, { poolSize: 2, statementTimeout: 0 })
await migrate(opened)
await opened.end()
const application = await createApplication(config, embedded.connection, `http://127.0.0.1:${config.port}`, log)
const { database, indexing, identity } = application
await application.prepare()
await ensureDemoClient(database)

type AnyHandle = (request: { readonly caller: object | undefined }) => Reply | Promise<Reply>

const untold = (route: Route): Route => {
  const handle: AnyHandle = request =>
    (route.handle as AnyHandle)({ ...request, caller: request.caller && { ...request.caller, origin: undefined } })
  return { ...route, handle } as Route
}

const now = () => new Date()
const audit = createAuditWriter({ database, key: sealingKey(await encryptionKey(config)), log, now })
const idempotency = createIdempotency({
  database,
  log,
  unitOfWork: createUnitOfWork(application.databaseFor, indexing),
  now,
})
/** The two are alike but for what is told. */
const serving = (routes: readonly Route[]) =>
  createApp({
    ...{ routes, audit, idempotency, log },
    authenticate: identity.authenticate,
    readPurpose: caller => caller,
    ...{ database, searchTimeout: config.searchTimeout },
    observer: { begun: () => {}, answered: () => {} },
    limits: createLimits(quotasOf(config)),
    baseUrl: undefined,
    trustedProxies: config.trustedProxies,
    maxBodyBytes: config.maxBodyBytes,
  })

application.start()
const listening = [
  await listen(serving(application.routes), config.port, '127.0.0.1'),
  await listen(serving(application.routes.map(untold)), config.port + 1, '127.0.0.1'),
]
process.once('message', async () => {
  for (const each of listening) await each.close()
  await audit.close()
  await application.close()
  await embedded.stop()
  process.exit(0)
})
process.send!('ready')
