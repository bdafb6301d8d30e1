// npm run admin and npm run load, on the database of a test as a process of its own.
import { expect, inject } from 'vitest'
import { run } from './process.ts'
import { testKey } from './server.ts'

export interface Outcome {
  readonly code: number | null
  readonly output: string
}

/** The command on the database of that name. */
export function adminOn(database: () => string) {
  const command =
    (file: string) =>
    async (args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> => {
      const { host, port, user } = inject('server')
      const url = `postgresql://${user}@localhost:${port}/${database()}?host=${encodeURIComponent(host)}`
      const running = run(file, args, { DATABASE_URL: url, ENCRYPTION_KEY: testKey, ...env })
      return { code: await running.ended, output: running.output() }
    }
  const admin = command('src/admin.ts')
  /** npm run load, which must succeed. */
  const loaded = async (args: readonly string[]): Promise<void> => {
    const { code, output } = await command('src/load.ts')(args)
    expect(code, output).toBe(0)
  }
  /** What a command answers programs; it must succeed. */
  const told = async (args: readonly string[], env: Record<string, string> = {}) => {
    const { code, output } = await admin([...args, '--json'], env)
    expect(code, output).toBe(0)
    return JSON.parse(output)
  }
  return { admin, told, loaded }
}
