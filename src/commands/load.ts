// npm run load -- PATH…: transaction bundles, collections and NDJSON, plain or gzipped, files or folders.
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { system } from '../access/caller.ts'
import { openStorage } from '../app/storage.ts'
import { type Database, openDatabase } from '../db/database.ts'
import { borrowEmbedded, EmbeddedError } from '../db/embedded.ts'
import { migrate } from '../db/migrate.ts'
import { findClient } from '../identity/clients.ts'
import { demoClient } from '../identity/demo-accounts.ts'
import { addressOf, archiveOf, type Config, ConfigError, readConfig } from '../lib/config.ts'
import { encryptionKey } from '../lib/encryption.ts'
import { Failure } from '../lib/failure.ts'
import { createLog } from '../lib/log.ts'
import { load, type Progress } from '../load/load.ts'
import { originsInUse } from '../mpi/register/origins.ts'
import { vacuumRegister } from '../mpi/register/vacuum.ts'
import { type DataSet, madeDataSet, readDataSet } from '../store/data-set.ts'
import { mustHaveLayout } from '../store/distribution.ts'
import { vacuumResources } from '../store/statistics.ts'
import { createMeter, summary } from './load/report.ts'

const help = `Usage: npm run load -- PATH... [--client ID] [--events] [--parallel N] [--json]

Loads FHIR R4 resources from files and folders: transaction, batch and collection Bundles, single
resources, and NDJSON (one resource or Bundle a line), plain or gzipped (.json .ndjson .jsonl, .gz).
A transaction is stored completely or not at all. Invalid lines are reported with file and line; the rest is
loaded. Loading the same files again changes nothing.

  --client ID    the client recorded as the author of new resources, which it can read without consent
                 (default: the demo client in the local environment, otherwise none)
  --events       send events for the loaded resources to subscribers (default: no events)
  --parallel N   transactions in flight at a time (default 4)
  --json         print the summary as JSON
  --help         show this help

Uses the database of DATABASE_URL, or the embedded one of DATA_DIR. Can be used while the service runs.
Exit code: 0 if everything was stored, 1 otherwise, 2 for wrong arguments.
`

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      client: { type: 'string' },
      events: { type: 'boolean', default: false },
      parallel: { type: 'string', default: '4' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return print(help, 0)
  const parallel = Number(values.parallel)
  if (positionals.length === 0 || !Number.isInteger(parallel) || parallel < 1 || parallel > 32) return print(help, 2)
  const config = readConfig()
  const log = createLog('warn')
  const embedded =
    config.databaseUrl === '' ? await borrowEmbedded(config.dataDir, 40, log, archiveOf(config)) : undefined
  const connection = embedded?.connection ?? config.databaseUrl
  const database = openDatabase(connection, { poolSize: 2, statementTimeout: 0, layout: config.databaseLayout })
  try {
    await migrate(database)
    const author = await authorOf(values.client, config, database)
    await mustHaveLayout(database, config.databaseLayout)
    const storage = openStorage(
      { ...config, poolSize: parallel + 1, statementTimeout: 600_000 },
      connection,
      await dataSetFor(config, database),
      log,
      await encryptionKey(config),
    )
    const meter = createMeter(process.stderr, values.json)
    const origin = { organizationId: system.organizationId, requestId: `load-${randomUUID()}` }
    const progress = await load(storage.storeFor({ ...system, author, origin: values.events ? origin : undefined }), {
      paths: positionals,
      parallel,
      changed: meter.show,
    })
    meter.end()
    if (stored(progress) > 10_000) {
      await vacuumResources(database)
      await vacuumRegister(database)
    }
    await storage.indexing.close()
    await storage.database.end()
    return print(summary(progress, meter.seconds(), values.json), progress.problems.length === 0 ? 0 : 1)
  } finally {
    await database.end()
    await embedded?.stop()
  }
}

/** The client that new resources are by. @throws Failure NOT_FOUND for one that nobody could ever read them as. */
async function authorOf(given: string | undefined, config: Config, database: Database): Promise<string | undefined> {
  // The service makes the demo client when it starts, which may be later.
  const usual = config.environment === 'local' ? demoClient.id : undefined
  if (given === undefined || given === usual || (await findClient(database, given))) return given ?? usual
  throw new Failure(
    'NOT_FOUND',
    `There is no client ${given.slice(0, 100)}, and nothing was loaded: --client is an id that \`npm run admin -- client list\` shows.`,
  )
}

/** @throws ConfigError where a production database would get its identity from a setting that is not there. */
async function dataSetFor(config: Config, database: Database): Promise<DataSet> {
  if (config.environment === 'production' && config.baseUrl === '' && !(await readDataSet(database)))
    throw new ConfigError(
      'The data set has no identity yet: set BASE_URL to the public address, or start the service once.',
    )
  return madeDataSet(database, addressOf(config), originsInUse)
}

const stored = (progress: Progress): number => progress.created + progress.updated

function print(text: string, code: number): number {
  process.stdout.write(text)
  return code
}

main().then(
  code => {
    process.exitCode = code
  },
  error => {
    const isExpected =
      error instanceof ConfigError ||
      error instanceof EmbeddedError ||
      error instanceof Failure ||
      /^There is no file|Unknown option/.test(error.message)
    process.stderr.write(`${isExpected ? error.message : error.stack}\n`)
    process.exitCode = 2
  },
)
