// Bodies: half-sent ones, and small requests that would cost much, by one client while another one reads.
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { BudgetBench } from './budget.ts'
import { askOverAndOver } from './greedy.ts'

/** Prints a table: the reads of one client, and the memory of the service, while another one does each of these. */
export async function benchBodies(bench: BudgetBench): Promise<void> {
  const { base, tokens, pid } = bench
  const field = { reader: tokens.other, greedy: tokens.greedy, rss: () => rssOf(pid) }
  await store(base, field.reader)
  await readFor(base, field.reader, 2)
  const quiet = await readFor(base, field.reader, bench.seconds)
  process.stdout.write(
    '| meanwhile | reads | p50 ms | p99 ms | p99 / quiet | failed | probes | RSS MB | answers |\n|---|--:|--:|--:|--:|--:|--:|--:|---|\n',
  )
  const print = (name: string, read: typeof quiet, probes: string, rss: number, answers: string): void => {
    const figures = [
      read.count,
      read.p50.toFixed(1),
      read.p99.toFixed(1),
      (read.p99 / quiet.p99).toFixed(1),
      read.failed,
    ]
    process.stdout.write(`| ${[name, ...figures, probes, rss.toFixed(0), answers].join(' | ')} |\n`)
  }
  print('nothing', quiet, await probed(base), field.rss(), '')
  for (const [count, isKnown] of [
    [6, false],
    [60, false],
    [500, false],
    [6, true],
    [60, true],
    [500, true],
  ] as const) {
    const sockets = halfSent(base, count, isKnown ? field.greedy : undefined)
    await wait(1000)
    const [read, probes] = await Promise.all([readFor(base, field.reader, bench.seconds), probed(base)])
    print(`${count} half-sent bodies of 45 MB ${isKnown ? 'with' : 'without'} a token`, read, probes, field.rss(), '')
    for (const socket of sockets) socket.destroy()
    await wait(500)
  }
  for (const [name, body] of costly()) await withCostly(name, body)
  async function withCostly(name: string, body: string): Promise<void> {
    const { resourceType } = JSON.parse(`${/^\{"resourceType":"\w+"/.exec(body)![0]}}`)
    const url = `${base}/api/fhir/R4/${resourceType}`
    const stop = askOverAndOver({ url, token: field.greedy, atOnce: 4, body })
    await wait(500)
    const [read, probes] = await Promise.all([readFor(base, field.reader, bench.seconds), probed(base)])
    const answers = await stop()
    print(`${name}, ${(body.length / 1e6).toFixed(1)} MB, 4 at a time`, read, probes, field.rss(), told(answers))
  }
}

/** Begins bodies of 45 MB and sends all that is taken of the first 40 MB. */
function halfSent(base: string, count: number, token: string | undefined): Socket[] {
  const { port, hostname } = new URL(base)
  const piece = Buffer.alloc(1_000_000, ' ')
  return Array.from({ length: count }, () => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    const proof = token ? `authorization: Bearer ${token}\r\n` : ''
    socket.write(
      `POST /api/fhir/R4 HTTP/1.1\r\nhost: x\r\ncontent-type: application/fhir+json\r\n${proof}content-length: 45000000\r\n\r\n`,
    )
    let left = 40
    const more = (): void => {
      while (left > 0 && !socket.destroyed) {
        left--
        if (!socket.write(piece)) return void socket.once('drain', more)
      }
    }
    more()
    return socket
  })
}

async function probed(base: string): Promise<string> {
  const statuses = await Promise.all(
    ['/healthz', '/readyz', '/metrics'].map(path => fetch(base + path).then(it => it.status)),
  )
  return statuses.join(' ')
}

const told = (answers: ReadonlyMap<number, number>): string =>
  [...answers].map(([status, times]) => `${times} × ${status}`).join(', ')

const many = <Of>(length: number, make: (index: number) => Of): Of[] =>
  Array.from({ length }, (_, index) => make(index))

/** Requests beyond the bounds, and the largest within them. */
function costly(): [string, string][] {
  const codings = (length: number, mark = '') => ({
    coding: many(length, i => ({ system: 'urn:x', code: `${mark}c${i}` })),
  })
  const basic = { resourceType: 'Basic', code: { text: 'x' } }
  const text = (resource: object): string => JSON.stringify(resource)
  const names = (length: number) => ({
    resourceType: 'Patient',
    name: many(length, i => ({ family: `f${i}`, given: [`g${i}`] })),
  })
  return [
    ['200,000 codings', text({ resourceType: 'Basic', code: codings(200_000) })],
    ['200,000 unknown elements', text({ ...basic, ...Object.fromEntries(many(200_000, i => [`x${i}`, 1])) })],
    ['60,000 names', text(names(60_000))],
    [
      '60,000 components',
      text({
        resourceType: 'Observation',
        status: 'final',
        code: { text: 'x' },
        component: many(60_000, i => ({ code: { text: `${i}` } })),
      }),
    ],
    ['a text of 300,000 words', text({ resourceType: 'Basic', code: { text: many(150_000, i => `w${i}`).join(' ') } })],
    ['60,000 wrong codings', text({ resourceType: 'Basic', code: codings(60_000, ' ') })],
    ['4,900 codings (within)', text({ resourceType: 'Basic', code: codings(4900) })],
    ['1,500 names (within)', text(names(1500))],
  ]
}

interface Latency {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly failed: number
}

/** Reads one after the other, by a few connections, for so many seconds. */
async function readFor(base: string, token: string, seconds: number): Promise<Latency> {
  const times: number[] = []
  let failed = 0
  const end = performance.now() + seconds * 1000
  const one = async (): Promise<void> => {
    while (performance.now() < end) {
      const began = performance.now()
      const reply = await fetch(`${base}/api/fhir/R4/Basic/budget`, { headers: { authorization: `Bearer ${token}` } })
      await reply.arrayBuffer()
      if (reply.status !== 200) failed++
      times.push(performance.now() - began)
      await wait(5)
    }
  }
  await Promise.all(Array.from({ length: 4 }, one))
  times.sort((one, other) => one - other)
  const at = (part: number): number => times[Math.min(times.length - 1, Math.floor(times.length * part))]!
  return { count: times.length, p50: at(0.5), p99: at(0.99), failed }
}

/** Stores what is read. */
async function store(base: string, token: string): Promise<void> {
  const stored = await fetch(`${base}/api/fhir/R4/Basic/budget`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' },
    body: JSON.stringify({ resourceType: 'Basic', id: 'budget', code: { text: 'read' } }),
  })
  if (!stored.ok) throw new Error(`the resource to be read was not stored: ${await stored.text()}`)
}

/** Megabytes of memory that a process holds. */
const rssOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
