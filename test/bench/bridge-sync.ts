// npm run bench -- bridge-sync: how many items of each type a second the service stores for Bridge agents, and what an item costs.
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { cpuOf } from './cpu.ts'
import { spawnService } from './service.ts'

export interface BridgeBench {
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  readonly dataDir: string
  readonly base: string
  readonly seconds: number
  readonly answering: () => Promise<void>
}

const facility = 'hopital-central-yaounde'
const agents = 4
/** Of people fewer, as the service demands. */
const perBatch = (kind: string): number => (kind.startsWith('patient') ? 100 : 500)
/** Medicines of one item. */
const perItem = 20
const amina = 'CM-TQYE-6SRK-YQ6S'

let made = 0
/** Items by what they are; each is new. */
const kinds: Readonly<Record<string, () => { type: string; payload: object }>> = {
  lab_result: () => ({
    type: 'lab_result',
    payload: { health_id: amina, test_name: 'Potassium', result_value: `${++made % 9}.1 mmol/L` },
  }),
  'fhir Observation': () => ({
    type: 'fhir',
    payload: {
      ...{ resourceType: 'Observation', status: 'final', code: { text: 'Weight' } },
      identifier: [{ system: 'urn:bench', value: randomUUID() }],
      ...{ subject: { reference: 'Patient/amina-bello' }, valueQuantity: { value: 60 + (++made % 40), unit: 'kg' } },
    },
  }),
  'patient (new)': () => ({
    type: 'patient',
    payload: {
      first_name: `A${word()}`,
      last_name: `B${word()}`,
      date_of_birth: `19${10 + (++made % 90)}-01-0${1 + (made % 9)}`,
    },
  }),
  stock_level: () => ({ type: 'stock_level', payload: stock() }),
  [`stock_level of ${perItem}`]: () => ({
    type: 'stock_level',
    payload: { items: Array.from({ length: perItem }, stock) },
  }),
}

const stock = () => ({
  ...{ facility_id: facility, medication_code: `M${++made}`, code_system: 'other', name: 'Paracetamol' },
  ...{ quantity_on_hand: made % 500, unit: 'tablet', updated_at: new Date().toISOString() },
})

const word = (): string =>
  randomUUID()
    .replaceAll(/[^a-f]/g, '')
    .slice(0, 8)

/** Prints a table: items a second and CPU by type. */
export async function benchBridgeSync({ root, env, dataDir, base, seconds, answering }: BridgeBench): Promise<void> {
  const service = spawnService(root, env)
  try {
    await answering()
    const all = Array.from({ length: agents }, () => created(root, env))
    const postmaster = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
    const cpu = (): number => cpuOf(service.pid!, postmaster) + cpuOf(postmaster)
    process.stdout.write(
      `load average ${loadavg()[0]!.toFixed(1)}, ${agents} agents, batches of 500 (100 of people), ${seconds} s each\n\n| item | items/s | CPU-ms an item | refused |\n|---|--:|--:|--:|\n`,
    )
    for (const [name, item] of Object.entries(kinds)) {
      await run(base, all, item, perBatch(name), 1)
      const before = cpu()
      const { stored, refused, took } = await run(base, all, item, perBatch(name), seconds)
      const each = ((cpu() - before) / (stored + refused)).toFixed(2)
      process.stdout.write(`| ${name} | ${Math.round(stored / took)} | ${each} | ${refused} |\n`)
    }
  } finally {
    service.kill('SIGTERM')
    await new Promise(done => service.once('exit', done))
  }
}

interface Agent {
  readonly id: string
  readonly key: string
  seq: number
}

function created(root: string, env: NodeJS.ProcessEnv): Agent {
  const args = ['src/commands/admin.ts', 'agent', 'create', '--name', 'bench', '--facility', facility, '--json']
  const { agent_id, agent_key } = JSON.parse(execFileSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' }))
  return { id: agent_id, key: agent_key, seq: 0 }
}

async function run(
  base: string,
  all: readonly Agent[],
  item: () => object,
  size: number,
  seconds: number,
): Promise<{ stored: number; refused: number; took: number }> {
  const start = performance.now()
  let [stored, refused] = [0, 0]
  await Promise.all(
    all.map(async agent => {
      while (performance.now() - start < seconds * 1000) {
        const items = Array.from({ length: size }, () => ({ seq: ++agent.seq, item_id: randomUUID(), ...item() }))
        const answer = await fetch(`${base}/api/v1/bridge/sync`, {
          method: 'POST',
          body: JSON.stringify({ batch_id: randomUUID(), agent_id: agent.id, facility_id: facility, items }),
          headers: {
            'content-type': 'application/json',
            'x-bridge-agent-id': agent.id,
            'x-bridge-agent-key': agent.key,
            'x-bridge-timestamp': String(Math.round(Date.now() / 1000)),
          },
        })
        if (answer.status !== 200) throw new Error(await answer.text())
        const { accepted, rejected } = (await answer.json()) as { accepted: number; rejected: unknown[] }
        stored += accepted
        refused += rejected.length
        if (rejected.length > 0) throw new Error(JSON.stringify(rejected[0]))
      }
    }),
  )
  return { stored, refused, took: (performance.now() - start) / 1000 }
}
