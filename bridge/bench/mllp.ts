// Measures an agent as a process: start, memory when idle, messages a second to a durable AA, CPU time and bytes written for each.
// `node bridge/bench/mllp.ts [--folder FOLDER] [--connections 16] [--messages 20000] [--window 1] [--program FILE] [--url URL]`
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: tmpdir() },
    connections: { type: 'string', default: '16' },
    messages: { type: 'string', default: '20000' },
    window: { type: 'string', default: '1' },
    // Nothing listens there: the way up is measured elsewhere.
    url: { type: 'string', default: 'http://127.0.0.1:9' },
    program: { type: 'string', default: join(import.meta.dirname, '../dist/agent.cjs') },
  },
})
const [connections, messages, window] = [values.connections, values.messages, values.window].map(Number) as [
  number,
  number,
  number,
]
const folder = mkdtempSync(join(values.folder, 'agent-bench-'))

/** An observation as laboratories send them, of about 1.1 KB. */
const message = (id: string): string =>
  [
    `MSH|^~\\&|LIS|LAB|AGENT|CLINIC|20260301080000||ORU^R01^ORU_R01|${id}|P|2.5`,
    'PID|1||4711^^^LAB^MR||Abena^Jeanne||19920417|F|||12 Rue de la Joie^^Douala^^^CM',
    'PV1|1|O|LAB^1^1',
    `ORC|RE|${id}-P|${id}-F`,
    `OBR|1|${id}-P|${id}-F|24323-8^Comprehensive metabolic panel^LN|||20260301073000`,
    ...Array.from(
      { length: 8 },
      (_, index) =>
        `OBX|${index + 1}|NM|${2823 + index}-3^Analyte number ${index}^LN||${index}.${index}|mmol/L|1-9|N|||F|||20260301075500`,
    ),
    '',
  ].join('\r')

function startAgent(): ChildProcess {
  const config = {
    server: { url: values.url, agent_id: 'bench', agent_key: `bak_${'k'.repeat(43)}` },
    local: { port: 0, token: 'token-of-the-bench' },
    sources: { lab: { kind: 'mllp', port: 0 } },
    limits: { min_free_bytes: 0, max_items: 100_000_000, max_bytes: 2 ** 40 },
  }
  writeFileSync(join(folder, 'agent.json'), JSON.stringify(config), { mode: 0o600 })
  writeFileSync(join(folder, 'data.key'), Buffer.alloc(32, 'bench').toString('base64'), { mode: 0o600 })
  const args = ['run', '--config', join(folder, 'agent.json')]
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  return /\.[cm]?[jt]s$/.test(values.program)
    ? spawn(process.execPath, [values.program, ...args], { stdio: [...stdio] })
    : spawn(values.program, args, { stdio: [...stdio] })
}

/** Waits for the agent and returns the port of its source. */
function running(child: ChildProcess): Promise<number> {
  let text = ''
  return new Promise((done, fail) => {
    child.once('exit', () => fail(new Error(text)))
    child.stdout!.on('data', chunk => {
      text += chunk
      const [, port] = /"listening for HL7 v2".*?"port":(\d+)/.exec(text) ?? []
      if (port && text.includes('"running"')) done(Number(port))
    })
  })
}

/** One sender: `window` messages are under way at a time. */
function send(port: number, prefix: string, count: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true)
  let [sent, answered] = [0, 0]
  const next = (): void => void socket.write(`\x0b${message(`${prefix}-${sent++}`)}\x1c\r`)
  return new Promise(done => {
    socket.on('connect', () => {
      for (let index = 0; index < Math.min(window, count); index++) next()
    })
    socket.on('data', chunk => {
      for (const byte of chunk) {
        if (byte !== 0x1c) continue
        answered++
        if (sent < count) next()
      }
      if (answered < count) return
      socket.destroy()
      done()
    })
  })
}

const memory = (pid: number): string =>
  readFileSync(`/proc/${pid}/status`, 'utf8')
    .split('\n')
    .filter(line => /^(?:VmRSS|RssAnon|VmHWM)/.test(line))
    .map(line => line.replaceAll(/\s+/g, ' '))
    .join(', ')

/** Seconds of CPU, and bytes handed to the disk, of a process so far. */
function spent(pid: number): { readonly cpu: number; readonly bytes: number } {
  // The name of the program, in brackets, may hold spaces.
  const [, , , , , , , , , , , user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  const [, bytes] = /^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))!
  return { cpu: (Number(user) + Number(system)) / 100, bytes: Number(bytes) }
}

const begun = performance.now()
const child = startAgent()
const port = await running(child)
console.log(`start to running: ${Math.round(performance.now() - begun)} ms`)
await wait(5000)
console.log(`idle: ${memory(child.pid!)}`)
const before = spent(child.pid!)
const from = performance.now()
await Promise.all(Array.from({ length: connections }, (_, index) => send(port, `B${index}`, messages / connections)))
const seconds = (performance.now() - from) / 1000
console.log(
  `${connections} connections, ${window} under way on each: ${Math.round(messages / seconds)} messages a second to a durable AA`,
)
const after = spent(child.pid!)
const [cpu, bytes] = [((after.cpu - before.cpu) / messages) * 1e6, (after.bytes - before.bytes) / messages]
console.log(`a message: ${Math.round(cpu)} µs of CPU, ${Math.round(bytes)} bytes written`)
console.log(`after: ${memory(child.pid!)}`)
child.kill('SIGTERM')
await new Promise(done => child.once('exit', done))
const kept = readdirSync(join(folder, 'state')).reduce(
  (sum, name) => sum + statSync(join(folder, 'state', name)).size,
  0,
)
console.log(`on disk: ${Math.round(kept / messages)} bytes a message of ${message('B0-0').length}`)
rmSync(folder, { recursive: true, force: true })
