// Cancels a running statement: sends PostgreSQL a request on a separate connection, with the secret key of the busy one
// (https://www.postgresql.org/docs/18/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS).
import pg from 'pg'

/** Members of pg's Client and Connection that its types lack. */
interface Busy {
  readonly host: string
  readonly port: number
  readonly ssl: boolean | object
  readonly sslNegotiation: 'postgres' | 'direct'
  readonly processID: number
  readonly secretKey: number
}

interface Messenger extends pg.Connection {
  connect(portOrPath: number | string, host?: string): void
  requestSsl(): void
  cancel(processID: number, secretKey: number): void
}

/** Milliseconds for the request to arrive. */
const patience = 5000

/**
 * Requests that PostgreSQL end the statement that runs on a connection, without waiting for it. The request can arrive late, so the
 * connection must be closed afterwards: a reused connection could lose another client's statement.
 */
export function cancelOn(client: pg.ClientBase): void {
  const busy = client as unknown as Busy
  const messenger = new pg.Connection({ ssl: busy.ssl, sslNegotiation: busy.sslNegotiation } as object) as Messenger
  const deadline = setTimeout(() => messenger.stream.destroy(), patience).unref()
  const say = (): void => messenger.cancel(busy.processID, busy.secretKey)
  // One that does not arrive leaves the statement to its time limit.
  messenger.on('error', () => messenger.stream.destroy())
  messenger.once('end', () => clearTimeout(deadline))
  messenger.once('sslconnect', say)
  messenger.once('connect', () => {
    if (!busy.ssl) say()
    else if (busy.sslNegotiation !== 'direct') messenger.requestSsl()
  })
  if (busy.host.startsWith('/')) messenger.connect(`${busy.host}/.s.PGSQL.${busy.port}`)
  else messenger.connect(busy.port, busy.host)
}
