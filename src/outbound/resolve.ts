// Resolves the names of receivers by asking name servers directly (c-ares). The system's resolver blocks one of the few
// threads of a process for as long as a name server is silent: receivers with unanswered names would delay all others.
import { Resolver, lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'

type Ask = (name: string, done: (error: NodeJS.ErrnoException | null, addresses: string[]) => void) => void

export interface ResolveOptions {
  readonly resolve4: Ask
  readonly resolve6: Ask
  /** For names that name servers do not know: those of the hosts file, and of this machine. */
  readonly system: LookupFunction
}

const resolver = new Resolver({ timeout: 2000, tries: 2 })

const asked: ResolveOptions = {
  resolve4: (name, done) => resolver.resolve4(name, done),
  resolve6: (name, done) => resolver.resolve6(name, done),
  system: systemLookup as LookupFunction,
}

/** A lookup of all addresses of a name; one without an answer fails as `EAI_AGAIN`. */
export function resolving({ resolve4, resolve6, system }: ResolveOptions = asked): LookupFunction {
  return (hostname, options, done) => {
    if (hostname === 'localhost' || hostname.endsWith('.localhost')) return system(hostname, options, done)
    void Promise.all([addresses(resolve4, hostname, 4), addresses(resolve6, hostname, 6)]).then(found => {
      const all = found.flatMap(({ addresses }) => addresses)
      if (all.length > 0) return done(null, all)
      if (found.some(({ isSilent }) => isSilent)) return done(silent(hostname), [])
      system(hostname, options, done)
    })
  }
}

interface Found {
  readonly addresses: { readonly address: string; readonly family: number }[]
  /** True if no name server answered in time. */
  readonly isSilent: boolean
}

function addresses(ask: Ask, hostname: string, family: number): Promise<Found> {
  return new Promise(resolve =>
    ask(hostname, (error, found) =>
      resolve({
        addresses: error ? [] : found.map(address => ({ address, family })),
        isSilent: error?.code === 'ETIMEOUT',
      }),
    ),
  )
}

const silent = (hostname: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`No DNS server responds for ${hostname}.`), { code: 'EAI_AGAIN' })
