// Sixteen costly searches of one client at a time, while another client reads by id and searches by name.
import type { BudgetBench } from './budget.ts'
import { askOverAndOver } from './greedy.ts'

const fhir = '/api/fhir/R4'

/** What costs much where much is stored. */
const costly: Readonly<Record<string, string>> = {
  'a chain of two references, by pieces of names':
    'Observation?encounter.service-provider.name:contains=a&encounter.participant.name:contains=zz',
  'one chain, thirty times': `Observation?${Array.from({ length: 30 }, () => 'patient.name:contains=a').join('&')}`,
  'five sort keys': 'Observation?_sort=-value-quantity,code,status,date,_id',
  'the history of everything': '_history?_count=1000',
  'the newest of each kind': 'Observation/$lastn?max=100',
}

/** Prints p50 and p99 of the other client, quiet and beside each of the costly searches. */
export async function benchSearches({ base, tokens, seconds }: BudgetBench): Promise<void> {
  const ids = (await get(base, 'Patient?_count=50&_elements=id', tokens.other)).text.matchAll(
    /"fullUrl":"[^"]*\/Patient\/([^"]+)"/g,
  )
  const paths = [...ids].flatMap(([, id]) => [`Patient/${id}`, 'Patient?name=smith&_count=20'])
  const head = ['beside', 'p50 ms', 'p99 ms', 'p99 / quiet', 'failed', 'the costly ones']
  process.stdout.write(`| ${head.join(' | ')} |\n|---|--:|--:|--:|--:|---|\n`)
  await measured(base, paths, tokens.other, 1)
  const quiet = await measured(base, paths, tokens.other, seconds)
  print('nothing', quiet, quiet, '')
  for (const [name, path] of Object.entries(costly)) {
    const stop = askOverAndOver({ url: `${base}${fhir}/${path}`, token: tokens.greedy, atOnce: 16 })
    await pause(500)
    const beside = await measured(base, paths, tokens.other, seconds)
    const statuses = await stop()
    print(name, beside, quiet, [...statuses].map(([status, count]) => `${status}: ${count}`).join(', '))
  }
}

interface Measured {
  readonly p50: number
  readonly p99: number
  readonly failed: number
}

/** Asks for one path after the other, one at a time. */
async function measured(base: string, paths: readonly string[], token: string, seconds: number): Promise<Measured> {
  const times: number[] = []
  let failed = 0
  for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
    const begun = performance.now()
    const { status } = await get(base, paths[times.length % paths.length]!, token)
    if (status !== 200) failed++
    times.push(performance.now() - begun)
  }
  times.sort((one, other) => one - other)
  const at = (part: number): number => times[Math.min(times.length - 1, Math.floor(times.length * part))]!
  return { p50: at(0.5), p99: at(0.99), failed }
}

async function get(base: string, path: string, token: string): Promise<{ status: number; text: string }> {
  const reply = await fetch(`${base}${fhir}/${path}`, { headers: { authorization: `Bearer ${token}` } })
  return { status: reply.status, text: await reply.text() }
}

const pause = (ms: number): Promise<void> => new Promise(done => setTimeout(done, ms))

function print(name: string, { p50, p99, failed }: Measured, quiet: Measured, greedy: string): void {
  const ratio = (p99 / quiet.p99).toFixed(1)
  process.stdout.write(`| ${name} | ${p50.toFixed(1)} | ${p99.toFixed(1)} | ${ratio} | ${failed} | ${greedy} |\n`)
}
