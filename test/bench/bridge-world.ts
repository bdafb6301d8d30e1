// npm run bench -- bridge: a seeded world of Bridge agents whose network, power, clocks, disks and answers fail, on a virtual clock, against
// the real service, which is killed on the way. At the end every acknowledged message must be stored exactly once.
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../bridge/src/clock.ts'
import { createIntake, type Intake, type Outcome } from '../../bridge/src/intake.ts'
import { createLog } from '../../bridge/src/log.ts'
import { createHeartbeat } from '../../bridge/src/server/heartbeat.ts'
import { createKeys } from '../../bridge/src/server/keys.ts'
import { createLine } from '../../bridge/src/server/line.ts'
import { createUpload } from '../../bridge/src/server/upload.ts'
import { fingerprintOf, tally } from '../../bridge/src/state/items.ts'
import type { State } from '../../bridge/src/state/state.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { createAgent } from '../../src/identity/agents.ts'
import { createClient } from '../../src/identity/clients.ts'
import { chances, type Faults, faultyNetwork, noFaults, openFaultyState, setFull } from './bridge-faults.ts'
import { spawnService } from './service.ts'

export interface WorldBench {
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  readonly dataDir: string
  readonly base: string
  readonly agents: number
  readonly days: number
  readonly seed: number
  readonly answering: () => Promise<void>
}

const facility = 'hopital-central-yaounde'
const minute = 60_000
const messagesADay = 12
const key = Buffer.alloc(32, 7)
const log = createLog('silent')

/** A seeded sequence of numbers from 0 to 1 (mulberry32). */
function chanceOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** One agent: what runs, which loss of power ends, and what its senders know. */
interface Clinic {
  readonly folder: string
  readonly id: string
  readonly key: string
  /** Milliseconds by which its clock is wrong. */
  readonly skew: number
  running: Running
  /** The network is cut until then. */
  cutUntil: number
  /** Its disk is full until then; 0: it is not. */
  fullUntil: number
  nextMessage: number
  nextUpload: number
  nextHeartbeat: number
  /** Messages that their senders have not seen acknowledged. */
  readonly unheard: string[]
}

interface Running {
  readonly state: State
  readonly intake: Intake
  readonly upload: { step(): Promise<number> }
  readonly heartbeat: { step(): Promise<number> }
}

interface World {
  readonly options: WorldBench
  readonly random: () => number
  now: number
  service: ChildProcess
  readonly clinics: Clinic[]
  /** Control ids by whether the message can be stored. */
  readonly acknowledged: Map<string, boolean>
  readonly faults: Faults
}

export async function benchBridgeWorld(options: WorldBench): Promise<void> {
  const world: World = {
    ...{ options, random: chanceOf(options.seed), now: Date.parse('2026-11-02T00:00:00Z') },
    ...{ service: await started(options), clinics: [], acknowledged: new Map() },
    faults: noFaults(),
  }
  const from = performance.now()
  try {
    await populate(world)
    const minutes = options.days * 1440
    const kills = new Set([Math.round(minutes * 0.3), Math.round(minutes * 0.7)])
    for (let each = 0; each < minutes; each++) {
      world.now += minute
      if (kills.has(each)) await killService(world)
      await Promise.all(world.clinics.map(clinic => live(world, clinic)))
    }
    await drained(world)
    await judge(world, (performance.now() - from) / 1000)
  } finally {
    for (const { running, folder } of world.clinics) {
      running.state.close()
      rmSync(folder, { recursive: true, force: true })
    }
    world.service.kill('SIGTERM')
    await new Promise(done => world.service.once('exit', done))
  }
}

async function started({ root, env, answering }: WorldBench): Promise<ChildProcess> {
  const service = spawnService(root, env)
  await answering()
  return service
}

async function killService(world: World): Promise<void> {
  world.service.kill('SIGKILL')
  await new Promise(done => world.service.once('exit', done))
  world.faults.kills++
  // Agents meet the dead service first.
  await Promise.all(world.clinics.map(clinic => live(world, clinic)))
  world.service = await started(world.options)
}

const opened = ({ dataDir }: WorldBench): Database =>
  openDatabase(
    { host: join(dataDir, 'socket'), port: 5432, user: 'postgres', database: 'health_interop' },
    { poolSize: 1, statementTimeout: 0 },
  )

async function populate(world: World): Promise<void> {
  const { agents } = world.options
  const database = opened(world.options)
  for (let index = 0; index < agents; index++) {
    const made = await createAgent(database, {
      ...{ name: `clinic ${index}`, facilityId: facility, organizationId: facility },
    })
    const folder = mkdtempSync(join(tmpdir(), 'bridge-world-'))
    const skew = world.random() < 0.2 ? Math.round((world.random() - 0.5) * 7_200_000) : 0
    const clinic = {
      folder,
      id: made.agent.id,
      key: made.key,
      skew,
      cutUntil: 0,
      fullUntil: 0,
      unheard: [] as string[],
    }
    const running = powered(world, clinic)
    world.clinics.push({ ...clinic, running, nextMessage: world.now, nextUpload: 0, nextHeartbeat: 0 })
  }
  await database.end()
}

type Wired = Pick<Clinic, 'folder' | 'id' | 'key' | 'skew' | 'cutUntil'>

/** Starts the agent's program on what its disk holds. */
function powered(world: World, clinic: Wired): Running {
  const clock: Clock = { now: () => world.now + clinic.skew, wait: async () => {}, random: world.random }
  const state = openFaultyState(clinic.folder, key, world)
  const current = (): Wired => world.clinics.find(({ id }) => id === clinic.id) ?? clinic
  // The service lives in real time, the agents in that of the world.
  const shift = (): number => Date.now() - world.now
  const transport = faultyNetwork(world.options.base, world, () => world.now < current().cutUntil, shift)
  const line = createLine({ state, transport, keys: createKeys(state, clinic.key), agentId: clinic.id, clock, log })
  const sender = { agentId: clinic.id, facilityId: facility }
  const nothing = (): void => {}
  const limits = {
    max_bytes: 2 ** 30,
    max_items: 1_000_000,
    max_age_days: 60,
    min_free_bytes: 0,
    max_message_bytes: 1e6,
    remember_days: 30,
  }
  return {
    state,
    intake: createIntake({ state, clock, log, limits: () => limits, onStored: nothing }),
    upload: createUpload({ state, line, sender, clock, log }),
    heartbeat: createHeartbeat({
      state,
      line,
      sender,
      clock,
      log,

      warnings: () => [],
      onConfig: nothing,
      onBegin: nothing,
    }),
  }
}

/** One minute of a clinic. */
async function live(world: World, clinic: Clinic): Promise<void> {
  const { random, now, faults } = world
  if (now >= clinic.cutUntil && random() < chances.cut) {
    clinic.cutUntil = now + Math.round(random() ** 3 * 3 * 1440) * minute
    faults.cuts++
  }
  if (random() < chances.power) {
    faults.powerCuts++
    clinic.running.state.close()
    clinic.running = powered(world, clinic)
    if (clinic.fullUntil > 0) setFull(clinic.running.state, true)
  }
  disk(world, clinic)
  const again = clinic.unheard.splice(0)
  for (const message of again) await hand(world, clinic, message)
  if (now >= clinic.nextMessage) {
    clinic.nextMessage = now - Math.log(1 - random()) * ((1440 * minute) / messagesADay)
    await hand(world, clinic, messageOf(world, clinic))
  }
  if (now >= clinic.nextHeartbeat) {
    const wait = await clinic.running.heartbeat.step().catch(afterTrouble)
    // Beats tell nothing new in between: one in six hours, unless one fails.
    clinic.nextHeartbeat = now + (wait >= minute ? 360 * minute : wait)
  }
  if (now >= clinic.nextUpload) {
    let wait = 0
    for (let steps = 0; wait === 0 && steps < 20; steps++) wait = await clinic.running.upload.step().catch(afterTrouble)
    // With nothing to send, the next message wakes it.
    clinic.nextUpload = tally(clinic.running.state, 'item').count === 0 ? Number.POSITIVE_INFINITY : now + wait
  }
}

/** The disk is full for up to a day, then there is room again. */
function disk({ random, now, faults }: World, clinic: Clinic): void {
  if (clinic.fullUntil === 0 && random() < chances.fullDisk) {
    faults.fullDisks++
    clinic.fullUntil = now + Math.round(random() * 1440) * minute
    setFull(clinic.running.state, true)
  } else if (clinic.fullUntil > 0 && now >= clinic.fullUntil) {
    clinic.fullUntil = 0
    setFull(clinic.running.state, false)
  }
}

/** A step that fails in a way that it did not expect is taken again, as the loop of the agent does. */
function afterTrouble(error: unknown): number {
  const { errcode } = error as { readonly errcode?: number }
  if (errcode === 10 || errcode === 13) return 10_000
  throw error
}

/** A sender gives a message to the agent, and repeats it until it sees the acknowledgement. */
async function hand(world: World, clinic: Clinic, message: string): Promise<void> {
  const control = message.split('|')[9]!
  const item = {
    ...{ source: 'mllp', itemId: randomUUID(), type: 'hl7v2' as const, op: 'upsert' as const },
    ...{ payload: JSON.stringify({ message }), occurredAt: new Date(world.now).toISOString() },
    fingerprint: fingerprintOf('hl7v2', 'mllp', control, message),
  }
  const outcome = await new Promise<Outcome>(done => clinic.running.intake.put({ items: [item], done }))
  if (outcome.kind !== 'stored' && clinic.fullUntil > 0) world.faults.refusedFull++
  if (outcome.kind !== 'stored' || world.random() < chances.unheard) {
    world.faults.repeated++
    clinic.unheard.push(message)
  }
  clinic.nextUpload = Math.min(clinic.nextUpload, world.now)
  if (outcome.kind === 'stored') world.acknowledged.set(control, !message.includes('|19909999|'))
}

let count = 0
function messageOf({ random, faults }: World, clinic: Clinic): string {
  const control = `W${++count}`
  const isPoisoned = random() < chances.poisoned
  if (isPoisoned) faults.poisoned++
  const patient = Math.floor(random() * 30)
  return [
    `MSH|^~\\&|LAB|WORLD|HI|HI|20260314104207||ORU^R01^ORU_R01|${control}|P|2.5.1`,
    `PID|1||${clinic.id}-${patient}^^^WORLD^MR||FAMILY${clinic.id.slice(-6)}${patient}^Given||${isPoisoned ? '19909999' : `19${50 + patient}0412`}|F`,
    `OBR|1||${control}^LAB|24323-8^CMP^LN|||20260314091500|||||||||||||||20260314104000||HM|F`,
    'OBX|1|NM|2345-7^Glucose^LN||5.1|mmol/L|||||F',
  ].join('\r')
}

/** The network and the power hold from now on, until every queue is empty. */
async function drained(world: World): Promise<void> {
  Object.assign(chances, {
    poisoned: 0,
    unheard: 0,
    lostAnswer: 0,
    lostRequest: 0,
    cut: 0,
    power: 0,
    fullDisk: 0,
    brokenCommit: 0,
  })
  const left = (): number =>
    world.clinics.reduce((sum, { running, unheard }) => sum + unheard.length + tally(running.state, 'item').count, 0)
  for (let each = 0; each < 3000 && left() > 0; each++) {
    world.now += minute
    for (const clinic of world.clinics)
      Object.assign(clinic, {
        cutUntil: 0,
        fullUntil: Math.min(clinic.fullUntil, world.now),
        nextMessage: Number.POSITIVE_INFINITY,
      })
    await Promise.all(world.clinics.map(clinic => live(world, clinic)))
  }
  if (left() > 0) throw new Error(`${left()} items are still in the queues.`)
}

/** Compares what was acknowledged with what is stored. */
async function judge(world: World, seconds: number): Promise<void> {
  const stored = await reportsOf(world.options)
  const good = [...world.acknowledged].filter(([, isGood]) => isGood).map(([control]) => control)
  const lost = good.filter(control => !stored.has(control))
  const twice = good.filter(control => (stored.get(control) ?? 0) > 1)
  const quarantined = world.clinics.reduce((sum, { running }) => sum + tally(running.state, 'quarantine').count, 0)
  const refused = world.acknowledged.size - good.length
  const { agents, days, seed } = world.options
  process.stdout.write(
    [
      `${agents} agents, ${days} days, seed ${seed}: ${seconds.toFixed(0)} s`,
      `faults: ${Object.entries(world.faults)
        .map(([name, times]) => `${name} ${times}`)
        .join(', ')}`,
      `acknowledged ${world.acknowledged.size}: stored ${good.length - lost.length}, in quarantine ${quarantined} of ${refused}`,
      `lost ${lost.length}, twice ${twice.length}\n`,
    ].join('\n'),
  )
  if (lost.length > 0 || twice.length > 0 || quarantined !== refused) process.exitCode = 1
}

/** How often each message is stored, by the filler number of its report; a report that was written again counts again. */
async function reportsOf(options: WorldBench): Promise<Map<string, number>> {
  const { base } = options
  const token = await exemptToken(options)
  const found = new Map<string, number>()
  let next: string | undefined = `${base}/api/fhir/R4/DiagnosticReport?code=24323-8&_count=500&_elements=identifier`
  while (next !== undefined) {
    const answer = await fetch(next, { headers: { authorization: `Bearer ${token}` } })
    const page = (await answer.json()) as {
      readonly entry?: { resource: { meta: { versionId: string }; identifier?: { value: string }[] } }[]
      readonly link: { relation: string; url: string }[]
    }
    for (const { resource } of page.entry ?? []) {
      const control = resource.identifier?.find(({ value }) => /^W\d+$/.test(value))?.value
      if (control) found.set(control, (found.get(control) ?? 0) + Number(resource.meta.versionId))
    }
    next = page.link.find(({ relation }) => relation === 'next')?.url
  }
  return found
}

/** A token of a client that consent does not filter. */
async function exemptToken(options: WorldBench): Promise<string> {
  const database = opened(options)
  const { client, secret } = await createClient(database, 'local', {
    ...{ name: 'judge', organizationId: 'judge', scopes: ['system/DiagnosticReport.rs'], consentExempt: true },
  })
  await database.end()
  const body = new URLSearchParams({
    ...{ grant_type: 'client_credentials', client_id: client.id, client_secret: secret! },
  })
  const answer = await fetch(`${options.base}/api/v1/connect/auth/token`, { method: 'POST', body })
  return ((await answer.json()) as { access_token: string }).access_token
}
