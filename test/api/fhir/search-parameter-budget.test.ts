// What the search parameters of users may cost: a write is never refused nor slowed because of one, and a search never misses a
// resource in silence.
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type Database, openDatabase } from '../../../src/db/database.ts'
import {
  listLeftOut,
  listParameters,
  resumeParameters,
  suspendParameters,
} from '../../../src/store/search-params/operator.ts'
import { onCleanup } from '../../support/cleanup.ts'
import { type Answer, fhirCaller, issueOf, matchIds } from '../../support/fhir.ts'
import { eventually } from '../../support/identity.ts'
import { type Service, startBeside, startService } from '../../support/service.ts'

let service: Service
let beside: Service
let database: Database
const call = fhirCaller(() => service)
const callBeside = fhirCaller(() => beside)

beforeAll(async () => {
  service = await startService()
  beside = await startBeside(service)
  const connection = { ...inject('server'), database: service.database }
  database = openDatabase(connection, { poolSize: 2, statementTimeout: 30_000 })
  onCleanup(() => database.end())
})

const tokenOf = (clientId: string, at = service): Promise<string> =>
  at.application.identity.tokens.mint({ clientId, organizationId: clientId, consentExempt: true }, ['system/*.cruds'])

interface Given {
  readonly code: string
  readonly expression: string
  readonly base?: string
  readonly [more: string]: unknown
}

const parameter = ({ code, base = 'Flag', ...more }: Given) => ({
  resourceType: 'SearchParameter',
  id: code,
  url: `https://example.org/SearchParameter/${code}`,
  name: 'Trial',
  status: 'active',
  description: 'For a trial.',
  code,
  base: [base],
  type: 'string',
  ...more,
})

const define = async (given: Given, token = service.token): Promise<Answer> => {
  const answer = await call('PUT', `SearchParameter/${given.code}`, { body: parameter(given), token })
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer
}

const strict = { headers: { prefer: 'handling=strict' } }

/** Looks at each extension again for each extension, so many times over. */
const nested = (depth: number, type = 'Flag'): string => {
  const inner = (left: number): string =>
    left === 0 ? "url = 'none'" : `%resource.extension.where(${inner(left - 1)}).empty()`
  return `${type}.extension.where(${inner(depth)} or true).url`
}

const flag = (id: string, extensions: number) => ({
  resourceType: 'Flag',
  id,
  status: 'active',
  code: { text: 'Falls' },
  subject: { reference: 'Patient/p' },
  extension: Array.from({ length: extensions }, (_, index) => ({
    url: `https://example.org/${index}`,
    valueString: 'x',
  })),
})

const put = async (resource: { resourceType: string; id: string }, by = call): Promise<void> => {
  const { status, text } = await by('PUT', `${resource.resourceType}/${resource.id}`, { body: resource })
  expect(status, text).toBeLessThan(300)
}

/** A search by it, once older resources are indexed. */
async function search(query: string, by = call): Promise<Answer> {
  let answer = await by('GET', query, strict)
  await eventually(async () => (answer = await by('GET', query, strict)).status !== 503)
  return answer
}

function expectSuspended({ status, body }: Answer, code: string, reason: RegExp): void {
  expect(status).toBe(422)
  expect(issueOf(body)).toMatchObject({ severity: 'error', code: 'too-costly' })
  expect(issueOf(body).diagnostics).toContain(
    `The search parameter ${code} of Flag (SearchParameter/${code}) is suspended`,
  )
  expect(issueOf(body).diagnostics).toMatch(reason)
}

describe('an expression that looks at the whole resource again and again', () => {
  const all = '%resource.descendants()'

  test('is refused where it is defined, with the place', async () => {
    const expression = `Flag.descendants().where(${all}.where(${all}.count() > 10000).exists()).exists()`
    const answer = await call('POST', 'SearchParameter', { body: parameter({ code: 'whole', expression }) })
    expect(answer.status).toBe(422)
    expect(issueOf(answer.body).code).toBe('too-costly')
    expect(issueOf(answer.body).diagnostics).toMatch(
      /line 1, column \d+: where\(\) scans the whole resource for each element/,
    )
    expect(issueOf(answer.body).expression).toEqual(['SearchParameter.expression'])
  })

  test.each([
    ['of very many characters', `Flag.code.text | '${'a'.repeat(10_000)}'`, 'more than 10000 characters'],
    [
      'of very many parts',
      Array(110).fill('Flag.extension.extension.extension.url').join(' | '),
      'more than 500 parts',
    ],
  ])('is refused too when it is one %s', async (_what, expression, words) => {
    const answer = await call('POST', 'SearchParameter', { body: parameter({ code: 'long', expression }) })
    expect([answer.status, issueOf(answer.body).code]).toEqual([422, 'too-costly'])
    expect(issueOf(answer.body).diagnostics).toContain(words)
  })

  test('once for each element is taken', async () => {
    await define({ code: 'once', expression: `Flag.descendants().where($this is string and ${all}.count() > 1)` })
    expect((await call('DELETE', 'SearchParameter/once')).status).toBe(204)
  })
})

describe('a parameter whose expression costs too much on a resource', () => {
  test('is suspended, and the resource is stored; no process searches by it from then on', async () => {
    await put(flag('small', 2))
    await define({ code: 'deep', expression: nested(4) })
    expect(matchIds((await search('Flag?deep=https')).body)).toEqual(['small'])
    expect(matchIds((await search('Flag?deep=https', callBeside)).body)).toEqual(['small'])
    await put(flag('large', 15))
    // Without waiting for anything: the other process may not have heard of it.
    const reason = /took more than \d+ steps on a resource of \d+ elements/
    expectSuspended(await callBeside('GET', 'Flag?deep=https'), 'deep', reason)
    expectSuspended(await call('GET', 'Flag?deep=https', strict), 'deep', reason)
    expectSuspended(await call('GET', 'Flag?_sort=deep'), 'deep', reason)
    expectSuspended(await call('GET', 'Flag?_filter=deep%20eq%20x'), 'deep', reason)
    const conditional = { body: flag('other', 1), headers: { 'if-none-exist': 'deep=x' } }
    expectSuspended(await call('POST', 'Flag', conditional), 'deep', reason)
    expect(matchIds((await call('GET', 'Flag?status=active')).body).sort()).toEqual(['large', 'small'])
    const listed = async () => {
      const { body } = await call('GET', 'metadata')
      return body.rest[0].resource
        .find((each: { type: string }) => each.type === 'Flag')
        .searchParam.some((each: { name: string }) => each.name === 'deep')
    }
    await eventually(async () => !(await listed()))
    // Nothing is indexed by it any more, and nobody needs to learn of it again.
    await put(flag('larger', 16), callBeside)
    expect((await listParameters(database)).find(each => each.code === 'deep')).toMatchObject({
      id: 'deep',
      type: 'Flag',
      client: 'demo-client',
      suspended: { cause: 'work' },
    })
  })

  test('is used again when its owner defines it anew, for all that was stored meanwhile', async () => {
    await define({ code: 'deep', expression: 'Flag.extension.url' })
    expect(matchIds((await search('Flag?deep=https')).body).sort()).toEqual(['large', 'larger', 'small'])
  })

  test('that is defined anew unchanged is suspended again by what is stored already', async () => {
    await define({ code: 'again', expression: nested(4) })
    const reason = /took more than \d+ steps/
    expectSuspended(await search('Flag?again=https'), 'again', reason)
    await define({ code: 'again', expression: nested(4), description: 'Tried once more.' })
    expectSuspended(await search('Flag?again=https'), 'again', reason)
    expect((await call('DELETE', 'SearchParameter/again')).status).toBe(204)
    expect((await call('GET', 'Flag?again=https', strict)).status).toBe(400)
  })

  test('is suspended by a creation, and by a transaction with all that belongs to it', async () => {
    await define({ code: 'first', expression: nested(4, 'Basic'), base: 'Basic' })
    const basic = { ...flag('b', 15), resourceType: 'Basic', status: undefined, id: undefined }
    const entry = (resource: object) => ({ resource, request: { method: 'POST', url: 'Basic' } })
    const bundle = (...resources: object[]) => ({
      resourceType: 'Bundle',
      type: 'transaction',
      entry: resources.map(entry),
    })
    expect((await search('Basic?first=https')).status).toBe(200)
    // What fails leaves nothing behind, the suspension included.
    expect((await call('POST', '', { body: bundle(basic, { resourceType: 'Basic' }) })).status).toBe(400)
    expect((await call('GET', 'Basic?first=https')).status).toBe(200)
    expect((await call('POST', 'Basic', { body: basic })).status).toBe(201)
    expect((await callBeside('GET', 'Basic?first=https')).status).toBe(422)
    await define({ code: 'first', expression: nested(4, 'Basic'), base: 'Basic', status: 'retired' })
    await define({ code: 'second', expression: nested(3, 'Linkage'), base: 'Linkage' })
    const linkage = {
      ...basic,
      resourceType: 'Linkage',
      code: undefined,
      subject: undefined,
      item: ['source', 'alternate'].map(type => ({ type, resource: { display: type } })),
    }
    const linkages = { ...bundle(linkage), entry: [{ resource: linkage, request: { method: 'POST', url: 'Linkage' } }] }
    const { status, text } = await call('POST', '', { body: linkages })
    expect(status, text).toBe(200)
    expect((await callBeside('GET', 'Linkage?second=https')).status).toBe(422)
  })

  test('that fails in an unforeseen way on a resource keeps nobody from storing it', async () => {
    await define({ code: 'fails', expression: 'Flag.extension.value.as(string).single()' })
    await put(flag('fails', 3))
    expect((await search('Flag?fails=x')).status).toBe(200)
  })
})

describe('what one client may define', () => {
  test('costs a bounded amount on a resource in all, and the parameters of other clients stay', async () => {
    const [greedy, modest] = await Promise.all([tokenOf('greedy'), tokenOf('modest')])
    const base = 'Slot'
    await define({ code: 'modest', base, expression: 'Slot.comment' }, modest)
    for (let number = 0; number < 12; number++)
      await define({ code: `greedy-${number}`, base, expression: `${nested(1, base)} | '${number}'` }, greedy)
    await put({ ...flag('s', 11), ...slot } as never)
    const all = (await listParameters(database)).filter(each => each.type === base)
    const suspended = all.filter(each => each.suspended)
    expect(suspended.map(each => each.client)).toEqual(suspended.map(() => 'greedy'))
    expect(suspended.length).toBeGreaterThan(0)
    expect(suspended.length).toBeLessThan(12)
    expect(suspended[0]!.suspended!.reason).toMatch(/of \d+ steps, where all parameters of Slot together may take \d+/)
    expect(matchIds((await search('Slot?modest=free')).body)).toEqual(['s'])
  })

  const slot = {
    resourceType: 'Slot',
    code: undefined,
    subject: undefined,
    schedule: { reference: 'Schedule/1' },
    status: 'free',
    start: '2024-01-01T10:00:00Z',
    end: '2024-01-01T11:00:00Z',
    comment: 'free',
  }

  test('is bounded in number, for each client and for all; what defines nothing is not counted', async () => {
    const few = await startService({ SEARCH_PARAMETERS_PER_CLIENT: '2', SEARCH_PARAMETERS: '3' })
    const by = fhirCaller(() => few)
    const [one, other] = await Promise.all([tokenOf('one', few), tokenOf('other', few)])
    const given = (code: string, token: string, status = 'active') =>
      by('PUT', `SearchParameter/${code}`, {
        body: parameter({ code, status, expression: 'Flag.code.text' }),
        token,
      })
    expect((await given('a', one)).status).toBe(201)
    expect((await given('b', one)).status).toBe(201)
    expect((await given('draft', one, 'draft')).status).toBe(201)
    const refused = await given('c', one)
    expect([refused.status, issueOf(refused.body).code]).toEqual([422, 'too-costly'])
    expect(issueOf(refused.body).diagnostics).toContain(
      'This client has reached its limit of 2 SearchParameter resources',
    )
    expect((await given('b', one, 'retired')).status).toBe(200)
    expect((await given('c', one)).status).toBe(201)
    expect((await given('d', other)).status).toBe(201)
    const full = await given('e', other)
    expect([full.status, issueOf(full.body).diagnostics]).toEqual([
      422,
      expect.stringContaining('The service has reached its limit of 3 SearchParameter resources'),
    ])
  })
})

describe('older resources', () => {
  const basics = (count: number) => ({
    resourceType: 'Bundle',
    type: 'transaction',
    entry: Array.from({ length: count }, (_, index) => ({
      resource: { resourceType: 'Basic', id: `old-${index}`, code: { text: 'x' }, created: '2024-01-01' },
      request: { method: 'PUT', url: `Basic/old-${index}` },
    })),
  })

  test('that cannot be read are left out with the reason, and all others are indexed', async () => {
    expect((await call('POST', '', { body: basics(3) })).status).toBe(200)
    await database.query({
      text: `update resource set body = '{broken' where id = 'old-1' and body like '%Basic%'`,
      values: [],
    })
    await define({ code: 'made', base: 'Basic', type: 'date', expression: 'Basic.created' })
    expect((await search('Basic?made=2024&_summary=count')).body.total).toBe(2)
    expect(await listLeftOut(database)).toEqual([
      { resource: 'Basic/old-1', reason: 'it could not be indexed (SyntaxError)' },
    ])
    await database.query({
      text: `with placed as (delete from directory where id = 'old-1') delete from resource where id = 'old-1'`,
      values: [],
    })
  })

  test('and all else are written on connections that end a transaction in which nothing is asked', async () => {
    const [row] = await service.application.database.transaction(on =>
      on.query({ text: `select current_setting('idle_in_transaction_session_timeout') as longest`, values: [] }),
    )
    expect(row).toEqual({ longest: '1min' })
  })

  test('are indexed without a transaction that waits, so a parameter can be deleted meanwhile', async () => {
    expect((await call('POST', '', { body: basics(300) })).status).toBe(200)
    await database.transaction(async on => {
      await on.query({ text: `select 1 from directory where id = 'old-250' for update`, values: [] })
      await define({ code: 'slow', base: 'Basic', type: 'date', expression: 'Basic.created' })
      const early = await call('GET', 'Basic?slow=2024', strict)
      expect([early.status, early.headers.get('retry-after')]).toEqual([503, '5'])
      const [others] = await on.query<{ count: number }>({
        text: `select count(*)::integer as count from pg_stat_activity where datname = current_database()
          and pid <> pg_backend_pid() and (wait_event_type = 'Lock' or state_change < now() - interval '0.5 s' and state like 'idle in%')`,
        values: [],
      })
      expect(others!.count).toBe(0)
      expect((await call('DELETE', 'SearchParameter/slow')).status).toBe(204)
    })
  })
})

describe('an operator', () => {
  test('suspends a parameter with a reason, and resumes it for all that was stored meanwhile', async () => {
    const given = { code: 'color', expression: "Flag.extension('https://example.org/color').value" }
    const colored = (id: string, color: string) => ({
      ...flag(id, 0),
      extension: [{ url: 'https://example.org/color', valueString: color }],
    })
    await define(given)
    await put(colored('red', 'red'))
    await put(colored('turns', 'red'))
    expect(matchIds((await search('Flag?color=red')).body).sort()).toEqual(['red', 'turns'])
    expect(await suspendParameters(database, 'color', 'It is under review.')).toEqual(['Flag.color'])
    const refused = await call('GET', 'Flag?color=red')
    expect([refused.status, issueOf(refused.body).code]).toEqual([422, 'not-supported'])
    expect(issueOf(refused.body).diagnostics).toContain('suspended the search parameter color of Flag')
    expect(issueOf(refused.body).diagnostics).toContain('It is under review.')
    await put(colored('turns', 'blue'))
    await put(colored('late', 'red'))
    await define({ ...given, description: 'The same once more.' })
    expect((await search('Flag?color=red')).status).toBe(422)
    expect(await resumeParameters(database, 'color')).toEqual(['Flag.color'])
    await eventually(async () => (await call('GET', 'Flag?color=red')).status === 200)
    expect(matchIds((await search('Flag?color=red')).body).sort()).toEqual(['late', 'red'])
    await expect(suspendParameters(database, 'nothing', 'x')).rejects.toThrow('There is no SearchParameter/nothing')
  })
})
