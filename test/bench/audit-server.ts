// One process that serves the same routes at two ports: with the audit trail, and without it.
import { createApplication } from '../../src/app/app.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { createLimits, quotasOf } from '../../src/http/limits.ts'
import { listen } from '../../src/http/listen.ts'
import type { Reply, Route } from '../../src/http/route.ts'
import { createApp } from '../../src/http/server.ts'
import { ensureDemoClient } from '../../src/identity/demo.ts'
import { readConfig } from '../../src/lib/config.ts'
import { createLog } from '../../src/lib/log.ts'

const config = readConfig()
const log = createLog('warn')
const embedded = await startEmbedded(config.dataDir, 2 * config.poolSize + 20, log)
const application = await createApplication(config, embedded.connection, `http://127.0.0.1:${config.port}`, log)
await ensureDemoClient(application.database)

type AnyHandle = (request: { readonly caller: object | undefined }) => Reply | Promise<Reply>

const silent = (route: Route): Route => {
  const handle: AnyHandle = request =>
    (route.handle as AnyHandle)({
      ...request,
      caller: request.caller && { ...request.caller, witness: undefined, note: undefined },
    })
  return { ...route, handle } as Route
}
const bare = createApp({
  routes: application.routes.map(silent),
  authenticate: application.identity.authenticate,
  readPurpose: caller => caller,
  ...{ database: application.database, searchTimeout: config.searchTimeout },
  limits: createLimits(quotasOf(config)),
  idempotency: { once: ({ caller }, work) => work(caller) },
  audit: { write: async () => {} },
  log,
  observer: { begun: () => {}, answered: () => {} },
  baseUrl: undefined,
  trustedProxies: config.trustedProxies,
  maxBodyBytes: config.maxBodyBytes,
})
const listening = [
  await listen(application.koa, config.port, '127.0.0.1'),
  await listen(bare, config.port + 1, '127.0.0.1'),
]
process.once('message', async () => {
  for (const each of listening) await each.close()
  await application.close()
  await embedded.stop()
  process.exit(0)
})
process.send!(embedded.connection)
