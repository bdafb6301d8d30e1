// npm run admin -- COMMAND: what an administrator does beside the service.
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { sealingKey } from './audit/chain.ts'
import { toldHeads, verdictText } from './audit/verdict.ts'
import { verifyTrail } from './audit/verify.ts'
import { type Connection, openDatabase } from './db/database.ts'
import { borrowEmbedded, EmbeddedError } from './db/embedded.ts'
import { migrate } from './db/migrate.ts'
import { type Config, ConfigError, readConfig } from './lib/config.ts'
import { encryptionKey } from './lib/encryption.ts'
import { Failure } from './lib/failure.ts'
import { createLog } from './lib/log.ts'

const help = `Usage: npm run admin -- audit verify [--known FILE] [--json]

Checks the whole audit trail: every row against its hash and the row before it, every chain against its sealed
head, and the chains against each other. Names the first broken row of each chain. Others may go on writing.

  --known FILE   the --json answer of an earlier check: its heads must still be in the trail, so that nothing
                 can be cut off and sealed anew, not even by somebody who has the key
  --json         the answer as JSON, with the head of each chain, to be kept where nobody changes it
  --help         this text

Uses the database of DATABASE_URL, or the embedded one of DATA_DIR, also while the service runs.
Exit code 0 if the trail is whole, 1 if it is broken, 2 for wrong arguments or when it could not be checked.
`

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      known: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return print(help, 0)
  if (positionals.join(' ') !== 'audit verify') return print(help, 2)
  const known = values.known === undefined ? [] : toldHeads(await readFile(values.known, 'utf8'))
  return onDatabase(readConfig(), async (config, connection) => {
    const database = openDatabase(connection, { poolSize: 2, statementTimeout: 0 })
    try {
      await migrate(database)
      const verdict = await verifyTrail(database, sealingKey(await encryptionKey(config)), known)
      return print(values.json ? `${JSON.stringify(verdict)}\n` : verdictText(verdict), verdict.isWhole ? 0 : 1)
    } finally {
      await database.end()
    }
  })
}

async function onDatabase<T>(config: Config, work: (config: Config, connection: Connection) => Promise<T>): Promise<T> {
  const embedded = config.databaseUrl === '' ? await borrowEmbedded(config.dataDir, 40, createLog('warn')) : undefined
  try {
    return await work(config, embedded?.connection ?? config.databaseUrl)
  } finally {
    await embedded?.stop()
  }
}

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
      /^ENOENT|Unknown option|^The file of known heads/.test(error.message)
    process.stderr.write(`${isExpected ? error.message : error.stack}\n`)
    process.exitCode = 2
  },
)
