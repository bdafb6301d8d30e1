// The sender of a request, and the address by which it knows this server, behind proxies
// (https://www.rfc-editor.org/rfc/rfc7239, X-Forwarded-For, -Proto and -Host). Only the proxies that the operator names
// are trusted: any client can send such headers.
import type { IncomingHttpHeaders } from 'node:http'
import { type BlockList, isIP } from 'node:net'

export interface Sender {
  /** IP address of the client, as far as trusted proxies report it. */
  readonly address: string
  /** Address of this server as the client wrote it, without trailing slash. */
  readonly baseUrl: string
}

/** What one proxy reports of the request it received. */
interface Hop {
  readonly for?: string
  readonly host?: string
  readonly proto?: string
}

/** Returns what is known of the sender of a request. */
export function senderOf(headers: IncomingHttpHeaders, socketAddress: string, trusted: BlockList): Sender {
  const direct = plain(socketAddress)
  const hops = isIn(trusted, direct) ? hopsOf(headers) : []
  const first = hops[0]
  const host = first?.host !== undefined && isHost(first.host) ? first.host : headers.host || 'localhost'
  const proto = first?.proto?.toLowerCase() === 'https' ? 'https' : 'http'
  return { address: clientAddress(hops, direct, trusted), baseUrl: `${proto}://${host}` }
}

/** From the nearest proxy outward: the first address that is not a trusted proxy's is the client's. */
function clientAddress(hops: readonly Hop[], direct: string, trusted: BlockList): string {
  let known = direct
  for (const hop of hops.toReversed()) {
    if (!isIn(trusted, known) || hop.for === undefined) return known
    const address = plain(hop.for)
    if (isIP(address) === 0) return known
    known = address
  }
  return known
}

function hopsOf(headers: IncomingHttpHeaders): Hop[] {
  const forwarded = headers.forwarded
  if (forwarded !== undefined) return forwarded.split(',').map(hop)
  const [from, hosts, protos] = ['for', 'host', 'proto'].map(name => listOf(headers[`x-forwarded-${name}`]))
  const length = Math.max(from!.length, hosts!.length > 0 || protos!.length > 0 ? 1 : 0)
  return Array.from({ length }, (_, index) => ({ for: from![index], host: hosts![index], proto: protos![index] }))
}

const listOf = (header: string | string[] | undefined): string[] =>
  header === undefined
    ? []
    : String(header)
        .split(',')
        .map(part => part.trim())

function hop(text: string): Hop {
  const pairs = text.split(';').map(pair => {
    const [, name, value = ''] = /^\s*(\w+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
    return [name?.toLowerCase(), value.replace(/^"(.*)"$/, '$1')]
  })
  return Object.fromEntries(pairs)
}

/** An address without port, brackets and the mapping of IPv4 into IPv6. */
export function plain(text: string): string {
  const bare = text.replace(/^\[([^\]]*)\](:\d+)?$/, '$1').replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
  return bare.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')
}

/** True if a list of networks holds the address. */
export function isIn(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/** True for a host as it stands in a Host header, with or without a port. */
export const isHost = (text: string): boolean =>
  /^(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/.test(text)
