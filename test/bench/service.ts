// The service under measurement, started as `npm start` does.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Starts the service of a work tree, with the flags for Node of its own script. It ends after SIGTERM.
 * @param output absent: standard output goes nowhere
 */
export function spawnService(root: string, env: NodeJS.ProcessEnv, output: 'pipe' | 'ignore' = 'ignore'): ChildProcess {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const flags = scripts.start.split('node ')[1].split(' ')
  return spawn(process.execPath, flags, { cwd: root, env, stdio: ['ignore', output, 'inherit'] })
}
