// Listens for HL7 v2 over MLLP: many senders at a time, each on its own connection.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { MllpSource } from '../config-shape.ts'
import { tls as nodeTls } from '../lazy-tls.ts'
import { Problem } from '../problem.ts'
import { type Connection, createConnection, type Station } from './connection.ts'

export interface MllpServer {
  readonly port: number
  /** Closes connections that are idle for too long or stuck in a message. */
  sweep(): void
  /** How many are connected. */
  connections(): number
  close(): Promise<void>
}

/** Milliseconds of silence after which the other end is asked whether it is still there. */
const keepAlive = 30_000

/** Milliseconds of silence after which a connection may be closed to make room for a new one. */
const spareAfter = 60_000

export async function startMllp(station: Station): Promise<MllpServer> {
  const { source, log, name } = station
  const open = new Set<Connection>()
  const accept = (socket: Socket): void => {
    socket.on('error', error =>
      log.debug('connection broke', { source: name, code: (error as { code?: string }).code }),
    )
    if (open.size >= source.max_connections && !makeRoom(station, open)) {
      log.warn('connection refused: there are too many', { source: name, connections: open.size })
      socket.destroy()
      return
    }
    socket.setNoDelay(true)
    socket.setKeepAlive(true, keepAlive)
    const connection = createConnection(station, socket)
    open.add(connection)
    socket.on('close', () => open.delete(connection))
  }
  const server = serverFor(source, accept)
  const timer = setInterval(() => sweep(), 1000).unref()
  const sweep = (): void => open.forEach(each => each.sweep())
  await listening(server, name, source)
  const { port } = server.address() as AddressInfo
  log.info('listening for HL7 v2', { source: name, port, tls: source.tls !== undefined })
  return {
    port,
    sweep,
    connections: () => open.size,
    async close() {
      clearInterval(timer)
      const closed = once(server, 'close')
      server.close()
      // What was received is still stored and answered: it takes two more turns.
      for (const { socket } of open) socket.pause()
      for (let turn = 0; turn < 3; turn++) await new Promise(done => setImmediate(done))
      for (const { socket } of open) socket.destroySoon()
      await closed
    },
  }
}

/** Closes the connection that has been silent longest, if it has been for a minute; devices that lose power never close theirs. */
function makeRoom({ clock, log, name }: Station, open: Set<Connection>): boolean {
  const idle = [...open].filter(each => !each.isBusy()).sort((one, other) => one.heardAt() - other.heardAt())[0]
  if (!idle || clock.now() - idle.heardAt() < spareAfter) return false
  log.info('closed the connection that was silent longest, to make room', { source: name })
  open.delete(idle)
  idle.socket.destroy()
  return true
}

function serverFor({ tls }: MllpSource, accept: (socket: Socket) => void): Server {
  if (!tls) return createServer(accept)
  const { certificate_file, key_file, client_ca_file } = tls
  const secure = nodeTls().createServer(
    {
      cert: readFileSync(certificate_file),
      key: readFileSync(key_file),
      ...(client_ca_file ? { ca: readFileSync(client_ca_file), requestCert: true, rejectUnauthorized: true } : {}),
    },
    accept,
  )
  secure.on('tlsClientError', () => {})
  return secure
}

async function listening(server: Server, name: string, { port, host }: MllpSource): Promise<void> {
  server.listen(port, host)
  await once(server, 'listening').catch(error => {
    throw new Problem(`Source ${name} cannot listen on ${host}:${port} (${error.code}): is the port in use?`)
  })
}
