// The consents of a patient as the interface shows them.
import { expect, test } from 'vitest'
import { system } from '../../src/access/caller.ts'
import { find } from '../../src/consents/find.ts'
import type { Translator } from '../../src/mapping/translator.ts'
import { mergedWith } from '../../src/mpi/register/merged.ts'
import { openRecords } from '../access/records.ts'
import { consentOf } from '../support/consents.ts'

test('a Consent that the map cannot show is left out, and hides no other', async () => {
  const records = await openRecords()
  await records.put([
    { resourceType: 'Patient', id: 'ada' },
    ...['shown', 'strange'].map(id => consentOf(id, 'ada', 'clinic')),
  ])
  const fromFhir = (_map: string, _shape: unknown, { id }: { id?: string }) =>
    id === 'strange' ? undefined : { consent_id: id, status: 'active', organization_id: 'clinic' }
  const translator = { fromFhir } as unknown as Translator
  const parts = { ...records, translator, mergedWith, databaseFor: () => records.database, now: () => new Date() }
  const call = { caller: system, requestId: 'request-1' }
  const found = await find(parts, call, { patient: 'ada', healthId: 'CM-0000-0000-0000' }, {})
  expect(found.map(({ record }) => record.consent_id)).toEqual(['shown'])
})
