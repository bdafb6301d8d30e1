// Set up for every test file of a mutation run: wakes the mutant, counts which test meets which mutant, and ends with the first failure.
import { appendFileSync } from 'node:fs'
import { afterAll, afterEach, beforeEach, expect, inject, vi } from 'vitest'

export interface Waking {
  /** Empty: none. */
  readonly mutant: string
  /** Milliseconds that a test may take. */
  readonly patience: number
  /** Where to note what is met, if it is. */
  readonly coverage?: string
  /** What is loaded before the first file, so that what is only met while modules load is told from the rest. */
  readonly modules: readonly string[]
}

declare module 'vitest' {
  interface ProvidedContext {
    waking: Waking
  }
}

interface Stryker {
  activeMutant?: string
  currentTestId?: string | undefined
  mutantCoverage?: { static: Record<string, number>; perTest: Record<string, Record<string, number>> }
}

const stryker = ((globalThis as { __stryker__?: Stryker }).__stryker__ ??= {})
const { mutant, patience, coverage, modules } = inject('waking')
vi.setConfig({ testTimeout: patience, hookTimeout: patience })
// What tests start as processes of their own reads the environment.
process.env['__STRYKER_ACTIVE_MUTANT__'] = stryker.activeMutant = mutant

if (!stryker.mutantCoverage) {
  stryker.mutantCoverage = { static: {}, perTest: {} }
  stryker.currentTestId = undefined
  if (coverage) for (const module of modules) await import(/* @vite-ignore */ module)
}

// What is met outside of tests (hooks, what a file begins with) is met by all of its tests.
const file = expect.getState().testPath!
stryker.currentTestId = file
let hasFailed = false

beforeEach(context => {
  if (hasFailed && !coverage) context.skip()
  context.onTestFailed(() => {
    hasFailed = true
  })
  stryker.currentTestId = context.task.id
})
afterEach(() => {
  stryker.currentTestId = file
})
afterAll(() => {
  const { static: loaded, perTest } = stryker.mutantCoverage!
  stryker.mutantCoverage!.perTest = {}
  if (!coverage) return
  const met = Object.entries(perTest).map(([test, mutants]) => [test, Object.keys(mutants)])
  appendFileSync(coverage, `${JSON.stringify({ file, loaded: Object.keys(loaded), met: Object.fromEntries(met) })}\n`)
})
