// CPU time of process trees, from /proc (Linux). Wall rates on a shared machine mislead; CPU per request does not.
import { readdirSync, readFileSync } from 'node:fs'

/** /proc counts in ticks of 10 ms. */
const tick = 10

interface Stat {
  readonly pid: number
  readonly parent: number
  readonly own: number
  /** Of children that ended and were waited for. */
  readonly ended: number
}

function stats(): Map<number, Stat> {
  const found = new Map<number, Stat>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8')
      const fields = text
        .slice(text.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number)
      const pid = Number(name)
      found.set(pid, { pid, parent: fields[1]!, own: fields[11]! + fields[12]!, ended: fields[13]! + fields[14]! })
    } catch {
      // The process ended between listing and reading.
    }
  }
  return found
}

/**
 * Milliseconds of CPU that the process and all below it have used, ended ones included.
 * @param except a process below it that is counted apart: the service starts the database server itself
 */
export function cpuOf(root: number, except?: number): number {
  const all = [...stats().values()]
  const sum = (stat: Stat): number =>
    stat.own +
    stat.ended +
    all
      .filter(child => child.parent === stat.pid && child.pid !== except)
      .reduce((total, child) => total + sum(child), 0)
  const top = all.find(stat => stat.pid === root)
  return top ? sum(top) * tick : 0
}

/** The process and all below it that run. @param except as in `cpuOf` */
export function processesOf(root: number, except?: number): number[] {
  const all = [...stats().values()]
  const below = (pid: number): number[] => [
    pid,
    ...all.filter(each => each.parent === pid && each.pid !== except).flatMap(each => below(each.pid)),
  ]
  return below(root)
}
