// What the trail has of notices: who was told of which patient, before the first attempt of each.
import { expect, test } from 'vitest'
import type { AuditRecord } from '../../src/audit/record.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import { disclosing } from '../../src/webhooks/disclose.ts'
import { within } from '../support/queue.ts'

/** Discloses tasks. @returns what was written, one list for each time */
async function written(...tasks: object[]): Promise<AuditRecord[][]> {
  const all: AuditRecord[][] = []
  const write = async (records: readonly AuditRecord[]) => void all.push([...records])
  await disclosing({ write } as never)(tasks as never)
  return all
}

const target = { id: 'whs_1', clientId: 'ada', organizationId: 'hospital' }
const source = { type: typeNumber('Encounter'), id: 'visit', version: 4 }
const task = { source, event: 'evt_1', requestId: 'request', attempt: 1, patients: 'one two', target }

test('the first attempt to tell somebody of a patient is on record with whom it was told to, and of what', async () => {
  expect(await written(task, { ...task, event: 'evt_2', patients: 'three' })).toEqual([
    [
      {
        ...{ recordedAt: within(0), action: 'E', interaction: 'operation', outcome: 0, problem: '', resources: 1 },
        ...{ clientId: 'ada', organizationId: 'hospital', tokenId: '', address: '', requestId: 'request', purpose: '' },
        ...{ type: 'Encounter', id: 'visit', version: 4, patients: ['one', 'two'] },
        query: 'connect/webhooks/events/evt_1?subscription=whs_1',
      },
      expect.objectContaining({
        query: 'connect/webhooks/events/evt_2?subscription=whs_1',
        patients: ['three'],
      }),
    ],
  ])
})

test('later attempts are the same telling, and what is about nobody is no disclosure', async () => {
  expect(await written({ ...task, attempt: 2 }, { ...task, patients: '' })).toEqual([])
  expect(await written()).toEqual([])
})
