// What people who ask for archived accesses get: the truth that they are not online, and from the administrator's command the files.
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { adminOn } from '../support/admin.ts'
import { creatorBy, fhirCaller } from '../support/fhir.ts'
import { portalUser } from '../support/portal.ts'
import { type Service, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { databaseOf, endPeriod, tamper } from '../support/trail.ts'

let service: Service
let token: string
let folder: string
/** The id of a row that was online, and the time up to which rows are archived. */
let [archivedId, until] = ['', '']
const call = fhirCaller(() => service)
const { admin, told } = adminOn(() => service.database)

beforeAll(async () => {
  service = await startService()
  folder = await temporaryFolder('archive')
  const caller = { clientId: 'ward-app', organizationId: 'hospital-a', consentExempt: false }
  token = await service.application.identity.tokens.mint(caller, ['system/*.rs'])
  await creatorBy(call)({ resourceType: 'Location', id: 'ward' })
  await call('GET', 'Location/ward', { token })
  archivedId = (await call('GET', 'AuditEvent?_count=1', { token })).body.entry[0].resource.id
  await endPeriod(service)
  expect(await admin(['audit', 'archive', '--days', '0', '--to', folder])).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^Period 0: \d+ rows moved to audit-0-\d{4}-\d\d-\d\d-[0-9a-f]{16}\.ndjson\.gz\n$/),
  })
  for (const _ of [1, 2]) await call('GET', 'Location/ward', { token })
  const database = await databaseOf(service)
  until = (await database.query('select last_at from audit_archive')).rows[0].last_at.toISOString()
})

/** The ids of the rows on a page, and what it says about those that are not. */
async function page(query: string) {
  const { status, body } = await call('GET', `AuditEvent?${query}`, { token })
  const entries: { resource: { id: string; issue?: object[] }; search: { mode: string } }[] = body.entry ?? []
  return {
    status,
    total: body.total,
    rows: entries.filter(({ search }) => search.mode === 'match').map(({ resource }) => resource.id),
    said: entries.filter(({ search }) => search.mode === 'outcome').flatMap(({ resource }) => resource.issue),
    next: body.link.find(({ relation }: { relation: string }) => relation === 'next')?.url as string | undefined,
  }
}

const archivedIssue = () => ({
  severity: 'warning',
  code: 'suppressed',
  diagnostics: `Rows of the audit trail up to ${until} are archived and not searched. Ask the operator of this service for them, or search by a later date.`,
})

test('the last page of a search says what is archived, and gives no total', async () => {
  const first = await page('_count=1')
  expect(first).toMatchObject({ said: [], next: expect.any(String) })
  const all = await page('_count=1000')
  expect(all).toMatchObject({ total: undefined, said: [archivedIssue()] })
  expect(all.rows.length).toBeGreaterThan(0)
  expect(all.rows.every(id => id.startsWith('10000'))).toBe(true)
})

test('a search that what is archived could not match says nothing of it', async () => {
  const later = new Date(Date.parse(until) + 1).toISOString()
  expect(await page(`date=ge${later}&_count=1000`)).toMatchObject({ said: [], total: expect.any(Number) })
  expect(await page('_id=1000001-1')).toMatchObject({ said: [], total: 0 })
  expect((await page(`date=ge${until}&_count=1000`)).said).toMatchObject([archivedIssue()])
  expect((await page(`_id=${archivedId}`)).said).toMatchObject([archivedIssue()])
})

test('the id of an archived row answers 410, and so does any other id of its period', async () => {
  const diagnostics = (id: string): string =>
    `AuditEvent/${id} is not online: rows up to ${until} are archived. Ask the operator of this service for them.`
  for (const id of [archivedId, '1-999999', '77-1']) {
    const { status, body } = await call('GET', `AuditEvent/${id}`, { token })
    expect([id, status, body.issue[0].diagnostics]).toEqual([id, 410, diagnostics(id)])
  }
  for (const id of ['1000001-999999', 'nothing', '0-1'])
    expect([id, (await call('GET', `AuditEvent/${id}`, { token })).status]).toEqual([id, 404])
})

test('the portal says below the last page what is archived', async () => {
  const officer = await portalUser(service, ['privacy_officer'])
  const hint = 'The list ends here. Older accesses are archived outside of this service, up to'
  expect((await officer.get('/portal/audit')).text).toContain(hint)
  expect((await officer.get('/portal/audit?from=2999-01-01')).text).not.toContain(hint)
})

test('an administrator sees where the rows of each period are', async () => {
  const { output } = await admin(['audit', 'periods'])
  expect(output).toMatch(
    /^0 {2}\S+ \S+ to \S+ \S+ {2}\d+ rows {2}in audit-0-\S+\n1 {2}\S+ \S+ to now {2}\d+ rows {2}in the database\n$/,
  )
  expect(await told(['audit', 'periods'])).toMatchObject([
    { number: 0, archive: { period: 0 } },
    { number: 1, archive: null },
  ])
})

test('audit verify reads the archives, and a missing one is a break', async () => {
  const intact = await admin(['audit', 'verify', '--archives', folder])
  expect(intact).toMatchObject({
    code: 0,
    output: expect.stringMatching(
      /^The audit trail is intact: \d+ rows in \d+ chains\.\nThe archives are intact: \d+ rows in 1 files in /,
    ),
  })
  expect(await told(['audit', 'verify', '--archives', folder])).toMatchObject({
    isWhole: true,
    archives: [{ period: 0 }],
  })
  const missing = await admin(['audit', 'verify', '--archives', join(folder, 'elsewhere')])
  expect(missing).toMatchObject({
    code: 1,
    output: expect.stringMatching(/The archives are broken\.\n {2}audit-0-\S+: it is not in /),
  })
})

test('audit archive wants to know how old a period must be, in days', async () => {
  expect(await admin(['audit', 'archive'])).toMatchObject({
    code: 2,
    output: expect.stringContaining('--days is required'),
  })
  expect(await admin(['audit', 'archive', '--days', 'soon'])).toMatchObject({
    code: 2,
    output: expect.stringContaining('whole number'),
  })
  expect(await admin(['audit', 'archive'], { AUDIT_ONLINE_DAYS: '30' })).toEqual({
    code: 0,
    output: 'No period is due.\n',
  })
})

test('audit archive says which row of a period is broken, and leaves the period where it is', async () => {
  await endPeriod(service)
  const database = await databaseOf(service)
  await tamper(database, 'update audit_row set version = version + 1 where chain = 1000001 and sequence = 1')
  expect(await admin(['audit', 'archive', '--days', '0', '--to', folder])).toEqual({
    code: 1,
    output:
      'Period 1 of the audit trail is broken, and is not archived. Chain 1000001, row 1: the row does not match its hash.\n',
  })
})
