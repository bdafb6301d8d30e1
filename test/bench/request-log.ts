// npm run bench -- request-log: what the request log costs for each request, in this process and in PostgreSQL.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/db/database.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { uuidv7 } from '../../src/lib/ids.ts'
import { createLog } from '../../src/lib/log.ts'
import { createRequestLogWriter } from '../../src/requests/writer.ts'
import { cpuOf } from './cpu.ts'

const groups = 100
const perGroup = 1000

/** Prints the microseconds of CPU for one request, written in groups of 1,000, by rounds. */
export async function benchRequestLog(dataDir: string, rounds: number): Promise<void> {
  const log = createLog('warn')
  const server = await startEmbedded(dataDir, 10, log)
  const database = openDatabase(server.connection, { poolSize: 1, statementTimeout: 0 })
  try {
    await migrate(database)
    const postmaster = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
    const dropped = (count: number): void => log.warn({ count }, 'dropped')
    const { note, flush } = createRequestLogWriter({ database, log, dropped })
    process.stdout.write('| CPU-µs a request | node | PostgreSQL |\n|---|--:|--:|\n')
    for (let round = 0; round < rounds; round++) {
      const [own, before] = [process.cpuUsage(), cpuOf(postmaster)]
      for (let group = 0; group < groups; group++) {
        for (let n = 0; n < perGroup; n++) note(request(n))
        await flush()
      }
      const { user, system } = process.cpuUsage(own)
      const count = groups * perGroup
      const [node, postgres] = [(user + system) / count, ((cpuOf(postmaster) - before) * 1000) / count]
      process.stdout.write(`| round ${round + 1} | ${node.toFixed(1)} | ${postgres.toFixed(1)} |\n`)
    }
  } finally {
    await database.end()
    await server.stop()
  }
}

const request = (n: number) => ({
  ...{
    at: Date.now(),
    requestId: uuidv7(),
    isMade: true,
    clientId: `client_${n % 7}`,
    organizationId: `hospital-${n % 5}`,
  },
  ...{ method: 'GET', route: '/api/fhir/R4/{type}/{id}', resourceType: 'Patient', milliseconds: 2.5 },
  ...(n % 20 === 0 ? { status: 404, errorCode: 'NOT_FOUND' } : { status: 200, errorCode: '' }),
  ...{ bytesIn: 0, bytesOut: 2000 },
})
