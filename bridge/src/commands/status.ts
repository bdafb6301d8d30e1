// agent status: how the agent is, from the agent itself if it runs, else from its database.
import { get } from 'node:http'
import { systemClock } from '../clock.ts'
import type { Config } from '../config-shape.ts'
import { clockText, type Status, statusOf } from '../local/status.ts'
import { fullness, warningsOf } from '../state/fullness.ts'
import { tryLock } from '../state/lock.ts'
import { read } from '../state/meta.ts'
import { outdated } from '../state/outdated.ts'
import { refused } from '../state/refused.ts'
import type { State } from '../state/state.ts'
import { withState } from './open.ts'
import type { AgentCommand } from './tool.ts'

export const showStatus: AgentCommand = {
  name: 'status',
  usage: '',
  summary: 'Show queue, quarantine, last contact, clock and warnings',
  details: 'The exit code is 1 if the agent does not run, cannot reach the server, or has a warning.',
  options: {},
  run: ({ file }) =>
    withState(file, async (state, config) => {
      const isRunning = runs(config)
      const told = isRunning ? await asked(read(state, 'local_port') ?? config.local.port) : undefined
      const silence = isRunning ? 'the agent runs, but its status page does not answer' : null
      const status = told ?? { ...stored(state, config), trouble: silence }
      const isGood = isRunning && status.trouble === null && status.warnings.length === 0
      return { isGood, text: textOf(status, isRunning), json: { running: isRunning, ...status } }
    }),
}

function runs({ state_folder }: Config): boolean {
  const free = tryLock(state_folder)
  free?.release()
  return free === undefined
}

const stored = (state: State, config: Config): Status => {
  const full = warningsOf(fullness(state, config.limits, systemClock.now()))
  const warnings = [...refused(state), ...full, ...outdated(state)]
  return statusOf({ state, clock: systemClock, config, inputs: {}, warnings })
}

/** What the running agent says; undefined: its page does not answer. */
function asked(port: number): Promise<Status | undefined> {
  return new Promise(done => {
    const request = get({ host: '127.0.0.1', port, path: '/status.json', timeout: 3000 }, async response => {
      const parts: Buffer[] = []
      for await (const part of response) parts.push(part as Buffer)
      done(response.statusCode === 200 ? JSON.parse(Buffer.concat(parts).toString('utf8')) : undefined)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => done(undefined))
  })
}

function textOf(status: Status, isRunning: boolean): string {
  const { queue, warnings, inputs, held, update } = status
  const rows = [
    ['agent', `${status.agent_id}, version ${status.version}, ${isRunning ? 'running' : 'not running'}`],
    ['server', `${status.server}${status.trouble ? `: ${status.trouble}` : ''}`],
    ['last contact', status.last_contact ?? 'none yet'],
    [
      'queue',
      `${queue.pending} items, ${queue.bytes} bytes${queue.oldest_at ? `, the oldest of ${queue.oldest_at}` : ''}`,
    ],
    ['quarantine', `${status.quarantined} items`],
    ['clock', clockText(status)],
    ...held.map(({ source, seconds }) => [`source ${source}`, `tried again in ${seconds} seconds`]),
    ...Object.entries(inputs).map(([name, input]) => [`input ${name}`, Object.values(input).join(', ')]),
    ...warnings.map(each => ['warning', each]),
    ...(update ? [['update', `version ${update.version} is available ${update.url ?? ''}`.trimEnd()]] : []),
  ]
  return rows.map(([name, value]) => `${name!.padEnd(14)} ${value}\n`).join('')
}
