// Reads and writes the one config file, and names everything in it that is wrong.
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { checked, limitsOf, sourcesOf, targetsOf, type Values } from './config-check.ts'
import type { Config } from './config-shape.ts'
import { levels } from './log.ts'
import { Problem } from './problem.ts'

/** Reads a config file. @throws Problem naming every value that is wrong. */
export function readConfig(file: string): Config {
  const problems: string[] = []
  const config = configOf(parsed(file), dirname(resolve(file)), problems)
  if (problems.length > 0) throw new Problem(`${file} cannot be used:\n${problems.map(each => `  ${each}`).join('\n')}`)
  return config
}

/** What a config file holds, unchecked. @throws Problem */
export function parsed(file: string): Values {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT')
      throw new Problem(`There is no ${file}: write it with \`agent enrol\`, or name it with --config.`)
    throw new Problem(`${file} cannot be read (${code}).`)
  }
  try {
    return JSON.parse(text)
  } catch {
    throw new Problem(`${file} is not JSON.`)
  }
}

/** @param folder that relative paths begin at; @param problems to which what is wrong is added. */
export function configOf(values: Values, folder: string, problems: string[]): Config {
  const top = checked(values, '', problems)
  const server = top.part('server')
  const local = top.part('local')
  const config: Config = {
    server: {
      url: server.address('url'),
      agent_id: server.text('agent_id', ''),
      agent_key: server.match('agent_key', /^bak_[A-Za-z0-9_-]{43}$/, 'bak_ and 43 characters'),
      ...(server.has('facility_id') && {
        facility_id: server.match(
          'facility_id',
          /^[A-Za-z0-9.-]{1,64}$/,
          'the id of the facility, 1 to 64 letters, digits, hyphens and dots, and not its name',
        ),
      }),
      ...server.optionalPath('ca_file', folder),
    },
    state_folder: resolve(folder, top.text('state_folder', 'state')),
    data_key_file: resolve(folder, top.text('data_key_file', 'data.key')),
    local: {
      port: local.whole('port', 0, 65_535, 8575),
      token: local.match('token', /^.{16,}$/, '16 characters or more'),
    },
    remote_config: top.flag('remote_config', true),
    log_level: top.oneOf('log_level', levels, 'info'),
    limits: limitsOf(top.part('limits')),
    sources: sourcesOf(top.part('sources'), folder),
    targets: targetsOf(top.part('targets'), folder),
  }
  for (const part of [server, local, top]) part.end()
  if (config.server.agent_id === '') problems.push('server.agent_id is missing')
  return config
}

/** Writes a config file, readable by its owner only; the old one stands until the new one is on disk. */
export function writeConfig(file: string, values: unknown): void {
  const draft = `${file}.new`
  const handle = openSync(draft, 'w', 0o600)
  writeSync(handle, `${JSON.stringify(values, null, 2)}\n`)
  fsyncSync(handle)
  closeSync(handle)
  chmodSync(draft, 0o600)
  renameSync(draft, file)
}
