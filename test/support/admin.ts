// npm run admin and npm run load, on the database of a test: as a process of its own, or, where that proves nothing, within this one.
import { expect, inject } from 'vitest'
import { adminTool } from '../../src/commands/admin/tool.ts'
import { runTool } from '../../src/lib/command.ts'
import { layoutOfRun } from './database.ts'
import { run } from './process.ts'
import { testKey } from './server.ts'

interface Outcome {
  readonly code: number | null
  readonly output: string
}

type Command = (args: readonly string[], env?: Record<string, string>) => Promise<Outcome>

/** The command on the database of that name. */
export function adminOn(database: () => string) {
  const environment = (env: Record<string, string> = {}): Record<string, string> => {
    const { host, port, user } = inject('server')
    const url = `postgresql://${user}@localhost:${port}/${database()}?host=${encodeURIComponent(host)}`
    return { DATABASE_URL: url, DATABASE_LAYOUT: layoutOfRun(), ENCRYPTION_KEY: testKey, ...env }
  }
  const process =
    (file: string): Command =>
    async (args, env) => {
      const running = run(file, args, environment(env))
      return { code: await running.ended, output: running.output() }
    }
  const admin: Command = async (args, env) => {
    let output = ''
    const stream = { write: (text: string) => void (output += text) }
    const code = await runTool(adminTool(environment(env)), args, { stdout: stream, stderr: stream })
    return { code, output }
  }
  const loadProcess = process('src/commands/load.ts')
  /** npm run load, which must succeed. */
  const loaded = async (args: readonly string[]): Promise<void> => {
    const { code, output } = await loadProcess(args)
    expect(code, output).toBe(0)
  }
  /** What a command answers programs; it must succeed. */
  const told = async (args: readonly string[], env: Record<string, string> = {}) => {
    const { code, output } = await admin([...args, '--json'], env)
    expect(code, output).toBe(0)
    return JSON.parse(output)
  }
  return { admin, adminProcess: process('src/commands/admin.ts'), told, loadProcess, loaded }
}
