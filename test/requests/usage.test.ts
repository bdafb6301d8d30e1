// What clients asked for lately, and what was refused for its number, by the request log.
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { createLog } from '../../src/lib/log.ts'
import type { LoggedRequest } from '../../src/requests/entry.ts'
import { refusalsSince, usageSince } from '../../src/requests/usage.ts'
import { createRequestLogWriter } from '../../src/requests/writer.ts'
import { openTestDatabase } from '../support/database.ts'

const noon = Date.parse('2026-03-14T12:00:00Z')
const since = new Date(noon)
const limited = { status: 429, errorCode: 'RATE_LIMITED' }

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
  const { note, flush } = createRequestLogWriter({ database, log: createLog('silent'), dropped: () => {} })
  const add = (count: number, clientId: string, route: string, more: Partial<LoggedRequest> = {}): void => {
    for (let n = 0; n < count; n++)
      note({
        ...{ at: noon, requestId: 'x', clientId, organizationId: 'hospital-a', method: 'GET', route, resourceType: '' },
        ...{ status: 200, errorCode: '', milliseconds: 1, bytesIn: 0, bytesOut: 0 },
        ...more,
      })
  }
  add(3, 'ward', '/verify')
  add(2, 'ward', '/other', { status: 404, errorCode: 'NOT_FOUND' })
  add(1, 'ward', '/verify', { at: noon - 1 })
  add(4, 'ward', '/verify', limited)
  add(1, 'ward', '/verify', { ...limited, at: noon + 5000 })
  add(7, 'ward', '/verify', { ...limited, at: noon - 1 })
  add(1, 'lab', '/resolve')
  add(1, 'lab', '/resolve', { ...limited, organizationId: 'hospital-b' })
  add(2, 'lab', '/resolve', { ...limited, organizationId: 'hospital-b', method: 'POST' })
  add(9, '', '/token', { ...limited, organizationId: '' })
  await flush()
})

test('requests are counted from a time on, by client and class, without those that were refused for their number', async () => {
  const used = await usageSince(database, ['ward', 'lab', 'idle'], since, {
    lookup: ['/verify', '/resolve'],
    token: [],
  })
  expect([...used]).toEqual([
    ['ward', { all: 5, byClass: { lookup: 3, token: 0 } }],
    ['lab', { all: 1, byClass: { lookup: 1, token: 0 } }],
    ['idle', { all: 0, byClass: { lookup: 0, token: 0 } }],
  ])
})

test('refusals are told by client and route, the most first, to the organisation and to administrators', async () => {
  const ward = { clientId: 'ward', method: 'GET', route: '/verify', count: 5, last: new Date(noon + 5000) }
  const lab = { clientId: 'lab', route: '/resolve', last: since }
  expect(await refusalsSince(database, 'hospital-a', since, 10)).toEqual([ward])
  expect(await refusalsSince(database, undefined, since, 10)).toEqual([
    ward,
    { ...lab, method: 'POST', count: 2 },
    { ...lab, method: 'GET', count: 1 },
  ])
  expect(await refusalsSince(database, undefined, since, 1)).toEqual([ward])
  expect(await refusalsSince(database, 'hospital-c', since, 10)).toEqual([])
})
