// What a record says of an access, and of a request that reached no store.
import { describe, expect, test } from 'vitest'
import { attemptOf } from '../../src/audit/attempt.ts'
import { storable } from '../../src/audit/record.ts'
import { recordOf } from '../../src/audit/records.ts'
import { Failure } from '../../src/lib/failure.ts'

const requester = { clientId: 'c', organizationId: 'o', tokenId: 't', address: '::1', requestId: 'r', purpose: 'TREAT' }

describe('an access is recorded as', () => {
  const refused = new Failure('CONSENT_REQUIRED', 'No.')
  test.each([
    [{ deed: 'read' }, { action: 'R', outcome: 0, problem: '' }],
    [{ deed: 'search-type' }, { action: 'E', outcome: 0, problem: '' }],
    [
      { deed: 'patch', failure: refused },
      { action: 'U', outcome: 4, problem: 'CONSENT_REQUIRED' },
    ],
    [
      { deed: 'create', failure: new Failure('UNAVAILABLE', 'Later.') },
      { action: 'C', outcome: 8, problem: 'UNAVAILABLE' },
    ],
    [
      { deed: 'delete', failure: new Error('bug') },
      { action: 'D', outcome: 8, problem: 'INTERNAL_ERROR' },
    ],
  ] as const)('%j: %j', (access, expected) => {
    const at = new Date(0)
    expect(recordOf({ patients: ['p'], resources: 1, ...access }, requester, at)).toEqual({
      ...requester,
      recordedAt: at,
      interaction: access.deed,
      type: '',
      id: '',
      version: 0,
      query: '',
      patients: ['p'],
      resources: 1,
      ...expected,
    })
  })
})

describe('a request that reached no store was the attempt at', () => {
  const of = (deed: string, type?: string, id?: string, patients: string[] = []) => ({ deed, type, id, patients })
  test.each([
    ['GET', 'Patient/ada', '', of('read', 'Patient', 'ada', ['ada'])],
    ['HEAD', 'Observation/o', '', of('read', 'Observation', 'o')],
    ['GET', 'Patient/ada/', '', of('read', 'Patient', 'ada', ['ada'])],
    ['GET', 'Patient', 'name=x', of('search-type', 'Patient')],
    ['POST', 'Patient', '', of('create', 'Patient')],
    ['PUT', 'Patient/ada', '', of('update', 'Patient', 'ada', ['ada'])],
    ['PATCH', 'Patient/ada', '', of('patch', 'Patient', 'ada', ['ada'])],
    ['DELETE', 'Patient', 'name=x', of('delete', 'Patient')],
    ['GET', 'Patient/no%20id', '', of('read', 'Patient', 'no%20id')],
    ['GET', 'Patient/ada/_history', '', of('operation', 'Patient')],
    ['GET', 'Patient/$everything', '', of('operation', 'Patient')],
    ['POST', 'Patient/_search', '', of('operation', 'Patient')],
    ['GET', 'Nothing/ada', '', of('operation')],
    ['GET', '', '_type=Patient', of('search-system')],
    ['POST', '', '', of('operation')],
  ])('%s %s?%s: %o', (method, path, query, expected) => {
    const told = { query: query === '' ? path : `${path}?${query}`, resources: 0, failure: 'why' }
    expect(attemptOf(method, path, query, 'why')).toEqual({ ...told, ...expected })
  })
})

test.each([
  ['Zoé \u{1f489}', 'Zoé \u{1f489}'],
  ['a\0b\0', 'a\ufffdb\ufffd'],
  ['half \ud83d of a character', 'half \ufffd of a character'],
  ['\ud83d\0', '\ufffd\ufffd'],
])('%j is kept as %j', (text, kept) => expect(storable(text)).toBe(kept))
