// Where the service may call: public addresses, and what its operator permits beside them
// (https://www.iana.org/assignments/iana-ipv4-special-registry, https://www.iana.org/assignments/iana-ipv6-special-registry).
import { type BlockList, isIP } from 'node:net'
import type { Config } from '../lib/config.ts'
import { Failure } from '../lib/failure.ts'
import { networks } from '../lib/networks.ts'

/** Which addresses may be called that are not public. */
export interface Reach {
  /** Private networks that the operator permits. */
  readonly allowed: BlockList
  /** The local environment: loopback may be called, by http too. */
  readonly isLocal: boolean
}

/** The reach that the settings give. */
export const reachOf = ({ webhookNetworks, environment }: Pick<Config, 'webhookNetworks' | 'environment'>): Reach => ({
  allowed: webhookNetworks,
  isLocal: environment === 'local',
})

/** Whether an IPv4 or IPv6 address belongs to the public internet; false for whatever is no address. */
export function isPublic(address: string): boolean {
  return !address.includes('%') && isWithin(assigned, address) && !isWithin(special, address)
}

/** Whether it is an address of this very machine. */
export function isLoopback(address: string): boolean {
  return isWithin(loopback, address)
}

/** Whether a connection to the address may be opened. */
export function mayReach(address: string, reach: Reach): boolean {
  return (
    isPublic(address) || (reach.isLocal && isLoopback(address)) || isWithin(reach.allowed, address.replace(/%.*/, ''))
  )
}

/**
 * Returns the URL in normal form, if its text permits sending events there: names are resolved when they are called.
 * @param field where it stands in the request.
 * @throws Failure VALIDATION_FAILED stating what is wrong with it.
 */
export function mustBeCallable(text: string, reach: Reach, field: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const problem = url && url.href.length <= longest ? problemOf(url, reach) : formProblem(url)
  if (!problem) return url!.href
  const [code, message] = problem
  throw new Failure('VALIDATION_FAILED', `${field} ${message}.`, { details: [{ field, code, message }] })
}

const longest = 2000

const loopback = networks('127.0.0.0/8,::1')

/** Addresses outside these are not assigned; an IPv4 address mapped into IPv6 is judged by the IPv4 address. */
const assigned = networks('0.0.0.0/0,2000::/3')

const special = networks(
  [
    '0.0.0.0/8', // this network (RFC 791)
    '10.0.0.0/8', // private (RFC 1918)
    '100.64.0.0/10', // shared by the customers of a provider (RFC 6598)
    '127.0.0.0/8', // loopback (RFC 1122)
    '169.254.0.0/16', // link local, and the metadata of clouds (RFC 3927)
    '172.16.0.0/12', // private (RFC 1918)
    '192.0.0.0/24', // protocol assignments (RFC 6890)
    '192.0.2.0/24', // documentation (RFC 5737)
    '192.31.196.0/24', // AS112 (RFC 7535)
    '192.52.193.0/24', // multicast tunnels (RFC 7450)
    '192.88.99.0/24', // 6to4 relays (RFC 7526)
    '192.168.0.0/16', // private (RFC 1918)
    '192.175.48.0/24', // AS112 (RFC 7534)
    '198.18.0.0/15', // benchmarks (RFC 2544)
    '198.51.100.0/24', // documentation (RFC 5737)
    '203.0.113.0/24', // documentation (RFC 5737)
    '224.0.0.0/4', // multicast (RFC 5771)
    '240.0.0.0/4', // reserved, and broadcast (RFC 1112, RFC 919)
    '2001::/23', // protocol assignments, Teredo and ORCHID among them (RFC 2928)
    '2001:db8::/32', // documentation (RFC 3849)
    '2002::/16', // 6to4, which hides an IPv4 address (RFC 3056)
    '2620:4f:8000::/48', // AS112 (RFC 7534)
    '3fff::/20', // documentation (RFC 9637)
  ].join(','),
)

function isWithin(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

type Problem = readonly [code: string, message: string]

function formProblem(url: URL | undefined): Problem {
  if (url) return ['maxLength', `must have at most ${longest} characters`]
  return ['format', 'must be an absolute URL, for example https://example.org/webhooks']
}

function problemOf(url: URL, reach: Reach): Problem | undefined {
  const host = url.hostname.replace(/\.$/, '').replace(/[[\]]/g, '')
  if (url.protocol !== 'https:') {
    const problem = schemeProblem(url.protocol, host, reach)
    if (problem) return problem
  }
  if (url.username || url.password)
    return ['credentials', 'must not contain a user name or password: verify the signature of each event instead']
  if (url.href.includes('#')) return ['fragment', 'must not have a fragment (#…), which is never sent']
  return isIP(host) === 0 ? nameProblem(host, reach) : addressProblem(host, reach)
}

function schemeProblem(protocol: string, host: string, reach: Reach): Problem | undefined {
  if (protocol === 'http:' && reach.isLocal && (isLocalhost(host) || isLoopback(host))) return undefined
  const exception = reach.isLocal ? '; http is allowed only for localhost or 127.0.0.1' : ''
  return ['scheme', `must start with https://${exception}`]
}

const isLocalhost = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost')

function nameProblem(host: string, reach: Reach): Problem | undefined {
  if (isLocalhost(host))
    return reach.isLocal ? undefined : ['private', `must name a host on the internet, not this machine (${host})`]
  const isInside = !host.includes('.') || /\.(local|internal)$/.test(host)
  if (!isInside || reach.allowed.rules.length > 0) return undefined
  return ['private', `must name a host on the internet: ${host} belongs to a private network`]
}

function addressProblem(host: string, reach: Reach): Problem | undefined {
  if (mayReach(host, reach)) return undefined
  return ['private', `must resolve to a public address: ${host} is private or reserved`]
}
