// Which changes records tell, and what is left of records when somebody else has told some.
import { expect, test } from 'vitest'
import { type Pending, recordedBy, without } from '../../src/audit/pending.ts'
import type { AuditRecord } from '../../src/audit/record.ts'
import { recordOf } from '../../src/audit/records.ts'
import { Failure } from '../../src/lib/failure.ts'
import type { Access } from '../../src/store/access.ts'

const requester = { clientId: 'app', organizationId: 'a', tokenId: '', address: '', requestId: 'r', purpose: '' }
const at = new Date('2026-05-01T10:00:00.000Z')
const change = (id: string, more: Partial<Access> = {}): Access => ({
  ...{ deed: 'update', type: 'Patient', id, version: 2, patients: [id], resources: 1 },
  ...more,
})
const record = (access: Access): AuditRecord => recordOf(access, requester, at)
const pending = (id: string, ...changes: Access[]): Pending => ({ id, changes })

test('records tell what is pending if they tell every change of it', () => {
  const one = pending('one', change('ada'))
  const two = pending('two', change('ada'), change('ben'))
  expect(recordedBy([record(change('ada'))], [one, two])).toEqual([one])
  expect(recordedBy([record(change('ben')), record(change('ada'))], [one, two])).toEqual([one, two])
  expect(recordedBy([record(change('ada'))], [])).toEqual([])
  expect(recordedBy([], [one])).toEqual([])
})

test.each<[string, Partial<Access>]>([
  ['another deed', { deed: 'delete' }],
  ['another type', { type: 'Observation' }],
  ['another id', { id: 'ben' }],
  ['another version', { version: 3 }],
  ['the attempt that was refused', { failure: new Failure('FORBIDDEN', 'no') }],
  ['the attempt that failed', { failure: new Error('broken') }],
])('a record of %s tells nothing of a change', (_what, more) => {
  const kept = pending('one', change('ada'))
  const records = [record(change('ada', more))]
  expect(recordedBy(records, [kept])).toEqual([])
  expect(without(records, [kept])).toEqual(records)
})

test('changes that have no type, id or version are told, too', () => {
  const ordered = { deed: 'operation', patients: [], resources: 0 } as const
  const kept = pending('one', ordered)
  expect(recordedBy([record(ordered)], [kept])).toEqual([kept])
  expect(without([record(ordered)], [kept])).toEqual([])
})

test('of what somebody else has told one record is left out for each change, and no other', () => {
  const [read, ada, ben] = [record(change('ada', { deed: 'read' })), record(change('ada')), record(change('ben'))]
  expect(without([read, ada, ben, ada], [pending('one', change('ada'))])).toEqual([read, ben, ada])
  expect(without([read, ada, ben], [pending('one', change('ada'), change('ben'))])).toEqual([read])
  expect(without([read, ada], [])).toEqual([read, ada])
})
