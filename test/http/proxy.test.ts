// Behind proxies: whose headers are believed, what links look like then, and who is counted (RFC 7239).
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, fhirCaller, linkOf } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'

let behind: Service
let exposed: Service

beforeAll(async () => {
  behind = await startService({ TRUSTED_PROXIES: '127.0.0.0/8, 10.0.0.0/8, ::1', RATE_LIMIT: '3' })
  exposed = await startService()
})

/** The address of this server as the CapabilityStatement tells it; one client asks for it three times at most. */
async function linked(service: Service, headers: Record<string, string>): Promise<string> {
  const { body } = await fhirCaller(() => service)('GET', 'metadata', { headers })
  return body.implementation.url.replace('/api/fhir/R4', '')
}

const told: readonly [string, Record<string, string>, string][] = [
  [
    'X-Forwarded-Host and -Proto',
    { 'x-forwarded-host': 'fhir.example', 'x-forwarded-proto': 'https' },
    'https://fhir.example',
  ],
  ['a port with the host', { 'x-forwarded-host': 'fhir.example:8443' }, 'http://fhir.example:8443'],
  ['Forwarded', { forwarded: 'for=10.1.1.1;host="fhir.example";proto=https' }, 'https://fhir.example'],
  [
    'several proxies: the outermost',
    { forwarded: 'for=9.9.9.9;host=fhir.example;proto=https, for=10.0.0.2;host=inner' },
    'https://fhir.example',
  ],
]

describe('a trusted proxy is believed', () => {
  test.each(told)('%s', async (_what, headers, expected) => {
    const from = { 'x-forwarded-for': `203.0.113.${told.findIndex(each => each[1] === headers)}` }
    expect(await linked(behind, headers['forwarded'] ? headers : { ...from, ...headers })).toBe(expected)
  })

  test('but not a host that is none', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.99', 'x-forwarded-host': 'evil.example/path"<' }
    expect(await linked(behind, headers)).toBe(behind.url)
  })

  test('whom it names is who is counted, and nobody can hide behind made-up names', async () => {
    const statuses = async (forwarded: (n: number) => string): Promise<number[]> => {
      const found: Answer['status'][] = []
      for (let n = 0; n < 5; n++) {
        const headers = { 'x-forwarded-for': forwarded(n) }
        found.push((await fetch(`${behind.url}/api/fhir/R4/metadata`, { headers })).status)
      }
      return found
    }
    expect(await statuses(() => '198.51.100.1')).toEqual([200, 200, 200, 429, 429])
    expect(await statuses(n => `198.51.100.${n + 10}`)).toEqual([200, 200, 200, 200, 200])
    expect(await statuses(n => `1.1.1.${n}, 198.51.100.50, 10.0.0.7`)).toEqual([200, 200, 200, 429, 429])
    expect(await statuses(n => `[2001:db8::${n + 1}]:4711`)).toEqual([200, 200, 200, 200, 200])
  })
})

describe('anybody else is not', () => {
  test.each(told)('%s', async (_what, headers) => {
    expect(await linked(exposed, headers)).toBe(exposed.url)
  })

  test('links name the host that was asked', async () => {
    const { body } = await fhirCaller(() => exposed)('GET', 'Patient?_count=1')
    expect(linkOf(body, 'self')).toBe(`${exposed.url}/api/fhir/R4/Patient?_count=1`)
  })
})

test('a public address that is set wins over what proxies say', async () => {
  const service = await startService({ TRUSTED_PROXIES: '127.0.0.1', BASE_URL: 'https://public.example' })
  expect(await linked(service, { 'x-forwarded-host': 'other.example' })).toBe('https://public.example')
})

test('what is no network is refused at the start', async () => {
  for (const TRUSTED_PROXIES of ['10.0.0.0/33', 'proxy.example', '10.0.0.1/', '10.0.0.0/8/8'])
    await expect(startService({ TRUSTED_PROXIES })).rejects.toThrow(/TRUSTED_PROXIES.*IP addresses or networks/)
})
