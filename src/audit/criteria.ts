// What the audit trail is searched by: conditions on its rows as data, and as SQL. Values only ever travel as parameters.
import { clientKey, packId, placeInTime } from './packed.ts'
import { periodOf } from './period.ts'

/** Columns of a row that hold one text. */
type TextColumn =
  | 'action'
  | 'address'
  | 'client_id'
  | 'interaction'
  | 'organization_id'
  | 'outcome'
  | 'request_id'
  | 'token_id'

/** A condition on a row. */
export type AuditTest =
  | {
      readonly column: TextColumn
      readonly among: readonly string[]
      /** Of organizations, the keys of all their clients, if they are few. */
      readonly clientKeys?: readonly number[]
    }
  /** A part of the text, whatever the case: how it begins, or anything in it. */
  | { readonly column: TextColumn; readonly begins: string }
  | { readonly column: TextColumn; readonly contains: string }
  /** In ms, both ends inclusive; undefined: open. */
  | { readonly from?: number; readonly to?: number }
  | { readonly row: { readonly chain: number; readonly sequence: number } }
  /** One of these patients is named, or something of theirs was disclosed or changed. */
  | { readonly patient: string }
  /** How many patients there are: one, or any. */
  | { readonly patients: 'one' | 'some' }
  /** The resource that it is about; without a type, of any. */
  | { readonly resource: { readonly type?: string; readonly id: string } }
  /** It names a resource, or says what was asked for. */
  | { readonly shows: 'resource' | 'query' }
  | { readonly all: readonly AuditTest[] }
  | { readonly any: readonly AuditTest[] }
  | { readonly not: AuditTest }

/** The test that one of these is met: all values of a column are one test, so that many are not as many conditions. */
export function anyTest(tests: readonly AuditTest[]): AuditTest {
  const partsOf = (test: AuditTest): readonly AuditTest[] => ('any' in test ? test.any.flatMap(partsOf) : [test])
  const values = new Map<TextColumn, string[]>()
  const others: AuditTest[] = []
  for (const part of tests.flatMap(partsOf)) {
    if ('among' in part) values.set(part.column, (values.get(part.column) ?? []).concat(part.among))
    else others.push(part)
  }
  return { any: [...others, ...[...values].map(([column, among]) => ({ column, among }))] }
}

/** Every row, and none. */
export const everyRow: AuditTest = { all: [] }
export const noRow: AuditTest = { any: [] }

/**
 * True if a test may match a row of the archived part of the trail, which the database does not have.
 * @param until when the newest of its rows was recorded, in ms
 * @param period the last one
 */
export function mayMatchArchived(test: AuditTest, until: number, period: number): boolean {
  if ('all' in test) return test.all.every(each => mayMatchArchived(each, until, period))
  if ('any' in test) return test.any.some(each => mayMatchArchived(each, until, period))
  if ('row' in test) return periodOf(test.row.chain) <= period
  return !('from' in test) || test.from === undefined || test.from <= until
}

const sqlOf: Readonly<Record<'one' | 'some' | 'resource' | 'query', string>> = {
  one: 'cardinality(patients) = 1',
  some: `packed_patients <> ''`,
  resource: `(resource_type <> '' and resource_id ~ '^[A-Za-z0-9.-]{1,64}$')`,
  query: `packed_query <> ''`,
}

/** Adds a value to a statement, and returns its placeholder. */
type Bind = (value: unknown) => string

/**
 * The condition as SQL on a row of `audit_event`.
 * @param isKeyed true if rows are found by the keys of their clients, so that the condition need not name them
 */
export function auditCondition(test: AuditTest, bind: Bind, isKeyed: boolean): string {
  const joined = (tests: readonly AuditTest[], word: 'and' | 'or', none: string): string =>
    tests.length === 0 ? none : `(${tests.map(each => auditCondition(each, bind, isKeyed)).join(` ${word} `)})`
  if ('all' in test) return joined(test.all, 'and', 'true')
  if ('any' in test) return joined(test.any, 'or', 'false')
  if ('not' in test) return `(${auditCondition(test.not, bind, isKeyed)}) is not true`
  if ('among' in test) return amongCondition(test, bind, isKeyed)
  if ('begins' in test) return `starts_with(lower(${test.column}), lower(${bind(test.begins)}::text))`
  if ('contains' in test) return `position(lower(${bind(test.contains)}::text) in lower(${test.column})) > 0`
  if ('row' in test) return `(chain = ${bind(test.row.chain)}::int and sequence = ${bind(test.row.sequence)}::bigint)`
  // The index of patients holds those rows only that name any.
  if ('patient' in test)
    return `(packed_patients <> '' and patient_keys && array[${bind(packId(test.patient))}::bytea])`
  if ('patients' in test) return sqlOf[test.patients]
  if ('shows' in test) return sqlOf[test.shows]
  if ('resource' in test) return resourceCondition(test.resource, bind)
  const place = (time: number): string => {
    const [second, millisecond] = placeInTime(time)
    return `(${bind(second)}::bigint, ${bind(millisecond)}::smallint)`
  }
  const { from, to } = test
  const bounds = [
    ...(from === undefined ? [] : [`(second, millisecond) >= ${place(from)}`]),
    ...(to === undefined ? [] : [`(second, millisecond) <= ${place(to)}`]),
  ]
  return bounds.length === 0 ? 'true' : `(${bounds.join(' and ')})`
}

/** Returns the keys of the clients that all matches are of, each once; undefined if they may be of any. */
export function clientKeysOf(test: AuditTest): readonly number[] | undefined {
  if ('all' in test) {
    const each = test.all.map(clientKeysOf).filter(keys => keys !== undefined)
    const [first, ...others] = each.map(keys => new Set(keys))
    return first && [...others.reduce((both, keys) => both.intersection(keys), first)]
  }
  if ('any' in test) {
    const each = test.any.map(clientKeysOf)
    return each.every(keys => keys !== undefined) ? [...new Set(each.flat())] : undefined
  }
  if (!('among' in test)) return undefined
  return test.column === 'client_id' ? [...new Set(test.among.map(clientKey))] : test.clientKeys
}

/**
 * Clients, organizations whose clients are known, and requests are found by what rows hold in the place of their ids. The id of the client
 * says once more what its key says: within coalesce it does not count twice for the planner.
 */
function amongCondition(
  { column, among, clientKeys }: Extract<AuditTest, { among: unknown }>,
  bind: Bind,
  isKeyed: boolean,
): string {
  if (column === 'request_id') return `request = any(${bind(among.map(packId))}::bytea[])`
  const is = `${column}::text = any(${bind(among)}::text[])`
  const keys = column === 'client_id' ? among.map(clientKey) : clientKeys
  if (!keys) return is
  const said = `coalesce(${is}, false)`
  return isKeyed ? said : `(client_key = any(${bind(keys)}::integer[]) and ${said})`
}

function resourceCondition({ type, id }: { type?: string; id: string }, bind: Bind): string {
  const packed = `${bind(packId(id))}::bytea`
  const ofType = type === undefined ? `resource_type <> ''` : `resource_type = ${bind(type)}`
  return `(resource <> '' and hashtext(encode(resource, 'hex')) = hashtext(encode(${packed}, 'hex')) and resource = ${packed} and ${ofType})`
}
