// Opens the agent's state beside a running agent, for the commands that look into it or put something back.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../config.ts'
import type { Config } from '../config-shape.ts'
import { readDataKey } from '../data-key.ts'
import { Problem } from '../problem.ts'
import { openState, type State } from '../state/state.ts'

/** Runs work on the state of a config file's agent. @throws Problem if there is no state yet. */
export async function withState<T>(file: string, work: (state: State, config: Config) => T | Promise<T>): Promise<T> {
  const config = readConfig(file)
  if (!existsSync(join(config.state_folder, 'agent.db')))
    throw new Problem(
      `There is no database in ${config.state_folder}: the agent has not run yet, or --config names another file.`,
    )
  const state = openState(config.state_folder, readDataKey(config.data_key_file))
  try {
    return await work(state, config)
  } finally {
    state.close()
  }
}
