// Connections to receivers: the address that is checked is the address that is connected to, however often its name
// changes its meaning (OWASP SSRF prevention), and certificates are always checked.
import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { isLoopback, mayReach, type Reach } from './address.ts'
import { resolving } from './resolve.ts'

export interface ConnectOptions {
  readonly reach: Reach
  /** Milliseconds until an attempt to connect is given up. */
  readonly timeout: number
  /** Resolves names; always asked for all addresses. */
  readonly lookup?: LookupFunction
  /** Certificates to trust instead of those Node trusts, in PEM. */
  readonly ca?: string
}

export interface Connections {
  readonly agent: Agent
  /** While a request starts: whether its connection was opened for it, so that nothing was ever sent on it. */
  isOpening(): boolean
}

/** Codes of the errors for what may not be called. */
export const privateAddress = 'ERR_ADDRESS_PRIVATE'
export const plainHttp = 'ERR_PLAIN_HTTP'

/** An agent that follows no redirect, knows no proxy, and connects to nothing out of reach. */
export function connections(options: ConnectOptions): Connections {
  let isOpening = false
  const open = vettedConnector(options)
  const connect: buildConnector.connector = (target, done) =>
    open(target, (...outcome) => {
      // What waits for the connection starts before `done` returns.
      isOpening = true
      done(...outcome)
      isOpening = false
    })
  const agent = new Agent({
    connect,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    keepAliveMaxTimeout: 30_000,
  })
  return { agent, isOpening: () => isOpening }
}

function vettedConnector({ reach, timeout, lookup = resolving(), ca }: ConnectOptions): buildConnector.connector {
  const open = buildConnector({
    lookup: vettedLookup(lookup, reach),
    autoSelectFamily: true,
    timeout,
    allowH2: false,
    rejectUnauthorized: true,
    ca,
  })
  return (target, done) => {
    // An address needs no lookup.
    const early = isIP(target.hostname) === 0 ? undefined : refusal(target.protocol, target.hostname, reach)
    if (early) return queueMicrotask(() => done(early, null))
    open(target, (error, socket) => {
      if (error) return done(error, null)
      const { remoteAddress } = socket as Socket
      const late = remoteAddress ? refusal(target.protocol, remoteAddress, reach) : gone()
      if (!late) return done(null, socket)
      socket.destroy()
      done(late, null)
    })
  }
}

function refusal(protocol: string, address: string, reach: Reach): Error | undefined {
  if (protocol !== 'https:' && !(reach.isLocal && isLoopback(address)))
    return coded(plainHttp, 'Without TLS, only localhost can be called.')
  return mayReach(address, reach) ? undefined : outOfReach()
}

/** Resolves a name to all its addresses, and to none if one of them is out of reach. */
function vettedLookup(lookup: LookupFunction, reach: Reach): LookupFunction {
  return (hostname, options, done) =>
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, [])
      const addresses = found as LookupAddress[]
      if (addresses.length === 0) return done(coded('ENOTFOUND', `${hostname} has no IP address.`), [])
      if (!addresses.every(({ address }) => mayReach(address, reach))) return done(outOfReach(), [])
      done(null, addresses)
    })
}

const outOfReach = () => coded(privateAddress, 'The address may not be called.')

const gone = () => coded('ECONNRESET', 'The connection was closed immediately after it opened.')

const coded = (code: string, message: string): NodeJS.ErrnoException => Object.assign(new Error(message), { code })
