// A service whose reads run on a standby of its own, and what is asked of the three.
import { openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrate.ts'
import { ensureDemoClient } from '../../src/identity/demo.ts'
import { type Answer, fhirCaller } from './fhir.ts'
import { scrape } from './metrics.ts'
import { until } from './process.ts'
import { type Service, startOn } from './service.ts'
import { type PostgresServer, startPrimary, startStandby } from './standby.ts'

export interface Replicated {
  readonly primary: PostgresServer
  readonly standby: PostgresServer
  readonly service: Service
  readonly call: ReturnType<typeof fhirCaller>
  /** Resolves when the service uses the standby, or leaves it out. */
  isUsed(wanted: boolean): Promise<void>
  /** The number of reads with this outcome so far. */
  reads(outcome: 'answered' | 'moved' | 'late'): Promise<number>
  /** The answer of the standby, asked again while the primary answers: on a busy machine the standby may be late for a moment. */
  answered(path: string): Promise<Answer>
  /** Undoes what a test has done to the standby, and resolves when it is used. */
  mend(): Promise<void>
}

/** The address of a server. */
export const urlOf = ({ connection: { host, port, user, database } }: PostgresServer): string =>
  `postgres://${user}@${host}:${port}/${database}`

/** Makes the database of a primary one of the service. */
export async function migrated(server: PostgresServer): Promise<PostgresServer> {
  const database = openDatabase(server.connection, { poolSize: 2, statementTimeout: 30_000 })
  await migrate(database)
  await ensureDemoClient(database)
  await database.end()
  return server
}

/** Starts a primary, its standby, and the service, which uses both. */
export async function startReplicated(): Promise<Replicated> {
  const primary = await migrated(await startPrimary('one'))
  const standby = await startStandby(primary, 'two', { max_standby_streaming_delay: '500ms' })
  const service = await startOn(primary.connection, { DATABASE_READ_URL: urlOf(standby) })
  const isUsed = (wanted: boolean): Promise<void> =>
    until(`the standby is ${wanted ? 'used' : 'left out'}`, async () => {
      const { text, sum } = await scrape(service.url)
      return text.includes('database_standby_used{') && (sum('database_standby_used') === 1) === wanted
    })
  await isUsed(true)
  const call = fhirCaller(() => service)
  const reads: Replicated['reads'] = async outcome =>
    (await scrape(service.url)).sum('database_standby_reads_total', `outcome="${outcome}"`)
  return {
    ...{ primary, standby, service, isUsed, call, reads },
    async answered(path) {
      let answer: Answer | undefined
      await until(`the standby answers ${path}`, async () => {
        const before = await reads('answered')
        answer = await call('GET', path)
        return (await reads('answered')) === before + 1
      })
      return answer!
    },
    async mend() {
      standby.thaw()
      const [state] = await standby.query('select pg_is_wal_replay_paused() as paused')
      if (state!['paused']) await standby.resumeReplay()
      await isUsed(true)
    },
  }
}

export const named = (family: string) => ({ resourceType: 'Patient', name: [{ family }] })

/** The ids of what a Bundle holds, in its order. */
export const found = ({ body }: Answer): string[] =>
  ((body as { entry?: { resource: { id: string } }[] }).entry ?? []).map(({ resource }) => resource.id)
