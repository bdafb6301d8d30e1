// Which steps answer a search, in which order, and when each of them gives up: decided before the database is asked.
import { describe, expect, test } from 'vitest'
import { byConsent } from '../../../src/access/consent/visibility.ts'
import type { Queryable, Statement } from '../../../src/db/statement.ts'
import { createIndexer } from '../../../src/store/index/entry.ts'
import { serviceParty } from '../../../src/store/principal.ts'
import { planCount } from '../../../src/store/search/count.ts'
import { parseSearch } from '../../../src/store/search/parse.ts'
import { plan } from '../../../src/store/search/plan.ts'
import type { Found, SearchRequest } from '../../../src/store/search/request.ts'
import type { SearchOptions } from '../../../src/store/search/sql-context.ts'
import { run, type SearchStep, type Strategy } from '../../../src/store/search/strategy.ts'
import { baseOf } from '../../support/base.ts'

const base = baseOf('http://localhost')
const indexer = createIndexer(base)
const everything: SearchOptions = {
  ...{ indexer, base, party: serviceParty, visibility: undefined, maySee: () => true, maxIncluded: 1000 },
}
const byGrants: SearchOptions = {
  ...everything,
  visibility: byConsent({ clientId: 'app', organizationId: 'clinic', purpose: '' }),
}

function asked(search: string): SearchRequest {
  const [type, query] = search.split('?') as [string, string]
  const types = type.split(',')
  const given = { params: indexer.params, strict: true, defaultCount: 20, maxCount: 1000 }
  return parseSearch(types, new URLSearchParams(query), given)
}

const namesOf = (strategy: Strategy<unknown, never>): string[] => strategy.map(({ name }) => name)

const kept = 'read in order, by a kept plan'
const [fewCodes, codes] = ['look at the newest of codes', 'walk codes, newest first']
const [all, texts, order] = ['find all matches, then sort', 'walk texts in order', 'read in order']
const [values, keptValues] = ['walk magnitudes in order', 'walk magnitudes in order, by a kept plan']
const ids = 'walk along the ids, by a kept plan'
const byText = 'find texts and what they belong to by a kept plan, then sort'
const byChange = 'find changes and what they belong to by a kept plan, then sort'
const [keptAll, keptTexts] = ['find all matches by a kept plan, then sort', 'walk texts in order, by a kept plan']
const recent = ', from the day before the date on'
const oldest = 'read along the dates, oldest first, by a kept plan'
const changes = 'walk along the last changes, by a kept plan'
const ofEach = 'read the newest of each type, by a kept plan'
const look = 'look at the newest, by a kept plan'
const [sorted, moreSorted] = [1000, 20_000].map(
  most => `look at the newest ${most} for sorted codes, by a kept plan`,
) as [string, string]
const [ask, within] = ['ask what the caller may see', 'search what the caller may see']

test('a client that sees little of some types and all of others does not walk through what it may not see', () => {
  const sketch = { isMany: false, isLittle: true, wroteMuch: new Set<number>() }
  const named = (search: string): string[] => namesOf(plan(asked(search), { ...byGrants, sketch }))
  expect(named('Observation,Practitioner?_sort=-_lastUpdated')).toEqual([order])
  expect(named('Observation,Practitioner?_sort=_id')).toEqual([order])
  expect(named('Observation,Practitioner?')).toEqual([ofEach])
  expect(namesOf(plan(asked('Observation,Practitioner?_sort=_id'), byGrants))).toEqual([ids])
})

describe('a page is read by', () => {
  test.each<[search: string, steps: string[], byGrants: string[]]>([
    ['Observation?patient=p7&code=http://loinc.org|8302-2', [kept], [kept]],
    ['Observation?patient=p7', [kept], [kept]],
    ['Observation?patient=p7&_sort=-date', [kept], [kept]],
    ['Observation?patient=p7&date=ge2020&category=laboratory', [kept], [kept]],
    ['Observation?', [kept], [kept]],
    ['Observation?date=2020', [kept], [kept]],
    ['Observation?date=lt2020', [kept], [kept]],
    ['Observation?date=gt2020', [`${kept}${recent}`, all, kept], [`${kept}${recent}`, all, kept]],
    ['Observation?date=ge2020&date=lt2021', [`${kept}${recent}`, all, kept], [`${kept}${recent}`, all, kept]],
    ['Observation?date=gt2020,lt2019', [kept], [kept]],
    ['Observation?code=8302-2&date=ap2020', [`${codes}${recent}`, all, codes], [`${codes}${recent}`, all, codes]],
    [
      'Observation?status=final&date=gt2020',
      [look, all, `${order}${recent}`, order],
      [ask, look, all, `${order}${recent}`, order],
    ],
    ['Observation?status=final', [look, all, order], [ask, look, keptAll, order]],
    ['Observation?status=final&date=2020', [order], [ask, order]],
    ['Observation?identifier=1&date=gt2020', [`${order}${recent}`, all, order], [`${order}${recent}`, all, order]],
    ['Observation?date=gt2020&_sort=date', [oldest, all, order], [ask, oldest, all, order]],
    ['Observation?date=lt2020&_sort=date', [oldest, order], [ask, oldest, order]],
    ['Appointment?status=booked&date=ge2026-11-27&_sort=date', [oldest, all, order], [ask, oldest, all, order]],
    ['Observation?date=ap2020&_sort=date', [order], [ask, order]],
    ['Observation?_sort=date,code', [order], [ask, order]],
    ['Observation?code=8302-2', [codes], [codes]],
    ['Observation?code=8302-2,8867-4&_sort=-date&date=2020', [codes], [codes]],
    ['Observation?code=8302-2&date=2020', [codes], [codes]],
    ['Observation?code=8302-2&status=final', [fewCodes, keptAll, codes], [fewCodes, keptAll, codes]],
    ['Observation?code=8302-2&status=final&date=lt2020', [fewCodes, keptAll, codes], [fewCodes, keptAll, codes]],
    [
      'Observation?code=8302-2&status=final&date=gt2020',
      [`${fewCodes}${recent}`, all, codes],
      [`${fewCodes}${recent}`, all, codes],
    ],
    ['Observation?_sort=_id', [ids], [ask, ids]],
    ['Observation?status=final&_sort=-_id', [ids, order], [ask, ids, order]],
    ['Observation?_lastUpdated=gt2020&_sort=_id', [byChange, order], [ask, byChange, order]],
    ['Observation?_lastUpdated=gt2020', [byChange, look, order], [ask, byChange, look, order]],
    ['Observation?_lastUpdated=gt2020&status=final', [byChange, look, order], [ask, byChange, look, order]],
    ['Observation?_lastUpdated=gt2020&code=8302-2', [byChange, fewCodes, order], [ask, byChange, fewCodes, order]],
    ['Observation?_lastUpdated=gt2020&combo-code=8302-2', [byChange, order], [ask, byChange, order]],
    ['Observation?_lastUpdated=gt2020&patient=p7', [order], [order]],
    ['Patient?_lastUpdated=gt2020&name=ann', [byText, look, order], [ask, byText, look, order]],
    ['Patient?gender=male', [look, all, order], [ask, look, keptAll, order]],
    ['Patient?gender=male&identifier=1', [order], [order]],
    ['Observation?_sort=-value-quantity', [keptValues, order], [ask, keptValues, order]],
    ['Observation?status=final&_sort=value-quantity', [all, values, order], [ask, all, values, order]],
    ['Observation?patient=p7&_sort=value-quantity', [order], [order]],
    ['Patient?_sort=birthdate', [keptValues, order], [ask, keptValues, order]],
    ['Observation?_sort=status', [sorted, moreSorted, order], [ask, sorted, moreSorted, order]],
    ['Observation?_sort=-status,-date', [sorted, moreSorted, order], [ask, sorted, moreSorted, order]],
    ['Observation?code=8302-2&_sort=status', [all, sorted, moreSorted, order], [ask, all, sorted, moreSorted, order]],
    [
      'Observation?date=gt2020&category=x&_sort=status',
      [sorted, all, moreSorted, order],
      [ask, sorted, all, moreSorted, order],
    ],
    [
      'Observation?_lastUpdated=gt2020&_sort=status',
      [byChange, sorted, moreSorted, order],
      [ask, byChange, sorted, moreSorted, order],
    ],
    ['Observation?patient=p7&_sort=status', [order], [order]],
    ['Observation?_sort=status&_count=1000', [moreSorted, order], [ask, moreSorted, order]],
    ['Observation?_sort=status,date', [order], [ask, order]],
    ['Observation?_sort=category', [order], [ask, order]],
    ['Observation,Condition?_sort=subject', [order], [ask, order]],
    ['Patient?_sort=-active', [sorted, moreSorted, order], [ask, sorted, moreSorted, order]],
    ['Encounter?_sort=class', [order], [ask, order]],
    ['Observation?code=8302-2&value-quantity=gt5', [order], [ask, order]],
    ['Observation?patient=p7,p8', [order], [order]],
    ['Observation?patient=p7&_sort=date', [order], [order]],
    ['Observation?_sort=_lastUpdated', [changes], [ask, changes]],
    ['Observation?_lastUpdated=gt2026-01-01&_sort=-_lastUpdated', [changes], [ask, changes]],
    ['Observation?status=final&_sort=-_lastUpdated', [changes, order], [ask, changes, order]],
    ['Observation?identifier=1&_sort=-_lastUpdated', [keptAll, order], [keptAll, order]],
    ['Observation?patient=p7&_sort=-_lastUpdated', [order], [order]],
    ['Observation,Condition?_sort=-_lastUpdated', [changes], [ask, changes]],
    ['Observation,Condition?code=1&_sort=_lastUpdated', [changes, order], [ask, changes, order]],
    ['Observation,Condition?_sort=_id', [ids], [ask, ids]],
    ['Observation,Condition?_lastUpdated=gt2020', [byChange, look, order], [ask, byChange, look, order]],
    ['Observation,Condition?', [ofEach], [ask, ofEach]],
    ['Observation,Condition?code=8302-2', [look, order], [ask, look, order]],
    ['Observation,Condition?identifier=1', [order], [order]],
    ['Observation,Condition?patient=p7', [order], [order]],
    ['Encounter,Observation?_sort=-date', [ofEach], [ask, ofEach]],
    ['Encounter,Observation?_sort=-date&date=lt2020', [ofEach], [ask, ofEach]],
    ['Encounter,Observation?date=2020', [ofEach], [ask, ofEach]],
    ['Encounter,Observation?date=gt2020', [look, order], [ask, look, order]],
    ['Encounter,Observation?date=ne2020', [look, order], [ask, look, order]],
    ['Encounter,Observation?date=2020,2021', [look, order], [ask, look, order]],
    ['Encounter,Observation?_sort=date', [order], [ask, order]],
    ['Patient?identifier=1', [keptAll, look, order], [keptAll, look, order]],
    ['Patient?identifier=1&gender=male', [order], [order]],
    ['Patient?identifier:not=1', [order], [order]],
    ['Patient?name=ann', [byText, look, order], [ask, byText, look, order]],
    ['Patient?family:exact=Ngo&given=ann', [byText, look, order], [ask, byText, look, order]],
    ['Patient?name=ann&gender=male', [byText, look, order], [ask, byText, look, order]],
    ['Patient?name=ann&active=true', [byText, order], [ask, byText, order]],
    ['Patient?name=ann&birthdate=1980', [byText, order], [ask, byText, order]],
    ['Patient?name=ann&identifier=1', [order], [order]],
    ['Patient?name=ann&general-practitioner=g1', [order], [ask, order]],
    ['Patient?family:missing=true', [order], [ask, order]],
    ['Patient?_sort=family', [keptTexts, order], [ask, keptTexts, order]],
    ['Patient?name=ann&_sort=-family', [byText, texts, order], [ask, byText, texts, order]],
    ['Patient?_sort=family,given', [keptTexts, order], [ask, keptTexts, order]],
    ['Patient?_sort=-birthdate,family', [keptValues, order], [ask, keptValues, order]],
    ['Observation?_sort=-_lastUpdated,_id', [changes, order], [ask, changes, order]],
    ['Observation,Condition?_sort=-_lastUpdated,_id', [order], [ask, order]],
    ['Observation?_content=unusual', [keptAll, look, order], [ask, keptAll, look, order]],
    ['Observation?_content=unusual NOT usual&_sort=-date', [keptAll, look, order], [ask, keptAll, look, order]],
    ['Observation?_content=unusual OR usual', [all, look, order], [ask, all, look, order]],
    ['Observation?_content=unusual&_sort=date', [all, order], [ask, all, order]],
    ['Observation?_content=unusual&status=final', [all, order], [ask, all, order]],
    ['Observation?_content=NOT usual', [order], [ask, order]],
    ['Patient?_content=unusual&_sort=family', [all, texts, order], [ask, all, texts, order]],
    ['Organization?name=clinic', [byText, look, order], [byText, look, order]],
  ])('%s: %j, for a client that sees by consent %j', (search, steps, narrowed) => {
    const request = asked(search)
    expect([namesOf(plan(request, everything)), namesOf(plan(request, byGrants))]).toEqual([steps, narrowed])
  })

  test.each<[search: string, found: Found | undefined, steps: string[]]>([
    ['Observation?patient.gender=male', undefined, [order]],
    ['Observation?patient.gender=male', [], [all, order]],
    ['Observation?patient.gender=male', [7n], [kept]],
    ['Observation?patient.gender=male', [7n, 8n], [all, order]],
    ['Observation?patient.gender=male', 'many', [look, order]],
    ['Observation?patient.gender=male&status=final', 'many', [look, order]],
    ['Observation?patient.gender=male&value-string=x', 'many', [order]],
    ['Observation?patient.gender=male&patient=p7', 'many', [order]],
    ['Observation?code=8302-2&patient.gender=male', [7n], [kept]],
    ['Observation?code=8302-2&patient.gender=male', [7n, 8n], [all, order]],
    ['Observation?code=8302-2&patient.gender=male', 'many', [fewCodes, codes]],
    ['Encounter?_has:Observation:encounter:code=8302-2', [7n], [all, order]],
    ['Encounter?_has:Observation:encounter:code=8302-2', 'many', [look, order]],
  ])('%s, which leads through %s: %j', (search, found, steps) => {
    const request = asked(search)
    const criteria = request.criteria.map(each =>
      each.kind === 'chain'
        ? { ...each, targets: each.targets.map(target => ({ ...target, found })) }
        : each.kind === 'has'
          ? { ...each, found }
          : each,
    ) as SearchRequest['criteria']
    expect(namesOf(plan({ ...request, criteria }, everything))).toEqual(steps)
  })

  test('a walk along all dates on the way back, since what lasts stands among what is read', () => {
    const cursor = { direction: 'previous', values: ['0'], key: 1 } as const
    expect(namesOf(plan({ ...asked('Observation?date=gt2020'), cursor }, everything))).toEqual([kept])
  })

  test('the oldest first only as far back as they have dates', () => {
    const from = (direction: 'next' | 'previous', place: string): string[] =>
      namesOf(plan({ ...asked('Observation?_sort=date'), cursor: { direction, values: [place], key: 1 } }, everything))
    expect(from('previous', '1700000000000')).toEqual([oldest, order])
    expect(from('previous', '9000000000000000')).toEqual([order])
    expect(from('next', '9000000000000000')).toEqual([oldest, order])
  })

  test('the texts only as far as there are some', () => {
    const request = asked('Patient?_sort=family')
    const at = (value: string): SearchRequest => ({
      ...request,
      cursor: { direction: 'next', values: [value], key: 1 },
    })
    expect(namesOf(plan(at('smith'), everything))).toEqual([keptTexts, order])
    expect(namesOf(plan(at('\u{10FFFF}'), everything))).toEqual([order])
  })
})

describe('matches are counted by', () => {
  const [single, wide] = ['count by the grants of each match', 'count by all grants at once']
  test.each<[search: string, steps: string[], byGrants: string[]]>([
    ['Observation?code=8302-2&_total=accurate', ['count'], [ask, single, wide]],
    ['Observation?code=8302-2&_total=estimate', ['count', 'estimate'], [ask, single, wide, 'estimate']],
    ['Observation?patient=p7&_total=accurate', ['count'], ['count']],
    ['Organization?name=clinic&_total=accurate', ['count'], [single, wide]],
  ])('%s: %j, for a client that sees by consent %j', (search, steps, narrowed) => {
    const request = asked(search)
    expect([namesOf(planCount(request, everything)), namesOf(planCount(request, byGrants))]).toEqual([steps, narrowed])
  })
})

const reach = { patients: '{1}', own: '{}' }

test('every step but the last says when it gives up, and what the caller may see is asked wherever that may be little', () => {
  const conditions = (search: string) =>
    plan(asked(search), byGrants).map(({ name, givesUp, within: narrowed }) => [
      name,
      givesUp,
      narrowed && namesOf(narrowed(reach)),
    ])
  expect(conditions('Patient?name=ann&_sort=family')).toEqual([
    [ask, 'the caller may see much', [within]],
    [byText, 'more than 3000 texts or 1000 resources match', undefined],
    [texts, 'the page is not full after 20000 values', undefined],
    [order, undefined, undefined],
  ])
  expect(conditions('Observation?code=8302-2')).toEqual([[codes, undefined, [within]]])
  expect(conditions('Observation?patient=p7&code=8302-2')).toEqual([[kept, undefined, undefined]])
})

/** A database that gives these answers, one to each statement. */
function answering(...answers: object[][]): Queryable & { readonly statements: Statement[] } {
  const statements: Statement[] = []
  return {
    statements,
    run: () => expect.unreachable(),
    async query<Row extends object>(statement: Statement) {
      statements.push(statement)
      return answers[statements.length - 1] as Row[]
    },
  }
}

describe('a strategy is run', () => {
  const matches = (count: number, more = {}) =>
    Array.from({ length: count }, (_, at) => ({ key: at, type: 1, id: `${at}`, body: '{}', k0: 'x', ...more }))
  const strategy = plan(asked('Patient?name=ann&_sort=family'), byGrants)

  test.each<[what: string, answers: object[][], rows: number]>([
    ['what the caller may see is little', [[reach], matches(3)], 3],
    ['there are few matches', [[], matches(5, { found: 5 })], 5],
    ['there are none', [[], [{ found: 0, key: null }]], 0],
    ['there are many', [[], matches(1, { found: 1001 }), matches(21)], 20],
    ['texts do not fill the page', [[], matches(1, { found: 1001 }), matches(20), matches(19)], 19],
  ])('until a step has the page: %s', async (_what, answers, rows) => {
    const on = answering(...answers)
    const page = await run(on, strategy)
    expect([page.rows.length, on.statements.length]).toEqual([rows, answers.length])
  })

  test('and builds the statement of a step only when it is its turn', async () => {
    const built: string[] = []
    const watched: SearchStep<number, object>[] = [3, undefined, 5].map((result, at) => ({
      name: `step ${at}`,
      statement() {
        built.push(`step ${at}`)
        return { text: '', values: [] }
      },
      read: () => (at === 0 ? undefined : (result ?? 4)),
    }))
    expect(await run(answering([], []), watched)).toBe(4)
    expect(built).toEqual(['step 0', 'step 1'])
  })

  test('and one whose last step gives up is a mistake', async () => {
    const step: SearchStep<number, object> = {
      name: 'x',
      statement: () => ({ text: '', values: [] }),
      read: () => undefined,
    }
    await expect(run(answering([]), [step])).rejects.toThrow('No step of the search has a result.')
  })
})
