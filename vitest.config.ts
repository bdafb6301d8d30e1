import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that wait for processes to start and to die: they begin first, so that they wait while others compute. */
const waiting = [
  'start/start',
  'start/crash',
  'load/crash',
  'api/fhir/bulk/restart',
  'store/embedded',
  'bridge/agent/crash',
]

class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const index = waiting.findIndex(name => moduleId.endsWith(`test/${name}.test.ts`))
      return index < 0 ? waiting.length : index
    }
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

// isolate: false loads each module once per worker instead of once per file: 50 files in 1.3 s, not 9 s.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/server.ts'],
    setupFiles: ['test/support/each-file.ts'],
    isolate: false,
    // One more than small machines have cores: who waits for a process to start or to die computes nothing.
    maxWorkers: 3,
    // What tests make is dropped soon: with more room for it the collector runs less often, and copies less.
    execArgv: ['--max-semi-space-size=64'],
    sequence: { sequencer: WaitingFirst },
    // Tests that start, kill and start the service again take half of it on a machine that is busy with other things.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
