// Connections to receivers: the address that is checked is the address that is connected to, however often its name
// changes its meaning (OWASP SSRF prevention), and certificates are always checked.
import type { LookupAddress } from 'node:dns'
import { createRequire } from 'node:module'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { Agent, buildConnector } from 'undici'
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
  /** Opens connections; made when it is first asked for. */
  agent(): Agent
  /** While a request starts: whether its connection was opened for it, so that nothing was ever sent on it. */
  isOpening(): boolean
  /** Drops all connections; what is still under way fails. */
  close(): Promise<void>
}

const require = createRequire(import.meta.url)

/** Returns undici, which is loaded for the first call: most services call nobody, and it takes 12 MB. */
export const undici = (): typeof import('undici') => require('undici') as typeof import('undici')

/** Codes of the errors for what may not be called. */
export const privateAddress = 'ERR_ADDRESS_PRIVATE'
export const plainHttp = 'ERR_PLAIN_HTTP'

/** An agent that follows no redirect, knows no proxy, and connects to nothing out of reach. */
export function connections(options: ConnectOptions): Connections {
  let isOpening = false
  let agent: Agent | undefined
  const start = (): Agent => {
    const open = vettedConnector(options)
    const connect: buildConnector.connector = (target, done) =>
      open(target, (...outcome) => {
        // What waits for the connection starts before `done` returns.
        isOpening = true
        done(...outcome)
        isOpening = false
      })
    const { Agent } = undici()
    return new Agent({ connect, pipelining: 1, keepAliveTimeout: 30_000, keepAliveMaxTimeout: 30_000 })
  }
  let isClosed = false
  return {
    agent() {
      if (agent) return agent
      agent = start()
      if (isClosed) void agent.destroy()
      return agent
    },
    isOpening: () => isOpening,
    async close() {
      isClosed = true
      await agent?.destroy()
    },
  }
}

function vettedConnector({ reach, timeout, lookup = resolving(), ca }: ConnectOptions): buildConnector.connector {
  const open = undici().buildConnector({
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
