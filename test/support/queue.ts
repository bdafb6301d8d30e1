// What deliveries are made of, in a database without a service: clients, endpoints, events and what is due, row by row.
import { expect } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { shardOf, shards } from '../../src/store/index/shard.ts'
import { openTestDatabase } from './database.ts'

type Row = Record<string, unknown>

export interface Queue {
  readonly database: Database
  query<T extends object>(text: string, values?: readonly unknown[]): Promise<T[]>
  /** A client, which consent does not filter. @returns its id */
  client(row?: Row): Promise<string>
  /** An endpoint of a client, by default of one that nothing else belongs to. @returns its key */
  endpoint(row?: Row): Promise<number>
  /** An event, by default one that consent does not restrict. @returns its id */
  event(row?: Row): Promise<string>
  /** Has an event delivered to an endpoint, a second ago if nothing else is said. */
  due(endpoint: number, event: string, row?: Row): Promise<void>
  /** Puts any row anywhere. */
  put(table: string, row: Row): Promise<Row>
  /** Where the rows of an id are to be, in the bucket of a patient's hash if there is one; the directory has it from then on. */
  place(of: { readonly type: number; readonly id: string }, self?: number): Promise<{ key: number; shard: number }>
  /** Leaves nothing of all that. */
  clear(): Promise<void>
}

const tables = ['webhook_delivery', 'webhook_attempt', 'webhook_health', 'webhook_endpoint', 'event', 'event_outbox']
const cleared = `with ${tables.map(table => `of_${table} as (delete from ${table})`)} select`

/** A time that is so many seconds from now. */
export const within = (seconds: number): unknown =>
  expect.toSatisfy((time: Date) => Math.abs(time.getTime() - Date.now() - seconds * 1000) < 5000, `in ${seconds} s`)

/** An empty queue in a database of its own. */
export async function openQueue(): Promise<Queue> {
  const database = await openTestDatabase(4)
  let number = 0
  const next = (prefix: string): string => `${prefix}${String(++number).padStart(4, '0')}`
  const put = async (table: string, row: Row): Promise<Row> => {
    const columns = Object.keys(row)
    const [made] = await database.query<Row>({
      text: `insert into ${table} (${columns}) values (${columns.map((_, at) => `$${at + 1}`)}) returning *`,
      values: Object.values(row),
    })
    return made!
  }
  const client = async (row: Row = {}): Promise<string> => {
    const made = { id: next('client'), organization_id: 'clinic', name: 'Subscriber', consent_exempt: true, ...row }
    return (await put('client', { scopes: ['system/*.rs'], ...made }))['id'] as string
  }
  return {
    ...{ database, put, client },
    async place({ type, id }, self = 0) {
      const text = 'select key, shard from directory where type = $1 and id = $2'
      const [known] = await database.query<{ key: number; shard: number }>({ text, values: [type, id] })
      if (known) return known
      const shard = shardOf(BigInt(self))
      const key = ++number * shards + shard
      await put('directory', { key, shard, type, id })
      return { key, shard }
    },
    query: (text, values = []) => database.query({ text, values }),
    async endpoint(row = {}) {
      const made = { id: next('whs_'), client_id: row['client_id'] ?? (await client()), author: 0, organization: 0 }
      const target = { url: 'https://clinic.example.org/hooks', events: [], secrets: Buffer.alloc(0) }
      return (await put('webhook_endpoint', { ...made, ...target, ...row }))['key'] as number
    },
    async event(row = {}) {
      const resource = { type: 1, resource_id: next('resource'), version: 1 }
      const about = { audience: '*', patient: '', patients: '', request_id: 'request' }
      const made = { id: next('evt_'), event: 'encounter.created', body: '{}', ...resource, ...about, ...row }
      return (await put('event', made))['id'] as string
    },
    async due(endpoint, event, row = {}) {
      const made = { endpoint, event, id: crypto.randomUUID(), due_at: new Date(Date.now() - 1000) }
      await put('webhook_delivery', { ...made, ...row })
    },
    async clear() {
      await database.query({ text: cleared, values: [] })
    },
  }
}
