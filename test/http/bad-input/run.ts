// Sends requests to one operation after the other, and keeps what is wrong with the answers.
import { setTimeout as wait } from 'node:timers/promises'
import type { Service } from '../../support/service.ts'
import { databaseOf } from '../../support/trail.ts'
import { type Callers, createCallers } from './callers.ts'
import type { Operation } from './description.ts'
import { type Fault, type FaultKind, faultsOf } from './judge.ts'
import { difference, type Remains, remainsOf } from './remains.ts'
import { requestFor } from './requests.ts'
import { type Known, store } from './stored.ts'
import { add, harvest, type Roll } from './values.ts'
import { createWire, type Received } from './wire.ts'
import type { Sent } from './world.ts'

const atOnce = 5

export interface Run {
  /** Sends so many requests made at random to the operation. */
  exercise(operation: Operation, roll: Roll, rounds: number): Promise<void>
  /** What was wrong, in words. */
  found(kind: FaultKind): string[]
  /** Answers by operation and status. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<number, number>>
  close(): void
}

interface State {
  readonly service: Service
  readonly wire: ReturnType<typeof createWire>
  readonly callers: Callers
  readonly remains: Remains
  readonly known: Known
  readonly faults: Fault[]
  readonly answers: Map<string, Map<number, number>>
}

export async function createRun(service: Service): Promise<Run> {
  const known = await store(service)
  const state: State = {
    service,
    wire: createWire(service.url),
    callers: await createCallers(service, known.patient),
    remains: await remainsOf(await databaseOf(service)),
    known,
    faults: [],
    answers: new Map(),
  }
  return {
    exercise: (operation, roll, rounds) => exercise(state, operation, roll, rounds),
    found: kind => state.faults.filter(each => each.kind === kind).map(each => each.words),
    answers: state.answers,
    close: state.wire.close,
  }
}

const nameOf = ({ method, path }: Operation): string => `${method} ${path}`

/** Several at once; whenever all of them are refused, nothing may be more or less than before. */
async function exercise(state: State, operation: Operation, roll: Roll, rounds: number): Promise<void> {
  const world = { ...state.known, proofs: state.callers.proofs }
  if (operation.schemes.includes('MobileToken')) await state.callers.renew('patient')
  for (let left = rounds; left > 0; left -= atOnce) {
    const all = Array.from({ length: Math.min(atOnce, left) }, () => requestFor(operation, world, roll))
    const refused = await sendAll(state, operation, all)
    if (operation.method !== 'GET' && refused.length < all.length) await sendAll(state, operation, refused)
  }
}

/** @returns those that were refused. */
async function sendAll(state: State, operation: Operation, all: readonly Sent[]): Promise<Sent[]> {
  const { remains, callers } = state
  const isChange = operation.method !== 'GET'
  const before = isChange ? await remains.count() : {}
  const answers = await Promise.all(all.map(async sent => ({ sent, ...(await sendOne(state, operation, sent)) })))
  if (answers.some(each => each.status === 202)) await noJobs(state.service)
  // It may have ended the credentials that it was sent with.
  const ended = answers.filter(each => each.status === 204).map(each => each.sent.caller)
  for (const kind of new Set(ended)) await callers.renew(kind)
  const refused = answers.filter(each => each.status >= 400).map(each => each.sent)
  // That an emergency was declared is kept, whatever becomes of the request.
  const isEmergency = all.some(each => each.headers['x-emergency-access'])
  if (!isChange || refused.length < all.length || isEmergency) return refused
  const changed = difference(before, await remains.count())
  for (const sent of changed ? all : [])
    keep(state, operation, sent, { kind: 'remains', words: `one of several that were refused, and yet: ${changed}` })
  return refused
}

/** Exports and imports work in the background. */
async function noJobs({ application }: Service): Promise<void> {
  const text = `select id from bulk_job where state in ('queued', 'running') limit 1`
  while ((await application.database.query({ text, values: [] })).length > 0) await wait(5)
}

async function sendOne(state: State, operation: Operation, sent: Sent): Promise<Received> {
  const received = await state.wire.send(sent).catch(({ message }) => ({ status: 0, headers: {}, text: message }))
  const statuses = state.answers.get(nameOf(operation)) ?? new Map<number, number>()
  state.answers.set(nameOf(operation), statuses.set(received.status, (statuses.get(received.status) ?? 0) + 1))
  if (received.status === 0) keep(state, operation, sent, { kind: 'answer', words: received.text })
  else for (const each of faultsOf(operation, sent, received)) keep(state, operation, sent, each, received)
  if (received.status < 300) learn(state.known, received)
  return received
}

const longest = 200_000

function learn({ pool }: Known, { headers, text }: Received): void {
  const job = /\/bulk\/([^/]+)\/status$/.exec(String(headers['content-location']))?.[1]
  if (job) add(pool, 'job', job)
  const isObject = String(headers['content-type']).includes('json') && text.startsWith('{') && text.length < longest
  if (isObject && !text.startsWith('{"openapi"')) harvest(pool, JSON.parse(text.split('\n')[0]!))
}

function keep(state: State, operation: Operation, sent: Sent, { kind, words }: Fault, received?: Received): void {
  const { method, target, caller, body } = sent
  const headers = Object.entries(sent.headers).filter(([name]) => !['authorization', 'cookie'].includes(name))
  const told = [
    `${words.slice(0, 400)}: ${nameOf(operation)} by ${caller}`,
    `${method} ${target.slice(0, 400)} ${JSON.stringify(headers).slice(0, 300)}`,
    ...(body ? [`body of ${body.length}: ${body.toString().slice(0, 500)}`] : []),
    ...(received ? [`told ${received.status} ${received.text.slice(0, 300)}`] : []),
  ]
  state.faults.push({ kind, words: told.join('; ') })
}
