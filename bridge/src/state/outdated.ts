// Whether the server asks for a newer version of the agent. An agent that is too old goes on taking, keeping and sending, and says so; what it
// sends stops only where the server refuses it.
import { version } from '../version.ts'
import { read } from './meta.ts'
import type { State } from './state.ts'

/** Returns a warning, or none. */
export function outdated(state: State): string[] {
  const least = read(state, 'min_agent_version')
  if (least === undefined || !isOlder(version, least)) return []
  return [`this version is too old: it is ${version}, the server asks for ${least} or newer; update the agent`]
}

/** Compares the numbers of two versions; what is no version is not newer. */
export function isOlder(one: string, other: string): boolean {
  const [own, least] = [one, other].map(each => /^(\d+)\.(\d+)\.(\d+)/.exec(each)?.slice(1).map(Number))
  if (!own || !least) return false
  const at = own.findIndex((number, index) => number !== least[index])
  return at >= 0 && own[at]! < least[at]!
}
