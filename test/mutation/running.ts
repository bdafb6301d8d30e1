// Vitest within a copy of the tree, whose one worker stays: a run costs what its tests cost, not the start of a process.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { createVitest, ForksPoolWorker, type PoolOptions, type PoolWorker } from 'vitest/node'
import type {} from '../support/server.ts'
import type { Waking } from './each-file.ts'

/** Milliseconds that a test may take where nobody knows better, and that what goes on after the last one may take beside. */
const [ample, ending] = [20_000, 5000]

/** Runs after which the databases of their test files go: a run of mutants leaves thousands, and they are in memory. */
const mostDatabases = 20

export interface Ran {
  /** In order. */
  readonly tests: readonly { readonly id: string; readonly ms: number }[]
  readonly ms: number
  /** The first; `id` is empty if it was in no test. */
  readonly failure?: { readonly id: string; readonly test: string; readonly message: string }
  /** True if it did not end, so that the next run begins in a new process. */
  readonly isLate?: boolean
}

/** What a file met: mutants by test, those of its hooks under its own path, and those that were met while modules loaded. */
interface Met {
  readonly file: string
  readonly loaded: readonly string[]
  readonly met: Readonly<Record<string, readonly string[]>>
}

export interface Running {
  /** @param within milliseconds that each test may take, and all of them hardly more. */
  run(file: string, mutant: string, within: number, tests?: readonly string[]): Promise<Ran>
  meet(file: string): Promise<Ran & { readonly met?: Met }>
  /** The next run begins in a new process. */
  renew(): Promise<void>
  close(): Promise<void>
}

/** A worker that neither ends nor starts anew between runs. */
function lasting(): { make: (options: PoolOptions) => PoolWorker; end: () => Promise<void> } {
  let kept: ForksPoolWorker | undefined
  let hasStarted = false
  const end = async (): Promise<void> => {
    const worker = kept
    kept = undefined
    hasStarted = false
    await worker?.stop()
  }
  const make = (options: PoolOptions): PoolWorker => {
    const listeners = new Map<string, Set<(message: unknown) => void>>()
    const answer = (type: string): void =>
      queueMicrotask(() => {
        for (const tell of listeners.get('message') ?? []) tell({ type, __vitest_worker_response__: true })
      })
    return {
      name: 'lasting',
      cacheFs: true,
      deserialize: data => data,
      on(event, callback) {
        if (!listeners.has(event)) listeners.set(event, new Set())
        listeners.get(event)!.add(callback)
        kept?.on(event, callback)
      },
      off(event, callback) {
        listeners.get(event)?.delete(callback)
        kept?.off(event, callback)
      },
      send(message) {
        if (message.type === 'stop') {
          answer('stopped')
          return
        }
        if (message.type === 'start' && hasStarted) return answer('started')
        if (message.type === 'start') hasStarted = true
        kept?.send(message)
      },
      async start() {
        if (kept) return
        const made = new ForksPoolWorker(options)
        kept = made
        await made.start()
        // To wait for the end of what a signal has ended already would be to wait for ever.
        made.on('exit', () => {
          if (kept !== made) return
          kept = undefined
          hasStarted = false
        })
      },
      async stop() {
        for (const [event, callbacks] of listeners) for (const each of callbacks) kept?.off(event, each)
      },
    }
  }
  return { make, end }
}

export async function startRunning(folder: string, modules: readonly string[]): Promise<Running> {
  const worker = lasting()
  const vitest = await createVitest('test', {
    root: folder,
    watch: false,
    reporters: [{}],
    cache: false,
    maxWorkers: 1,
    isolate: false,
    setupFiles: ['test/mutation/each-file.ts', 'test/support/each-file.ts'],
    // The modules of one worker are loaded anew for each run.
    experimental: { viteModuleRunner: true },
    pool: { name: 'lasting', createPoolWorker: worker.make },
  })
  const project = vitest.getRootProject()
  const coverage = join(folder, 'coverage.jsonl')

  let runs = 0

  async function dropDatabases(): Promise<void> {
    const { host, port, user } = project.getProvidedContext().server
    const client = new pg.Client({ host, port, user, database: 'postgres' })
    await client.connect()
    const { rows } = await client.query<{ name: string }>(
      "select datname as name from pg_database where datname like 'test\\_%'",
    )
    for (const { name } of rows) await client.query(`drop database ${client.escapeIdentifier(name)} with (force)`)
    await client.end()
  }

  async function once(
    file: string,
    waking: Omit<Waking, 'patience'>,
    within: number,
    tests?: readonly string[],
  ): Promise<Ran> {
    project.provide('waking', { ...waking, patience: Math.min(within, ample) })
    const moduleId = join(folder, file)
    const begun = performance.now()
    let isLate = false
    const clock = setTimeout(() => {
      isLate = true
      void worker.end()
    }, within + ending)
    const specification = project.createSpecification(moduleId, tests ? { testIds: [...tests] } : undefined)
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications([specification])
    clearTimeout(clock)
    const ms = Math.round(performance.now() - begun)
    if (++runs % mostDatabases === 0) await dropDatabases()
    if (isLate) return { tests: [], ms, isLate, failure: { id: '', test: '', message: `no end in ${ms} ms` } }
    const module = testModules.find(each => each.moduleId === moduleId)
    const cases = [...(module?.children.allTests() ?? [])]
    const timed = cases.map(each => ({ id: each.id, ms: each.diagnostic()?.duration ?? 0 }))
    const failed = cases.find(each => each.result().state === 'failed')
    const suites = [...(module?.children.allSuites() ?? [])].flatMap(suite => suite.errors())
    const error = failed?.result().errors?.[0] ?? module?.errors()[0] ?? suites[0] ?? unhandledErrors[0]
    if (!error && module) return { tests: timed, ms }
    const message = String((error as Error | undefined)?.message ?? error ?? 'did not run').split('\n')[0]!
    return {
      tests: timed,
      ms,
      failure: { id: failed?.id ?? '', test: failed?.fullName ?? '', message: message.slice(0, 200) },
    }
  }

  return {
    run: (file, mutant, within, tests) => once(file, { mutant, modules: [] }, within, tests),
    async meet(file) {
      rmSync(coverage, { force: true })
      const ran = await once(file, { mutant: '', coverage, modules: modules.map(each => join(folder, each)) }, 180_000)
      // Nothing is noted where all tests are skipped.
      if (ran.failure || !existsSync(coverage)) return ran
      const met = JSON.parse(readFileSync(coverage, 'utf8').trim().split('\n').at(-1)!) as Met
      return { ...ran, met }
    },
    renew: worker.end,
    async close() {
      await worker.end()
      await vitest.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
