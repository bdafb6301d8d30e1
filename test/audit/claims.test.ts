// What is kept of changes until the trail tells them: who undertakes to tell it, and what is known of it then.
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { claim, mostClaimed, type Pending, stillPending } from '../../src/audit/pending.ts'
import { recordOf } from '../../src/audit/records.ts'
import type { Database } from '../../src/db/database.ts'
import { aChange, ageKept, aRequester, emptyTrail, keepChanges, trailDatabase } from '../support/trail.ts'

let database: Database
beforeAll(async () => {
  database = await trailDatabase()
})
beforeEach(() => emptyTrail(database))

const keep = () => keepChanges(database, [aChange('ada')])
const age = (seconds: number, ...kept: Pending[]) => ageKept(database, seconds, ...kept)

const ids = (all: readonly Pending[]) => all.map(each => each.id)

test('what is claimed is what was kept: the same changes, by whom and when', async () => {
  const at = new Date('2026-05-01T10:00:00.123Z')
  const changes = [aChange('ada'), aChange('ben')]
  const kept = await keepChanges(database, changes, at)
  expect(kept.changes).toEqual(changes)
  const records = changes.map(each => recordOf(each, aRequester, at))
  expect(await claim(database, [kept.id])).toEqual([{ ...kept, records }])
})

test('changes are left over after ten seconds, or when their own process asks for them; who claims them has ten seconds more', async () => {
  const [asked, old, young] = [await keep(), await keep(), await keep()]
  await age(11, old)
  await age(5, young)
  expect(ids(await claim(database, [asked.id]))).toEqual(ids([asked, old]).sort())
  expect(await claim(database, [])).toEqual([])
  await age(11, young)
  expect(ids(await claim(database, []))).toEqual([young.id])
})

test('of much that is left over the oldest is claimed first, so much at a time', async () => {
  const kept: Pending[] = []
  for (let count = 0; count < mostClaimed + 2; count++) kept.push(await keep())
  await age(11, ...kept)
  // Rows are where their last change has put them, which is not their order.
  await age(11, kept[0]!, kept[7]!)
  // Of one millisecond any may be first.
  const oldest = ids(kept).sort()
  expect(ids(await claim(database, []))).toEqual(oldest.slice(0, mostClaimed))
  expect(ids(await claim(database, []))).toEqual(oldest.slice(mostClaimed))
})

test('nobody waits for changes that somebody else is about to claim or to tell', async () => {
  const [first, second] = [await keep(), await keep()]
  await age(11, first, second)
  await database.transaction(async on => {
    await on.query({ text: 'select from audit_pending where id = $1 for update', values: [first.id] })
    expect(ids(await claim(database, []))).toEqual([second.id])
  })
})

test('of those asked about, the ones that are still there are still pending', async () => {
  const [first, second] = [await keep(), await keep(), await keep()]
  await database.query({ text: 'delete from audit_pending where id = $1', values: [second!.id] })
  expect(await stillPending(database, [first!.id, second!.id])).toEqual(new Set([first!.id]))
})
