// What a record says of an access, and of a request that reached no store.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { attemptOf } from '../../src/audit/attempt.ts'
import { rowHash, storable } from '../../src/audit/record.ts'
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

test('reads, creations, changes and deletions are told from everything else', () => {
  const actions = {
    R: ['read', 'vread', 'history-instance', 'history-type', 'history-system'],
    C: ['create'],
    U: ['update', 'patch'],
    D: ['delete'],
    E: ['search-type', 'search-system', 'transaction', 'operation', 'emergency'],
  } as const
  for (const [action, deeds] of Object.entries(actions))
    for (const deed of deeds)
      expect(recordOf({ deed, patients: [], resources: 0 }, requester, new Date(0)).action, deed).toBe(action)
})

test('the hash of a row is SHA-256 of the hash before it and all that the row says, as one JSON array', () => {
  const access = {
    deed: 'update',
    type: 'Patient',
    id: 'ada',
    version: 3,
    query: 'q',
    patients: ['ada', 'ben'],
  } as const
  const record = recordOf({ ...access, resources: 2 }, requester, new Date(1_777_629_600_123))
  const text =
    '[7,42,1777629600123,"U","update",0,"","c","o","t","::1","r","Patient","ada",3,"q",["ada","ben"],2,"TREAT"]'
  expect(rowHash('ab'.repeat(32), { ...record, chain: 7, sequence: 42 })).toBe(
    createHash('sha256')
      .update(`${'ab'.repeat(32)}\n${text}`)
      .digest('hex'),
  )
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
    ['GET', 'Patient/of_ada', '', of('read', 'Patient', 'of_ada')],
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
