// The conditions by which the trail is searched, as SQL: values are parameters, whatever they hold.
import { expect, test } from 'vitest'
import { type AuditTest, anyTest, auditCondition, clientKeysOf, everyRow, noRow } from '../../src/audit/criteria.ts'
import { clientKey } from '../../src/audit/packed.ts'

const ill = `'; drop table audit_event; --`

test.each<[AuditTest, string, unknown[]]>([
  [everyRow, 'true', []],
  [noRow, 'false', []],
  [
    { column: 'client_id', among: [ill] },
    '(client_key = any($2::integer[]) and coalesce(client_id::text = any($1::text[]), false))',
    [[ill], [clientKey(ill)]],
  ],
  [{ column: 'organization_id', among: [ill] }, 'organization_id::text = any($1::text[])', [[ill]]],
  [
    { column: 'organization_id', among: [ill], clientKeys: [7, 8] },
    '(client_key = any($2::integer[]) and coalesce(organization_id::text = any($1::text[]), false))',
    [[ill], [7, 8]],
  ],
  [{ column: 'request_id', among: [ill, 'b'] }, 'request = any($1::bytea[])', [[Buffer.from(ill), Buffer.from('b')]]],
  [{ column: 'token_id', among: [ill] }, 'token_id::text = any($1::text[])', [[ill]]],
  [{ column: 'address', begins: ill }, 'starts_with(lower(address), lower($1::text))', [ill]],
  [{ column: 'request_id', contains: ill }, 'position(lower($1::text) in lower(request_id)) > 0', [ill]],
  [
    { from: 0, to: 1001 },
    '((second, millisecond) >= ($1::bigint, $2::smallint) and (second, millisecond) <= ($3::bigint, $4::smallint))',
    [-(2 ** 31), 0, 1 - 2 ** 31, 1],
  ],
  [{ from: 0 }, '((second, millisecond) >= ($1::bigint, $2::smallint))', [-(2 ** 31), 0]],
  [{ to: -1 }, '((second, millisecond) <= ($1::bigint, $2::smallint))', [-1 - 2 ** 31, 999]],
  [{}, 'true', []],
  [{ row: { chain: 7, sequence: 42 } }, '(chain = $1::int and sequence = $2::bigint)', [7, 42]],
  [{ patient: ill }, `(packed_patients <> '' and patient_keys && array[$1::bytea])`, [Buffer.from(ill)]],
  [{ patients: 'one' }, 'cardinality(patients) = 1', []],
  [{ patients: 'some' }, `packed_patients <> ''`, []],
  [{ shows: 'query' }, `packed_query <> ''`, []],
  [{ shows: 'resource' }, `(resource_type <> '' and resource_id ~ '^[A-Za-z0-9.-]{1,64}$')`, []],
  [
    { resource: { type: 'Patient', id: ill } },
    `(resource <> '' and hashtext(encode(resource, 'hex')) = hashtext(encode($1::bytea, 'hex')) and resource = $1::bytea and resource_type = $2)`,
    [Buffer.from(ill), 'Patient'],
  ],
  [
    { resource: { id: ill } },
    `(resource <> '' and hashtext(encode(resource, 'hex')) = hashtext(encode($1::bytea, 'hex')) and resource = $1::bytea and resource_type <> '')`,
    [Buffer.from(ill)],
  ],
  [{ not: { patients: 'some' } }, `(packed_patients <> '') is not true`, []],
  [{ all: [{ patients: 'some' }, { shows: 'query' }] }, `(packed_patients <> '' and packed_query <> '')`, []],
  [
    { any: [{ from: 0 }, { to: 0 }] },
    '(((second, millisecond) >= ($1::bigint, $2::smallint)) or ((second, millisecond) <= ($3::bigint, $4::smallint)))',
    [-(2 ** 31), 0, -(2 ** 31), 0],
  ],
])('%j', (given, sql, values) => {
  const bound: unknown[] = []
  expect(auditCondition(given, value => `$${bound.push(value)}`, false)).toBe(sql)
  expect(bound).toEqual(values)
})

test('a condition on rows that are found by the keys of their clients only says whose they are', () => {
  const bound: unknown[] = []
  const given: AuditTest = {
    any: [
      { column: 'client_id', among: [ill] },
      { column: 'organization_id', among: [ill], clientKeys: [7] },
    ],
  }
  expect(auditCondition(given, value => `$${bound.push(value)}`, true)).toBe(
    '(coalesce(client_id::text = any($1::text[]), false) or coalesce(organization_id::text = any($2::text[]), false))',
  )
  expect(bound).toEqual([[ill], [ill]])
})

test('alternatives of a column are one condition', () => {
  const of = (name: string): AuditTest => ({
    any: [client(name), { column: 'organization_id', among: [name] }, { patient: name }],
  })
  expect(anyTest([of('a'), { any: [of('b')] }, { not: client('c') }])).toEqual({
    any: [
      { patient: 'a' },
      { patient: 'b' },
      { not: client('c') },
      client('a', 'b'),
      { column: 'organization_id', among: ['a', 'b'] },
    ],
  })
  expect(anyTest([])).toEqual(noRow)
  expect(anyTest([everyRow])).toEqual({ any: [everyRow] })
})

const client = (...among: string[]): AuditTest => ({ column: 'client_id', among })

test.each<[AuditTest, readonly number[] | undefined]>([
  [everyRow, undefined],
  [noRow, []],
  [client('a', 'b', 'a'), [clientKey('a'), clientKey('b')]],
  [{ column: 'organization_id', among: ['o'] }, undefined],
  [{ column: 'organization_id', among: ['o'], clientKeys: [7] }, [7]],
  [{ column: 'token_id', among: ['t'] }, undefined],
  [{ not: client('a') }, undefined],
  [{ any: [client('a'), client('b', 'a')] }, [clientKey('a'), clientKey('b')]],
  [{ any: [client('a'), { patient: 'p' }] }, undefined],
  [{ all: [client('a', 'b'), { patient: 'p' }, client('b', 'c')] }, [clientKey('b')]],
  [{ all: [client('a'), client('b')] }, []],
  [{ all: [{ patient: 'p' }, { not: client('a') }] }, undefined],
])('%j is of clients with the keys %j', (given, keys) => {
  expect(clientKeysOf(given)).toEqual(keys)
})
