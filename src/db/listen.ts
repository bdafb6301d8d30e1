// Notifications of PostgreSQL: one connection listens to all channels of a process, and connects again when it is lost.
import type pg from 'pg'
import { translated } from './ask.ts'
import type { Clients } from './clients.ts'

/** Receives the payload of a notification; undefined: the connection was lost, so that some may have been missed. */
type Heard = (payload: string | undefined) => void

export type Listen = (channel: string, heard: Heard) => Promise<{ close(): Promise<void> }>

/** Milliseconds before a lost connection is replaced. */
const pause = 500

/** Milliseconds between two questions to the server: a connection that only listens would not notice that it is gone. */
const signEvery = 5000

/** Returns `listen`, which connects for the first channel, and ends the connection with the last. */
export function createListening({ Client }: Clients, config: pg.ClientConfig): Listen {
  const hearers = new Map<string, Set<Heard>>()
  let client: pg.Client | undefined
  let connecting: Promise<pg.Client> | undefined
  let retry: NodeJS.Timeout | undefined

  const connect = async (): Promise<pg.Client> => {
    const fresh = (client = new Client({ ...config, statement_timeout: 0, connectionTimeoutMillis: 10_000 }))
    fresh.on('notification', ({ channel, payload }) => {
      for (const heard of [...(hearers.get(channel) ?? [])]) heard(payload ?? '')
    })
    await fresh.connect()
    const sign = setInterval(() => void fresh.query('select 1').catch(() => {}), signEvery).unref()
    fresh.once('end', () => {
      clearInterval(sign)
      if (client === fresh) again()
    })
    try {
      for (const channel of [...hearers.keys()]) await listenTo(fresh, channel)
    } catch (error) {
      fresh.end().catch(() => {})
      throw error
    }
    return fresh
  }
  /** Replaces a connection that was lost. */
  const again = (): void => {
    connecting = undefined
    clearTimeout(retry)
    if (hearers.size > 0) retry = setTimeout(reconnect, pause).unref()
  }
  const reconnect = async (): Promise<void> => {
    try {
      await (connecting ??= connect())
      for (const heard of [...hearers.values()].flatMap(each => [...each])) heard(undefined)
    } catch {
      again()
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
