// The config of the server over that of the file: sources, targets and limits by name, all of it or, if one value is wrong, none.
import { checked, limitsOf, sourcesOf, targetsOf, type Values } from '../config-check.ts'
import type { Config } from '../config-shape.ts'
import { read, write } from '../state/meta.ts'
import type { State } from '../state/state.ts'
import { codeOf, type Line } from './line.ts'

type Changeable = Pick<Config, 'sources' | 'targets' | 'limits'>

/** @param folder that relative paths begin at; @param problems to which what is wrong is added. */
export function merged(config: Config, remote: unknown, folder: string, problems: string[]): Config {
  if (!config.remote_config || typeof remote !== 'object' || remote === null) return config
  const { sources = {}, targets = {}, limits = {} } = remote as Partial<Record<keyof Changeable, Values>>
  const part = (values: Values, name: string) => checked(values, `${name}.`, problems)
  const found = limitsOf(part({ ...config.limits, ...limits }, 'limits'))
  return {
    ...config,
    sources: { ...config.sources, ...sourcesOf(part(sources, 'sources'), folder) },
    targets: { ...config.targets, ...targetsOf(part(targets, 'targets'), folder) },
    limits: found,
  }
}

/** Fetches the server's config and keeps it; false if it is the known one. @throws Error with what is wrong with it. */
export async function fetchConfig(state: State, line: Line, config: Config, folder: string): Promise<boolean> {
  const known = read(state, 'config_version')
  const headers: Record<string, string> = known === undefined ? {} : { 'if-none-match': `"${known}"` }
  const reply = await line.call({ method: 'GET', path: 'config', headers })
  if (reply.status === 304) return false
  if (reply.status !== 200) throw new Error(`The config cannot be fetched (${codeOf(reply) ?? reply.status}).`)
  const { version, ...remote } = reply.body
  const problems: string[] = []
  merged(config, remote, folder, problems)
  if (problems.length > 0) throw new Error(`The config cannot be used: ${problems.join('; ')}.`)
  state.transaction(() => {
    write(state, 'server_config', remote)
    write(state, 'config_version', String(version))
  })
  return true
}
