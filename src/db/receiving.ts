// How connections receive. What arrives is read into one piece of memory for all of them, handled there, and left: Node would make a
// buffer for each piece, which costs as much as reading a page of resources out of it. Rows of statements go where they are collected;
// all else goes to pg.
import { EventEmitter } from 'node:events'
import { Socket } from 'node:net'
import pg from 'pg'
import { createFrames, type Frames, header } from './frames.ts'
import { type Column, Rows } from './rows.ts'

/** A statement whose rows are collected from bytes. */
export interface Collecting {
  readonly name: string | undefined
  readonly received: Rows
}

const isCollecting = (query: unknown): query is Collecting =>
  (query as Partial<Collecting> | null | undefined)?.received instanceof Rows

/** Codes of messages (https://www.postgresql.org/docs/current/protocol-message-formats.html). */
const code = { row: 0x44, description: 0x54, noData: 0x6e, bound: 0x32, complete: 0x43, ready: 0x5a }

/** Most bytes that arrive at once. */
const fullRead = 65_536

/** What arrives is handled before anything else can: all connections of the process share it. */
const arrived = Buffer.allocUnsafeSlow(fullRead)

export interface Receiving {
  /** Adds to the settings of a connection. */
  configured(config: pg.ClientConfig): pg.ClientConfig
  /** Has the connection receive in this way. To be called when it is made. */
  begin(client: pg.Client): void
}

const receiving = new WeakSet<object>()

/** True for the connections of pg that receive in this way. */
export const receives = (connection: object): boolean => receiving.has(connection)

/** Made for each connection. One that is encrypted receives buffers from the module that decrypts them. */
export function createReceiving(): Receiving {
  let frames: Frames
  let plain: Socket | undefined

  /** @returns false if nothing more is to arrive for now */
  function receive(socket: Socket, piece: Buffer, size: number): boolean {
    try {
      frames.add(piece, size)
    } catch (error) {
      socket.destroy(error as Error)
    }
    // Otherwise a large answer holds the event loop for as long as more of it is there.
    const isFull = size >= fullRead
    if (isFull) setImmediate(() => socket.resume())
    return !isFull
  }

  const open = ({ ssl }: { readonly ssl?: unknown }): Socket => {
    if (ssl) return new Socket()
    const made = new Socket({
      onread: {
        buffer: arrived,
        callback: size => receive(made, arrived, size),
      },
    })
    return (plain = made)
  }

  return {
    // pg calls it with its settings, those of the address among them.
    configured: config => ({ ...config, stream: open as () => Socket }),
    begin(client) {
      const { connection } = client as unknown as Inside
      const others = new EventEmitter()
      connection.attachListeners(others as Socket)
      frames = createFrames(handlerOf(client as unknown as Inside, bytes => others.emit('data', bytes)))
      const attach = (socket: Socket): void => {
        const take = (piece: Buffer): void => void (receive(socket, piece, piece.length) || socket.pause())
        if (socket !== plain) socket.on('data', take)
      }
      connection.attachListeners = attach
      receiving.add(connection)
    },
  }
}

/** @param pass gives complete messages to pg */
function handlerOf(client: Inside, pass: (bytes: Buffer) => void) {
  const known = new Map<string, Description>()

  /** A prepared statement has the same columns each time: its description is read once. */
  function describe({ name, received }: Collecting, bytes: Buffer, start: number, end: number): void {
    const before = name === undefined ? undefined : known.get(name)
    if (before?.length === end - start) return received.describe(before.columns)
    const columns = columnsIn(bytes, start + header, client._types)
    if (name !== undefined) known.set(name, { length: end - start, columns })
    received.describe(columns)
  }

  return (bytes: Buffer, start: number, end: number): void => {
    const kind = bytes[start]
    const query = client._getActiveQuery()
    if (!isCollecting(query)) return pass(Buffer.from(bytes.subarray(start, end)))
    if (kind === code.row) query.received.add(bytes, start + header)
    else if (kind === code.description) describe(query, bytes, start, end)
    // pg reads these at once, and keeps nothing of them.
    else if (kind === code.complete || kind === code.ready) pass(bytes.subarray(start, end))
    else if (kind !== code.bound && kind !== code.noData) pass(Buffer.from(bytes.subarray(start, end)))
  }
}

interface Description {
  readonly length: number
  readonly columns: readonly Column[]
}

const { INT2, INT4, INT8, TEXT } = pg.types.builtins
const integers: ReadonlySet<number> = new Set([INT2, INT4, INT8])

/** Reads the columns out of a description of rows. */
function columnsIn(bytes: Buffer, start: number, types: Types): Column[] {
  let at = start + 2
  return Array.from({ length: bytes.readInt16BE(start) }, () => {
    const end = bytes.indexOf(0, at)
    const name = bytes.toString('utf8', at, end)
    const type = bytes.readUInt32BE(end + 7)
    at = end + 19
    const kind = integers.has(type) ? 'integer' : type === TEXT ? 'text' : 'other'
    return { name, kind, parse: types.getTypeParser(type, 'text') }
  })
}

interface Types {
  getTypeParser(type: number, format: 'text'): (text: string) => unknown
}

/** Members of pg that its types lack. */
interface Inside {
  readonly connection: { attachListeners(stream: Socket): void }
  readonly _types: Types
  _getActiveQuery(): unknown
}
