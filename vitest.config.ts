import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that start the service as a process, and kill it: they begin first, so that they wait while others compute. */
const processes = [
  'start/start',
  'start/crash',
  'start/failover',
  'db/hanging',
  'db/standbys-failing',
  'load/crash',
  'api/fhir/bulk/restart',
  'store/embedded',
  'commands/admin/backup',
  'db/base-backup',
  'bridge/agent/crash',
]

/** What `npm test` leaves to `npm run test:all`. */
const inAllOnly = [
  ...processes,
  // The client libraries and the agent, which meet the service at its published interface.
  'clients/{typescript*,python,php,scripted-server}',
  'bridge/agent/*',
  // Pages in a real browser.
  'api/portal/{browser,workbench-browser}',
  // Commands, each run a process.
  'commands/{admin/*,map/commands}',
  // What one client's load costs the others.
  'http/fairness',
  'identity/{secrets,checker}',
  'api/fhir/{costly-resources,search-parameter-budget}',
  'webhooks/attacks/crowding',
  'mapping/transformer',
  // Races of processes, long jobs, and files that change while the service runs.
  'api/connect/race',
  'api/fhir/bulk/jobs',
  'audit/{pending,processes,anchor}',
  'mapping/live',
  'webhooks/attacks/ending',
  // Generated cases and published data.
  'access/consent-model',
  'api/fhir/search-model',
  'fml/{corpus,fuzz,run-fuzz}',
  'http/{bad-input,deep-bodies}',
  'store/validate/published-data',
]

/** What looks at plans, or at tables themselves, and is about whole tables. */
const ofWholeTables = ['store/plans*', 'store/buckets', 'load/vacuum']

// Files that are named run whole, as in `npm run test:all`.
if (process.argv.slice(2).some(each => each.startsWith('test/'))) process.env['TEST_ALL'] ??= '1'
const isAll = process.env['TEST_ALL'] === '1'

/** What looks at plans of other tables, as they are on one server. */
const ofOneServer = ['audit/plans', 'api/connect/plans']

const { TEST_PARTS, CITUS_URL } = process.env
const leftOut = [
  ...(isAll ? [] : inAllOnly),
  ...(TEST_PARTS || CITUS_URL ? ofWholeTables : []),
  ...(CITUS_URL ? ofOneServer : []),
]

class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const index = processes.findIndex(name => moduleId.endsWith(`test/${name}.test.ts`))
      return index < 0 ? processes.length : index
    }
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

// The workers load the same modules: each is stripped of its types and compiled once.
process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'health-interop-compiled')

// isolate: false loads each module once per worker instead of once per file: 50 files in 1.3 s, not 9 s.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: leftOut.map(each => `test/${each}.test.ts`),
    globalSetup: ['test/support/server.ts'],
    setupFiles: ['test/support/each-file.ts'],
    isolate: false,
    // One more than small machines have cores: who waits for a process to start or to die computes nothing.
    maxWorkers: 3,
    // What tests make is dropped soon: with more room for it the collector runs less often, and copies less. The workers keep
    // the cores busy: a collector with threads of its own only costs more.
    execArgv: ['--max-semi-space-size=64', '--single-threaded-gc'],
    // Node.js loads the modules itself, as it does in production: Vite's runner reads each import through an object, at each use.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: WaitingFirst },
    // Tests that start, kill and start the service again take half of it on a machine that is busy with other things.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
