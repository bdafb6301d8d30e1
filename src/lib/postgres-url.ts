// The address of a PostgreSQL database, which may name several servers as libpq does
// (https://www.postgresql.org/docs/18/libpq-connect.html#LIBPQ-CONNSTRING-URIS). No error repeats any part of it.

/** Where a server listens. */
export interface PostgresHost {
  /** Name, IP address, or the folder of a Unix socket. */
  readonly host: string
  readonly port: number
}

/** An address, taken apart. */
export interface PostgresAddress {
  /** The same with the first server alone: user, password, database and all other parameters hold for each of them. */
  readonly url: string
  readonly hosts: readonly PostgresHost[]
  /** True if only the server is suitable that accepts changes. */
  readonly needsPrimary: boolean
}

const usual = 'postgres://user:password@host:port/database'
const defaultPort = 5432

/** The parameters that pg does not know, or that are the hosts themselves. */
const own = new Set(['host', 'port', 'target_session_attrs'])

/**
 * Takes an address apart. One server without `target_session_attrs` is left to pg as it stands.
 * @throws Error that says what was expected, as in "must be …".
 */
export function postgresAddress(text: string): PostgresAddress {
  const [, scheme, rest] = /^(postgres(?:ql)?:\/\/)(.*)$/s.exec(text) ?? []
  if (scheme === undefined || rest === undefined) throw new Error(usual)
  const { userInfo, hosts: named, path, parameters } = partsOf(rest)
  const attributes = parameterOf(parameters, 'target_session_attrs')
  const listed = listOf(named, parameterOf(parameters, 'host'), parameterOf(parameters, 'port'))
  const hosts = listed.map(hostOf)
  mustBeUnique(hosts)
  if (attributes !== undefined && !['read-write', 'primary'].includes(attributes))
    throw new Error(
      `an address with target_session_attrs=primary (or read-write, the same), or without it: the service writes, so no other server suits it`,
    )
  const needsPrimary = hosts.length > 1 || attributes !== undefined
  if (!needsPrimary) return { url: text, hosts, needsPrimary }
  const [{ host, port }] = hosts as [PostgresHost]
  const others = parameters.filter(each => !own.has(nameOf(each)))
  const query = [`host=${encodeURIComponent(host)}`, `port=${port}`, ...others].join('&')
  return { url: `${scheme}${userInfo}localhost${path}?${query}`, hosts, needsPrimary }
}

interface Parts {
  /** With its `@`, as it was written. */
  readonly userInfo: string
  readonly hosts: string
  readonly path: string
  /** Each as it was written. */
  readonly parameters: readonly string[]
}

function partsOf(rest: string): Parts {
  const [, authority = '', path = '', query = ''] = /^([^/?]*)([^?]*)\??(.*)$/s.exec(rest)!
  const at = authority.lastIndexOf('@') + 1
  return {
    userInfo: authority.slice(0, at),
    hosts: authority.slice(at),
    path,
    parameters: query.split('&').filter(Boolean),
  }
}

const nameOf = (parameter: string): string => parameter.split('=', 1)[0]!

function parameterOf(parameters: readonly string[], name: string): string | undefined {
  const found = parameters.findLast(each => nameOf(each) === name)
  return found === undefined ? undefined : decoded(found.slice(name.length + 1))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error(`${usual}, in which % stands before two hexadecimal digits only`)
  }
}

interface Listed {
  readonly host: string
  readonly port: string
}

/** The servers: those before the path, or those of the parameters `host` and `port`. */
function listOf(named: string, hosts: string | undefined, ports: string | undefined): Listed[] {
  if (hosts === undefined && ports === undefined) return named.split(',').map(split)
  if (named.includes(','))
    throw new Error(`${usual}, with the hosts in one place: before the path, or as ?host=…&port=…`)
  const names = hosts === undefined ? [split(named).host] : hosts.split(',')
  const numbers = ports === undefined ? [split(named).port] : ports.split(',')
  if (numbers.length !== 1 && numbers.length !== names.length)
    throw new Error(`${usual}, with one port, or one for each host (${names.length}, not ${numbers.length})`)
  return names.map((host, index) => ({ host, port: numbers[index] ?? numbers[0]! }))
}

/** `host:port`, in which an IPv6 address has brackets. */
function split(each: string): Listed {
  const [, address, host = '', port = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/s.exec(each) ?? []
  return { host: address ?? decoded(host), port }
}

function hostOf({ host, port }: Listed, index: number): PostgresHost {
  const number = port === '' ? defaultPort : Number(port)
  if (!/^\d*$/.test(port) || number < 1 || number > 65_535)
    throw new Error(
      `${usual}, with a port from 1 to 65535 (that of host ${index + 1} is another, or the host is an IPv6 address without brackets)`,
    )
  if (/[\s,@]/.test(host)) throw new Error(`${usual}: host ${index + 1} holds a character that no host has`)
  return { host: host || 'localhost', port: number }
}

function mustBeUnique(hosts: readonly PostgresHost[]): void {
  const names = new Set(hosts.map(({ host, port }) => `${host}:${port}`))
  if (names.size < hosts.length) throw new Error(`${usual}, in which no host is named twice`)
}

/** A server, as logs name it. */
export const nameOfHost = ({ host, port }: PostgresHost): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
