// Batches: the next items in order, numbered and bound together on disk before they are sent, so that a repetition is the same.
import { createHash, randomUUID } from 'node:crypto'
import { payloadOf, type Stored } from './items.ts'
import { read, write } from './meta.ts'
import type { State } from './state.ts'

export interface Batch {
  readonly batchId: string
  readonly items: readonly Stored[]
  readonly skipped: readonly number[]
  /** JSON text of the request. */
  readonly body: string
}

interface Head {
  readonly batch_id: string
  readonly facility_id: string | null
  readonly skipped: string
  readonly digest: string
}

export interface Sender {
  readonly agentId: string
  readonly facilityId: string | undefined
}

/** Bytes of a request's items; the server takes 5 MB. */
const mostBytes = 4_700_000

const columns = 'id, item_id, source, type, op, occurred_at, payload, seq, attempts'

const next = `
  select ${columns} from item where batch_id is null and (
    source not in (select source from hold) or id in (select item from hold where until <= ?)
  ) order by id limit ?`

/** The batch whose answer is not clear, as it was sent; undefined: there is none. */
export function openBatch(state: State, sender: Sender): Batch | undefined {
  const head = state.sql('select * from batch').get() as unknown as Head | undefined
  if (!head) return undefined
  const items = state.sql(`select ${columns} from item where batch_id = ? order by seq`).all(head.batch_id)
  const batch = batchOf(state, head, items as unknown as Stored[], sender)
  if (digestOf(batch.body) === head.digest) return batch
  // An update of the agent writes it in other words, or the config names another facility: it is another batch.
  dissolve(state, head.batch_id)
  return undefined
}

/** Binds the next items together; undefined: there is nothing to send. */
export function bindBatch(state: State, sender: Sender, mostItems: number, now: number): Batch | undefined {
  return state.transaction(() => {
    const chosen = withinBytes(state.sql(next).all(now, mostItems) as unknown as Stored[])
    const skipped = state.sql('select seq from skipped order by seq limit 500').all() as unknown as { seq: number }[]
    if (chosen.length === 0 && skipped.length === 0) return undefined
    const head = {
      batch_id: randomUUID(),
      facility_id: sender.facilityId ?? null,
      skipped: JSON.stringify(skipped.map(({ seq }) => seq)),
    }
    const items = numbered(state, chosen, head.batch_id)
    const batch = batchOf(state, head, items, sender)
    state
      .sql('insert into batch values (?, ?, ?, ?)')
      .run(head.batch_id, head.facility_id, head.skipped, digestOf(batch.body))
    return batch
  })
}

/** At least one item, and as many as fit. */
function withinBytes(items: readonly Stored[]): readonly Stored[] {
  let sum = 0
  const end = items.findIndex(({ payload }, index) => (sum += payload.length + 400) > mostBytes && index > 0)
  return end < 0 ? items : items.slice(0, end)
}

/** Gives each item its number in the sequence, which stays with it, and the batch. */
function numbered(state: State, items: readonly Stored[], batchId: string): Stored[] {
  let seq = read(state, 'next_seq') ?? 1
  const result = items.map(item => ({ ...item, seq: item.seq ?? seq++ }))
  const statement = state.sql('update item set seq = ?, batch_id = ? where id = ?')
  for (const item of result) statement.run(item.seq, batchId, item.id)
  write(state, 'next_seq', seq)
  return result.sort((one, other) => one.seq - other.seq)
}

function batchOf(
  state: State,
  head: Omit<Head, 'digest'>,
  items: readonly Stored[],
  { agentId, facilityId }: Sender,
): Batch {
  const skipped = JSON.parse(head.skipped) as number[]
  const start = JSON.stringify({ batch_id: head.batch_id, agent_id: agentId, facility_id: facilityId }).slice(0, -1)
  const gaps = skipped.length > 0 ? `,"skipped":${head.skipped}` : ''
  const body = `${start}${gaps},"items":[${items.map(item => itemText(state, item)).join(',')}]}`
  return { batchId: head.batch_id, items, skipped, body }
}

function itemText(state: State, { seq, item_id, source, type, op, occurred_at, payload }: Stored): string {
  const start = JSON.stringify({ seq, item_id, source, type, op, occurred_at }).slice(0, -1)
  return `${start},"payload":${state.unseal(payload, payloadOf(item_id))}}`
}

const digestOf = (body: string): string => createHash('sha256').update(body).digest('hex')

/** Unbinds a batch: its items are sent again, in batches of other sizes and names. */
export function dissolve(state: State, batchId: string): void {
  state.sql('update item set batch_id = null where batch_id = ?').run(batchId)
  state.sql('delete from batch where batch_id = ?').run(batchId)
}
