// The config in force: the server's over the file's, by name; all of the server's or, if one value of it is wrong, none.
import { checked, limitsOf, sourcesOf, targetsOf, type Values } from '../config-check.ts'
import type { Config } from '../config-shape.ts'
import { read, write } from '../state/meta.ts'
import type { State } from '../state/state.ts'
import { codeOf, type Line } from './line.ts'

export interface Settings {
  current(): Config
  /** Called with a config that differs from the one before. @throws Error what of it cannot be done */
  onChange(listener: (config: Config) => Promise<void>): void
  /** Fetches the server's config and puts it into force. @throws Error with what is wrong with it */
  fetch(): Promise<void>
}

interface Parts {
  readonly state: State
  readonly line: Line
  /** The config of the file. */
  readonly written: Config
  /** Where relative paths begin. */
  readonly folder: string
}

export function createSettings(parts: Parts): Settings {
  const { state, written, folder } = parts
  let config = inForce(state, written, folder)
  let changed: (config: Config) => Promise<void> = async () => {}
  // A heartbeat and a command may both tell of a new config: one is put into force after the other.
  let last: Promise<unknown> = Promise.resolve()
  const fetch = async (): Promise<void> => {
    if (!written.remote_config || !(await isNew(parts))) return
    config = inForce(state, written, folder)
    await changed(config)
  }
  return {
    current: () => config,
    onChange: listener => void (changed = listener),
    fetch() {
      const result = last.then(fetch)
      last = result.catch(() => {})
      return result
    },
  }
}

/** What the server said last, unless this version of the agent cannot read it. */
function inForce(state: State, written: Config, folder: string): Config {
  const problems: string[] = []
  const config = merged(written, read(state, 'server_config'), folder, problems)
  return problems.length > 0 ? written : config
}

type Changeable = Pick<Config, 'sources' | 'targets' | 'limits'>

/** @param problems to which what is wrong is added */
function merged(config: Config, remote: unknown, folder: string, problems: string[]): Config {
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

/** Asks for the server's config and keeps it; false if it is the known one. @throws Error with what is wrong with it */
async function isNew({ state, line, written, folder }: Parts): Promise<boolean> {
  const known = read(state, 'config_version')
  const headers: Record<string, string> = known === undefined ? {} : { 'if-none-match': `"${known}"` }
  const reply = await line.call({ method: 'GET', path: 'config', headers })
  if (reply.status === 304) return false
  if (reply.status !== 200) throw new Error(`The config cannot be fetched (${codeOf(reply) ?? reply.status}).`)
  const { version, ...remote } = reply.body
  const problems: string[] = []
  merged(written, remote, folder, problems)
  if (problems.length > 0) throw new Error(`The config cannot be used: ${problems.join('; ')}.`)
  state.transaction(() => {
    write(state, 'server_config', remote)
    write(state, 'config_version', String(version))
  })
  return true
}
