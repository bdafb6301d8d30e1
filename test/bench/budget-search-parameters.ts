// npm run bench -- budget search-parameters: twenty parameters of one client that each look at everything again and again, and what
// others notice of it: reads of another client, tokens, deletions, consents, and how soon the service stops and starts.
import { type ChildProcess, execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { spawnService } from './service.ts'

export interface BudgetBench {
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  readonly base: string
  readonly token: () => Promise<string>
  readonly answering: () => Promise<void>
  readonly seconds: number
}

const parameters = 20
const flags = 500
const whole = '%resource.descendants()'
/** Refused where it is defined. */
const recipe = `Flag.descendants().where(${whole}.where(${whole}.where(${whole}.where(${whole}.count() > 10000).exists()).exists()).exists())`
/** The same work by way of elements: it passes, and is stopped when it is done. */
const again = (depth: number): string =>
  depth === 0 ? "url = 'x'" : `%resource.extension.where(${again(depth - 1)} or true).exists()`
const costly = `Flag.extension.where(${again(6)}).url`

export async function benchBudget(bench: BudgetBench): Promise<void> {
  const { base, root, env } = bench
  const print = (text: string): void => void process.stdout.write(`${text}\n`)
  const fhir = `${base}/api/fhir/R4`
  let service = await start(bench)
  try {
    const abuser = caller(fhir, await bench.token())
    const reader = caller(fhir, await otherToken(bench))
    await abuser('PUT', 'Patient/bench', { resourceType: 'Patient', id: 'bench' })
    await abuser('POST', '', bundle(Array.from({ length: flags }, (_, index) => flag(`flag-${index}`))))
    const quiet = await measure(() => reader('GET', 'Patient/bench'), sleep(bench.seconds * 1000))
    print(`reads of another client, quiet      ${told(quiet)}`)
    const refused = await abuser('POST', 'SearchParameter', parameter('recipe', recipe))
    print(`the recipe of nested descendants()  answered ${refused.status}`)
    const attack = (async () => {
      const began = performance.now()
      const defined = await Promise.all(
        Array.from({ length: parameters }, (_, index) =>
          abuser('PUT', `SearchParameter/p${index}`, parameter(`p${index}`, costly)),
        ),
      )
      const puts = await measure(() => abuser('PUT', 'Flag/flag-0', flag('flag-0', performance.now())), sleep(1000), 1)
      const token = await timed(() => bench.token())
      const deleted = await timed(() => abuser('DELETE', 'SearchParameter/p0'))
      await sleep(Math.max(0, bench.seconds * 1000 - (performance.now() - began)))
      return { defined: defined.map(each => each.status), puts, token, deleted }
    })()
    const during = await measure(() => reader('GET', 'Patient/bench'), attack)
    const { defined, puts, token, deleted } = await attack
    print(
      `reads of another client, meanwhile  ${told(during)}, p99 ${(during.p99 / quiet.p99).toFixed(1)} times that of quiet`,
    )
    print(`${parameters} parameters                       answered ${[...new Set(defined)].join(' ')}`)
    print(`writes of what they are about       ${told(puts)}`)
    print(`an access token                     ${token.toFixed(0)} ms`)
    print(`a deletion of a parameter           ${deleted.toFixed(0)} ms`)
    const search = await abuser('GET', 'Flag?p1=x')
    print(
      `a search by one of them             answered ${search.status}: ${search.text.match(/is suspended[^"]*/)?.[0]}`,
    )
    for (let index = 1; index < parameters; index++)
      await abuser('PUT', `SearchParameter/p${index}`, { ...parameter(`p${index}`, costly), description: 'Once more.' })
    const stopped = await timed(() => stop(service))
    print(`SIGTERM while they are indexed      ended after ${(stopped / 1000).toFixed(1)} s`)
    const started = await timed(async () => void (service = await start(bench)))
    print(`the next start                      answers after ${(started / 1000).toFixed(1)} s`)
  } finally {
    await stop(service)
  }

  async function otherToken({ base: address }: BudgetBench): Promise<string> {
    const words = [
      'src/commands/admin.ts',
      'client',
      'create',
      '--name',
      'Reader',
      '--organization',
      'reader',
      '--json',
    ]
    const scopes = ['--scopes', 'system/*.rs', '--consent-exempt']
    const made = JSON.parse(execFileSync(process.execPath, [...words, ...scopes], { cwd: root, env, encoding: 'utf8' }))
    const { client_id, client_secret } = made as { client_id: string; client_secret: string }
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
    const answer = await fetch(`${address}/api/v1/connect/auth/token`, { method: 'POST', body })
    return ((await answer.json()) as { access_token: string }).access_token
  }
}

interface Figures {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly errors: number
}

type Call = (method: string, path: string, body?: object) => Promise<{ status: number; text: string }>

const caller =
  (fhir: string, token: string): Call =>
  async (method, path, body) => {
    const answer = await fetch(path === '' ? fhir : `${fhir}/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, text: await answer.text() }
  }

/** Runs the work again and again, four at a time, until something has happened. */
async function measure(work: () => Promise<{ status: number }>, until: Promise<unknown>, lanes = 4): Promise<Figures> {
  let isOver = false
  void until.finally(() => (isOver = true))
  const times: number[] = []
  let errors = 0
  const lane = async (): Promise<void> => {
    while (!isOver) {
      const began = performance.now()
      const { status } = await work()
      times.push(performance.now() - began)
      if (status >= 400) errors++
      await sleep(10)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  times.sort((a, b) => a - b)
  const at = (part: number): number => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0
  return { count: times.length, p50: at(0.5), p99: at(0.99), errors }
}

const told = ({ count, p50, p99, errors }: Figures): string =>
  `${count} in all, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${errors} errors`

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

async function start({ root, env, answering }: BudgetBench): Promise<ChildProcess> {
  const service = spawnService(root, env)
  await answering()
  return service
}

async function stop(service: ChildProcess): Promise<void> {
  if (service.exitCode !== null || service.signalCode !== null) return
  const ended = new Promise(done => service.once('exit', done))
  service.kill('SIGTERM')
  await ended
}

const flag = (id: string, stamp = 0) => ({
  resourceType: 'Flag',
  id,
  status: 'active',
  code: { text: `Falls ${stamp}` },
  subject: { reference: 'Patient/bench' },
  extension: Array.from({ length: 15 }, (_, index) => ({ url: `https://example.org/${index}`, valueString: 'x' })),
})

const bundle = (resources: readonly { resourceType: string; id: string }[]) => ({
  resourceType: 'Bundle',
  type: 'transaction',
  entry: resources.map(resource => ({
    resource,
    request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
  })),
})

const parameter = (code: string, expression: string) => ({
  resourceType: 'SearchParameter',
  id: code,
  url: `https://example.org/SearchParameter/${code}`,
  name: 'Bench',
  status: 'active',
  description: 'For a bench.',
  code,
  base: ['Flag'],
  type: 'string',
  expression,
})
