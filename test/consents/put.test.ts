// A consent that somebody else changes at the same moment.
import { expect, test } from 'vitest'
import { put } from '../../src/consents/put.ts'
import { Failure } from '../../src/lib/failure.ts'

const consent = { resourceType: 'Consent', id: 'c', meta: { versionId: '2' } }

/** What becomes of a change where the store refuses it so. */
function refusedBy(failure: Failure): Promise<unknown> {
  const store = { update: async () => Promise.reject(failure) }
  const parts = { storeFor: () => store } as never
  const request = { caller: { clientId: 'clinic-app' } } as never
  return put(parts, request, { patient: 'ada', healthId: '' } as never, consent).catch(error => error)
}

test('is a conflict that passes', async () => {
  const stale = new Failure('PRECONDITION_FAILED', 'Consent/c is at version 3.')
  expect(await refusedBy(stale)).toMatchObject({
    ...{ code: 'CONFLICT', message: 'Another request changed the consent at the same time: try again.' },
    ...{ options: { retryAfter: 1 }, cause: stale },
  })
})

test('any other failure is told as it is', async () => {
  const forbidden = new Failure('FORBIDDEN', 'No.')
  expect(await refusedBy(forbidden)).toBe(forbidden)
})
