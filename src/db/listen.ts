// Notifications of PostgreSQL: one connection listens to all channels of a process, and connects again when it is lost.
import pg from 'pg'
import { translated } from './ask.ts'

/** Receives the payload of a notification; undefined: the connection was lost, so that some may have been missed. */
type Heard = (payload: string | undefined) => void

export type Listen = (channel: string, heard: Heard) => Promise<{ close(): Promise<void> }>

/** Milliseconds before a lost connection is replaced. */
const pause = 500

/** Returns `listen`, which connects for the first channel, and ends the connection with the last. */
export function createListening(config: pg.ClientConfig): Listen {
  const hearers = new Map<string, Set<Heard>>()
  let client: pg.Client | undefined
  let connecting: Promise<pg.Client> | undefined
  let retry: NodeJS.Timeout | undefined

  const connect = async (): Promise<pg.Client> => {
    const fresh = (client = new pg.Client({
      ...config,
      statement_timeout: 0,
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
    }))
    fresh.on('error', () => {})
    fresh.on('notification', ({ channel, payload }) => {
      for (const heard of [...(hearers.get(channel) ?? [])]) heard(payload ?? '')
    })
    // pg emits `end` once for each client, also for one that never connected: exactly one successor each.
    fresh.on('end', () => {
      if (client !== fresh || hearers.size === 0) return
      connecting = undefined
      retry = setTimeout(reconnect, pause).unref()
    })
    await fresh.connect()
    for (const channel of [...hearers.keys()]) await listenTo(fresh, channel)
    return fresh
  }
  const reconnect = async (): Promise<void> => {
    try {
      await (connecting ??= connect())
      for (const heard of [...hearers.values()].flatMap(each => [...each])) heard(undefined)
    } catch {
      await client?.end().catch(() => {})
    }
  }
  const remove = async (channel: string, heard: Heard): Promise<void> => {
    const others = hearers.get(channel)
    if (others?.delete(heard) && others.size === 0) hearers.delete(channel)
    if (hearers.size > 0) return
    clearTimeout(retry)
    const last = client
    client = undefined
    connecting = undefined
    await last?.end()
  }
  return async (channel, heard) => {
    const others = hearers.get(channel)
    hearers.set(channel, (others ?? new Set()).add(heard))
    try {
      const connection = connecting
      if (connection) await listenTo(await connection, channel)
      else await (connecting = connect())
    } catch (error) {
      await remove(channel, heard)
      throw translated(error)
    }
    return { close: () => remove(channel, heard) }
  }
}

async function listenTo(client: pg.Client, channel: string): Promise<void> {
  await client.query(`listen ${client.escapeIdentifier(channel)}`)
}
