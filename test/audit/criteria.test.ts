// The conditions by which the trail is searched, as SQL: values are parameters, whatever they hold.
import { expect, test } from 'vitest'
import { type AuditTest, auditCondition, everyRow, noRow } from '../../src/audit/criteria.ts'

const ill = `'; drop table audit_event; --`

test.each<[AuditTest, string, unknown[]]>([
  [everyRow, 'true', []],
  [noRow, 'false', []],
  [{ column: 'client_id', among: [ill] }, 'client_id::text = any($1::text[])', [[ill]]],
  [{ column: 'address', begins: ill }, 'starts_with(lower(address), lower($1::text))', [ill]],
  [{ column: 'request_id', contains: ill }, 'position(lower($1::text) in lower(request_id)) > 0', [ill]],
  [{ from: 0, to: 1000 }, '(recorded_at >= $1 and recorded_at <= $2)', [new Date(0), new Date(1000)]],
  [{ from: 0 }, '(recorded_at >= $1)', [new Date(0)]],
  [{ to: 0 }, '(recorded_at <= $1)', [new Date(0)]],
  [{}, 'true', []],
  [{ row: { chain: 7, sequence: 42 } }, '(chain = $1::int and sequence = $2::bigint)', [7, 42]],
  [{ patient: ill }, `(patients <> '{}' and patients && $1::text[])`, [[ill]]],
  [{ patients: 'one' }, 'cardinality(patients) = 1', []],
  [{ patients: 'some' }, `patients <> '{}'`, []],
  [{ shows: 'query' }, `query <> ''`, []],
  [{ shows: 'resource' }, `(resource_type <> '' and resource_id ~ '^[A-Za-z0-9.-]{1,64}$')`, []],
  [
    { resource: { type: 'Patient', id: ill } },
    `(resource_id <> '' and resource_id = $2 and resource_type = $1)`,
    ['Patient', ill],
  ],
  [{ resource: { id: ill } }, `(resource_id <> '' and resource_id = $1 and resource_type <> '')`, [ill]],
  [{ not: { patients: 'some' } }, `(patients <> '{}') is not true`, []],
  [{ all: [{ patients: 'some' }, { shows: 'query' }] }, `(patients <> '{}' and query <> '')`, []],
  [{ any: [{ from: 0 }, { to: 0 }] }, '((recorded_at >= $1) or (recorded_at <= $2))', [new Date(0), new Date(0)]],
])('%j', (given, sql, values) => {
  const bound: unknown[] = []
  expect(auditCondition(given, value => `$${bound.push(value)}`)).toBe(sql)
  expect(bound).toEqual(values)
})
