// The tests of the Python library (clients/python/tests), run by Python against the scripted server, each as one test here.
// They need Python 3.9; those of AsyncServiceClient, the types and the samples also what clients/python/requirements-dev.txt
// names, in clients/python/.venv (.ci/run makes it). What is absent is told as skipped; in CI Python must be there.
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { demoClient } from '../../src/identity/demo-accounts.ts'
import { findPython, pythonLibrary } from './support/python.ts'
import { startScriptedServer } from './support/scripted-server.ts'
import { startStory, told } from './support/story.ts'

const run = promisify(execFile)

interface Entry {
  readonly file: string
  readonly name: string
  readonly status: 'passed' | 'failed' | 'skipped'
  readonly message: string
}

/** Runs all tests; the reports of those that ran, and what Python printed. */
async function runTests(python: string): Promise<{ entries: readonly Entry[]; output: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'python-tests-'))
  const report = join(folder, 'report.jsonl')
  const server = await startScriptedServer()
  const env = { ...process.env, PYTHONPATH: 'src', SCRIPTED_SERVER: server.url, TEST_REPORT: report }
  try {
    const output = await run(python, ['-m', 'tests'], {
      cwd: pythonLibrary,
      env,
      timeout: 120_000,
      maxBuffer: 1e8,
    }).then(
      ({ stderr }) => stderr,
      (error: Error & { stderr?: string }) => error.stderr ?? error.message,
    )
    const lines = existsSync(report) ? readFileSync(report, 'utf8').split('\n').filter(Boolean) : []
    return { entries: lines.map(line => JSON.parse(line) as Entry), output }
  } finally {
    await server.close()
    rmSync(folder, { recursive: true })
  }
}

const python = await findPython()

describe.skipIf(python === undefined && !process.env['CI'])('the Python library', async () => {
  const { entries, output } = python ? await runTests(python) : { entries: [], output: 'There is no Python 3.9 here.' }

  test('its test run reports every test', () => {
    expect(entries.length, output).toBeGreaterThan(400)
  })

  for (const { file, name, status, message } of entries)
    test.skipIf(status === 'skipped')(`${file}: ${name}${status === 'skipped' ? ` (${message})` : ''}`, () => {
      expect(status, message).toBe('passed')
    })

  test('every piece of Python in its README runs against the service', async () => {
    const { service } = await startStory()
    const { id, secret } = demoClient
    const own = {
      HEALTH_INTEROP_BASE_URL: service.url,
      HEALTH_INTEROP_CLIENT_ID: id,
      HEALTH_INTEROP_CLIENT_SECRET: secret,
    }
    const env = { ...process.env, ...own, PYTHONPATH: 'src' }
    const { stdout } = await run(python!, ['-m', 'tests.readme'], { cwd: pythonLibrary, env, timeout: 60_000 })
    expect(stdout).toMatch(/\d+ pieces ran/)
  })

  const clients = [['blocking', []] as const, ['asynchronous', ['async']] as const]
  test.for(clients)('the %s client tells the story against the service', async ([kind, args], { skip }) => {
    const hasHttpx = await run(python!, ['-c', 'import httpx']).then(
      () => true,
      () => false,
    )
    skip(kind === 'asynchronous' && !hasHttpx, 'httpx is not installed')
    const { story } = await startStory()
    const env = { ...process.env, PYTHONPATH: 'src', STORY: JSON.stringify(story) }
    const { stdout } = await run(python!, ['-m', 'tests.story', ...args], { cwd: pythonLibrary, env, timeout: 60_000 })
    expect(JSON.parse(stdout)).toEqual(told)
  })
})
