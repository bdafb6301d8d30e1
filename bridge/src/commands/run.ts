// agent run: works until it is asked to stop.
import { startAgent } from '../agent.ts'
import { systemClock } from '../clock.ts'
import { readConfig } from '../config.ts'
import { readDataKey } from '../data-key.ts'
import { createLog } from '../log.ts'
import { version } from '../version.ts'
import type { AgentCommand } from './tool.ts'

export const runAgent: AgentCommand = {
  name: 'run',
  usage: '',
  summary: 'Take, keep and send, until SIGTERM or Ctrl+C',
  details: 'The log goes to standard output, one JSON object a line.',
  options: {},
  async run({ file }) {
    const config = readConfig(file)
    const log = createLog(config.log_level)
    log.info('starting', { version, agent: config.server.agent_id })
    const { promise: asked, resolve } = Promise.withResolvers<string>()
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal))
    const agent = await startAgent({ file, config, key: readDataKey(config.data_key_file), clock: systemClock, log })
    log.info('running')
    const signal = await asked
    log.info('stopping', { signal })
    await agent.stop()
    log.info('stopped')
    return { isGood: true, text: '', json: { stopped: signal } }
  },
}
