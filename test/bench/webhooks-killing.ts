// Ends processes of the service as a crash does, from what /proc says of whose child is whose (Linux).
import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { isAlive, until } from '../support/process.ts'

/** The processes that a process has started. */
function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => parentOf(pid) === parent)
}

function parentOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    // It has ended meanwhile.
    return undefined
  }
}

/** The workers of a service: those of its children that are Node with the same program. */
export function workersOf(service: number): number[] {
  return childrenOf(service).filter(pid => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('src/main.ts'))
}

/** Ends the service, its workers and its database server with all its processes, none of which can do anything about it. */
export async function endAtOnce(service: ChildProcess, postmaster: number): Promise<void> {
  const all = [service.pid!, ...workersOf(service.pid!), postmaster, ...childrenOf(postmaster)]
  for (const pid of all) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  await until('they are gone', () => !all.slice(1).some(isAlive))
}
