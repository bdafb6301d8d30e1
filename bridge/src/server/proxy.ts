// The proxy on the way to the server, as the environment names it: HTTPS_PROXY and NO_PROXY, in capitals or small letters.
import { isLoopback } from '../config-check.ts'
import { Problem } from '../problem.ts'

export interface HttpProxy {
  /** With the credentials, if it wants some. */
  readonly url: string
  /** Host and port, for people. */
  readonly name: string
}

type Environment = Readonly<Record<string, string | undefined>>

const named = (env: Environment, name: string): string => env[name.toLowerCase()] || env[name] || ''

/** Returns the proxy to a server; undefined: the way is direct. @throws Problem if there is no such proxy */
export function proxyFor(server: string, env: Environment = process.env): HttpProxy | undefined {
  const { hostname, port } = new URL(server)
  const text = named(env, 'HTTPS_PROXY')
  if (text === '' || isLoopback(hostname) || isExcepted(hostname, port || '443', named(env, 'NO_PROXY')))
    return undefined
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new Problem('HTTPS_PROXY in the environment must be the address of a proxy: http://proxy.example.org:3128')
  return { url: url.href, name: url.host }
}

/** A list of host names, each with its subdomains, some with a port; `*` is all. */
function isExcepted(host: string, port: string, list: string): boolean {
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(each => each !== '')
    .some(each => {
      const [, name = '', only] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(each)!
      const isHost = each === '*' || host === name || host.endsWith(`.${name}`)
      return isHost && (only === undefined || only === port)
    })
}
