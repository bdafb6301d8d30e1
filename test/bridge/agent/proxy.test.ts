// A clinic whose way to the internet is a proxy: HTTPS_PROXY and NO_PROXY of the environment.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer as createTlsServer } from 'node:tls'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { proxyFor } from '../../../bridge/src/server/proxy.ts'
import { onCleanup } from '../../support/cleanup.ts'
import { until } from '../../support/process.ts'
import { agent as command, freshFolder, runAgent, writeAgent } from '../support/agent.ts'
import { certificate } from '../support/certificate.ts'
import { type StandIn, startStandIn } from '../support/stand-in.ts'

afterEach(() => void vi.unstubAllEnvs())

describe('the proxy to a server', () => {
  const server = 'https://fhir.example.org'
  test.each([
    ['is that of HTTPS_PROXY', { HTTPS_PROXY: 'http://proxy.clinic:3128' }, 'proxy.clinic:3128'],
    ['may be named in small letters', { https_proxy: 'http://proxy.clinic:3128' }, 'proxy.clinic:3128'],
    ['may lack its scheme', { HTTPS_PROXY: 'proxy.clinic:3128' }, 'proxy.clinic:3128'],
    ['is named without its credentials', { HTTPS_PROXY: 'http://user:hush@proxy.clinic:3128' }, 'proxy.clinic:3128'],
    ['is none without a setting', { HTTPS_PROXY: '', HTTP_PROXY: 'http://proxy.clinic:3128' }, undefined],
    ['is none for all that NO_PROXY names', { HTTPS_PROXY: 'p:1', NO_PROXY: '*' }, undefined],
    ['is none for a host of NO_PROXY', { HTTPS_PROXY: 'p:1', NO_PROXY: 'a.org, FHIR.example.org' }, undefined],
    ['is none for a domain of NO_PROXY', { HTTPS_PROXY: 'p:1', no_proxy: '.example.org' }, undefined],
    ['is none for subdomains of NO_PROXY', { HTTPS_PROXY: 'p:1', NO_PROXY: '*.example.org' }, undefined],
    ['is none for host and port of NO_PROXY', { HTTPS_PROXY: 'p:1', NO_PROXY: 'fhir.example.org:443' }, undefined],
    ['is used for another port', { HTTPS_PROXY: 'p:1', NO_PROXY: 'fhir.example.org:8443' }, 'p:1'],
    ['is used for a name that only ends alike', { HTTPS_PROXY: 'p:1', NO_PROXY: 'r.example.org' }, 'p:1'],
  ])('%s', (_, env, name) => {
    expect(proxyFor(server, env as Record<string, string>)?.name).toBe(name)
  })

  test('is none on this machine, and must be one of HTTP', () => {
    expect(proxyFor('http://127.0.0.1:3000', { HTTPS_PROXY: 'p:1' })).toBeUndefined()
    expect(() => proxyFor(server, { HTTPS_PROXY: 'socks5://p:1' })).toThrow('HTTPS_PROXY in the environment must be')
  })
})

/** A proxy that asks for a password, and what it was asked for. */
interface TestProxy {
  readonly url: string
  readonly asked: string[]
}

let standIn: StandIn
let proxy: TestProxy
let file: string

async function listening(server: Server): Promise<number> {
  const open = new Set<Duplex>()
  server.on('connection', socket => open.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onCleanup(async () => {
    for (const each of open) each.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const joined = (one: Duplex, other: Duplex): void => {
  for (const each of [one, other]) each.on('error', () => {})
  one.pipe(other).pipe(one)
}

/** Connects to the one server that there is, whatever name is asked for: no name of the test is known here. */
async function startProxy(server: number): Promise<TestProxy> {
  const asked: string[] = []
  const proxy = createServer()
  proxy.on('connect', ({ url, headers }, socket) => {
    asked.push(url!)
    const isKnown = headers['proxy-authorization'] === `Basic ${Buffer.from('clinic:hush').toString('base64')}`
    if (!isKnown) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    joined(socket, connect(server, '127.0.0.1'))
  })
  const port = await listening(proxy)
  return { url: `http://clinic:hush@127.0.0.1:${port}`, asked }
}

beforeAll(async () => {
  standIn = await startStandIn()
  const folder = freshFolder()
  const { certificate_file, key_file } = certificate(folder, 'DNS:fhir.example.test')
  const port = Number(new URL(standIn.url).port)
  const secure = createTlsServer({ cert: readFileSync(certificate_file), key: readFileSync(key_file) }, socket =>
    joined(socket, connect(port, '127.0.0.1')),
  )
  proxy = await startProxy(await listening(secure))
  const server = {
    url: 'https://fhir.example.test',
    agent_id: 'agent-1',
    agent_key: `bak_${'k'.repeat(43)}`,
    facility_id: 'facility-1',
    ca_file: certificate_file,
  }
  file = writeAgent(folder, '', { server })
})

test('the agent reaches its server through the proxy, and logs the proxy without its password', async () => {
  vi.stubEnv('HTTPS_PROXY', proxy.url)
  const agent = await runAgent(file)
  await until('a heartbeat came', () => standIn.paths('/heartbeat').length > 0)
  expect(new Set(proxy.asked)).toEqual(new Set(['fhir.example.test:443']))
  await until('it is on the status page', async () => (await agent.status()).last_contact !== null)
  await agent.stop()
  expect(agent.lines.join('')).toContain(`"proxy":"${new URL(proxy.url).host}"`)
  expect(agent.lines.join('')).not.toContain('hush')
})

describe('agent doctor', () => {
  const doctor = async (): Promise<string> => (await command('doctor', '--config', file)).out

  test('names the proxy that it goes through, and checks certificate and key behind it', async () => {
    vi.stubEnv('HTTPS_PROXY', proxy.url)
    const out = await doctor()
    expect(out).toContain(`fhir.example.test is reached through the proxy ${new URL(proxy.url).host}`)
    expect(out).toMatch(/good {2}certificate .*\ngood {2}key /)
    expect(out).not.toMatch(/BAD|hush/)
  })

  test('finds a proxy that says no, one that is away, one that is none, and a missing one', async () => {
    vi.stubEnv('HTTPS_PROXY', proxy.url.replace('hush', 'guess'))
    expect(await doctor()).toMatch(
      /BAD {3}network .* through the proxy 127.0.0.1:\d+ \(ERR_PROXY_TUNNEL\): check HTTPS_PROXY/,
    )
    vi.stubEnv('HTTPS_PROXY', 'http://127.0.0.1:9')
    expect(await doctor()).toMatch(/BAD {3}network .* through the proxy 127.0.0.1:9 \(ECONNREFUSED\)/)
    vi.stubEnv('HTTPS_PROXY', 'ftp://127.0.0.1:9')
    expect(await doctor()).toMatch(/BAD {3}config .*HTTPS_PROXY in the environment must be/)
    vi.stubEnv('HTTPS_PROXY', '')
    expect(await doctor()).toMatch(/BAD {3}network .*behind a proxy set HTTPS_PROXY/)
  })
})
