// What the library costs beside bare fetch: CPU and calls a second, in turns, against a server on loopback that does nothing.
// `node clients/typescript/bench/main.ts [ROUNDS]` after `npm run build` in clients/typescript.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const reply = JSON.stringify({
  active: true,
  data: Array.from({ length: 20 }, (_, id) => ({ id, text: 'x'.repeat(40) })),
})
const token = JSON.stringify({ access_token: 'x'.repeat(800), token_type: 'Bearer', expires_in: 3600 })
const headers = {
  'content-type': 'application/json',
  'x-request-id': 'c0ffee00-0000-4000-8000-000000000000',
  'ratelimit-policy': '"default";q=600;w=60',
  ratelimit: '"default";r=599;t=1',
}

/** The server, in a process of its own so that its CPU is not counted. It ends with the process that measures. */
async function serve(): Promise<void> {
  const server = createServer((request, response) => {
    request
      .resume()
      .on('end', () => response.writeHead(200, headers).end(request.url?.endsWith('/token') ? token : reply))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  console.log((server.address() as AddressInfo).port)
  await once(process.stdin.resume(), 'end')
  process.exit()
}

interface Measured {
  readonly cpu: number
  readonly rate: number
}

/** CPU microseconds per call, and calls a second, of so many calls one after the other. */
async function measure(call: () => Promise<unknown>, calls = 100): Promise<Measured> {
  const [cpu, start] = [process.cpuUsage(), performance.now()]
  for (let each = 0; each < calls; each++) await call()
  const { user, system } = process.cpuUsage(cpu)
  return { cpu: (user + system) / calls, rate: (calls * 1000) / (performance.now() - start) }
}

/** A low value that is not the lowest: what a machine with other work needs when it is left alone. */
const quarter = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 2]!

/** The calls to compare: bare fetch, fetch with the headers and the timeout that the library gives it, and the library. */
async function calls(baseUrl: string): Promise<Record<string, () => Promise<unknown>>> {
  const start = performance.now()
  const built = new URL('../dist/esm/index.js', import.meta.url).href
  const { ServiceClient } = (await import(built)) as typeof import('../src/index.ts')
  console.log(`import: ${(performance.now() - start).toFixed(1)} ms`)
  const client = await ServiceClient.create({ clientId: 'a', clientSecret: 'b', environment: 'local', baseUrl })
  const headers = { authorization: `Bearer ${'x'.repeat(800)}`, accept: 'application/json' }
  const url = `${baseUrl}/api/v1/sdk/token/introspect`
  return {
    fetch: async () => (await fetch(url, { headers })).json(),
    'fetch with a timeout': async () => {
      const controller = new AbortController()
      const timer = setTimeout(() => controller.abort(), 30_000)
      const agent = { ...headers, 'user-agent': 'health-interop-typescript/1.2.0' }
      const response = await fetch(url, { headers: agent, signal: controller.signal, redirect: 'manual' })
      return response.json().finally(() => clearTimeout(timer))
    },
    library: () => client.tokens.introspect(),
  }
}

async function compare(rounds: number): Promise<void> {
  const child = spawn(process.execPath, [import.meta.filename, 'serve'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  const compared = Object.entries(await calls(`http://127.0.0.1:${String(port).trim()}`))
  const found = new Map<string, Measured[]>(compared.map(([name]) => [name, []]))
  for (const [, call] of compared) await measure(call, 1000)
  for (let round = 0; round < rounds; round++)
    for (const [name, call] of compared) found.get(name)!.push(await measure(call))
  const base = quarter(found.get('fetch')!.map(each => each.cpu))
  for (const [name, all] of found) {
    const cpu = quarter(all.map(each => each.cpu))
    const rate = 1 / quarter(all.map(each => 1 / each.rate))
    console.log(`${name}: ${cpu.toFixed(0)} µs CPU a call (${(cpu / base).toFixed(2)}), ${rate.toFixed(0)} calls/s`)
  }
  child.stdin.end()
}

if (process.argv[2] === 'serve') await serve()
else await compare(Number(process.argv[2] ?? 60))
