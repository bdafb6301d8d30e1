// JSON of files and of programs as drafts of items: items as the protocol writes them, FHIR resources, or bare payloads of one type.
import { type ItemType, itemTypes } from '../../../src/lib/bridge-item-types.ts'

export interface Draft {
  readonly type: ItemType
  readonly op: 'upsert' | 'delete'
  readonly payload: unknown
  readonly itemId?: string
  readonly occurredAt?: string
}

/** What is wrong with a record; the message names its number and the field, and quotes nothing. */
export class DraftFault extends Error {
  readonly field: string | undefined
  constructor(message: string, field?: string) {
    super(message)
    this.field = field
  }
}

/**
 * Reads a text. @param isLines one JSON value a line (NDJSON) @param type of what does not say its own
 * @throws DraftFault
 */
export function draftsOf(text: string, isLines: boolean, type: string | undefined): Draft[] {
  if (isLines)
    return text
      .split(/\r?\n/)
      .map((line, index) => ({ line, index }))
      .filter(({ line }) => line.trim() !== '')
      .map(({ line, index }) => draftOf(parsed(line, `Line ${index + 1}`), `Line ${index + 1}`, type))
  const value = parsed(text, 'The file')
  const list = Array.isArray(value) ? value : itemsOf(value)
  return list.map((each, index) => draftOf(each, `Record ${index + 1}`, type))
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new DraftFault(`${where} is not JSON.`)
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `{items: […]}` as the protocol writes it, or the value itself. */
const itemsOf = (value: unknown): unknown[] =>
  isObject(value) && Array.isArray(value['items']) && !('resourceType' in value) ? value['items'] : [value]

/** @throws DraftFault */
function draftOf(value: unknown, where: string, type: string | undefined): Draft {
  if (!isObject(value)) throw new DraftFault(`${where} is no JSON object.`)
  if (typeof value['resourceType'] === 'string') return { type: 'fhir', op: 'upsert', payload: fhir(value, where) }
  if (!isObject(value['payload'])) {
    if (type === undefined) throw new DraftFault(`${where} has no payload, and the source has no type.`, 'payload')
    return { type: typeOf(type, where), op: 'upsert', payload: value }
  }
  const { item_id: itemId, occurred_at: occurredAt, op = 'upsert', payload } = value
  if (op !== 'upsert' && op !== 'delete') throw new DraftFault(`${where}: op must be upsert or delete.`, 'op')
  if (itemId !== undefined && !(typeof itemId === 'string' && /^[!-~]{1,100}$/.test(itemId)))
    throw new DraftFault(`${where}: item_id must be 1 to 100 printable characters.`, 'item_id')
  return {
    type: typeOf(value['type'] ?? type, where),
    op,
    payload,
    ...(itemId === undefined ? {} : { itemId: itemId as string }),
    ...(occurredAt === undefined ? {} : { occurredAt: timeOf(occurredAt, where) }),
  }
}

function typeOf(value: unknown, where: string): ItemType {
  const found = itemTypes.find(each => each === value)
  if (!found) throw new DraftFault(`${where}: type must be one of ${itemTypes.join(', ')}.`, 'type')
  return found
}

/** ISO 8601 with a zone, as UTC. @throws DraftFault */
export function timeOf(value: unknown, where: string): string {
  const isWritten = typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:?\d{2})$/.test(value)
  const time = isWritten ? new Date(value) : undefined
  if (!time || Number.isNaN(time.getTime()))
    throw new DraftFault(
      `${where}: occurred_at must be a time with its zone, e.g. 2026-03-01T09:30:00+01:00.`,
      'occurred_at',
    )
  return time.toISOString()
}

function fhir(resource: Record<string, unknown>, where: string): Record<string, unknown> {
  if (resource['resourceType'] !== 'Bundle') return resource
  if (resource['type'] !== 'transaction' && resource['type'] !== 'collection')
    throw new DraftFault(`${where}: a Bundle must be of type transaction or collection.`, 'payload.type')
  return resource
}
