// Whether a Consent opens anything of a record.
import { expect, test } from 'vitest'
import { isOpening } from '../../src/access/consent/opened.ts'
import { consentOf } from '../support/consents.ts'
import { openRecords } from './records.ts'

test('a Consent opens the record of its own patient, and one that denies opens nothing', async () => {
  const records = await openRecords()
  await records.put([
    ...['ada', 'ben'].map(id => ({ resourceType: 'Patient', id })),
    consentOf('of-ada', 'ada', 'hospital'),
    consentOf('of-ben', 'ben', 'hospital'),
    consentOf('closed', 'ada', 'clinic', { type: 'deny' }),
  ])
  const opens = (patient: string, consent: string) => isOpening(records.database, patient, consent)
  expect(await opens('ada', 'of-ada')).toBe(true)
  expect(await opens('ada', 'of-ben')).toBe(false)
  expect(await opens('ada', 'closed')).toBe(false)
  expect(await opens('cyd', 'of-ada')).toBe(false)
})
