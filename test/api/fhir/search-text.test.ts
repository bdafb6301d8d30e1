// `_text` and `_content`: words of the narrative, and of everything that can be read. https://hl7.org/fhir/R4/search.html#content
import { beforeAll, describe, expect, test } from 'vitest'
import { creatorBy, fhirCaller, finderBy, issueOf, linkOf, matchIds } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const store = creatorBy(call)
const form = { 'content-type': 'application/x-www-form-urlencoded' }

const narrative = (html: string) => ({
  status: 'generated',
  div: `<div xmlns="http://www.w3.org/1999/xhtml">${html}</div>`,
})
interface Entry {
  readonly resource: { readonly recordedDate: string }
}
const condition = (id: string, more: object) => ({
  resourceType: 'Condition',
  id,
  subject: { reference: 'Patient/ada', display: 'Ada Byron' },
  ...more,
})
const resources: readonly ({ resourceType: string; id: string } & Record<string, unknown>)[] = [
  {
    resourceType: 'Patient',
    id: 'ada',
    name: [{ family: 'Byron', given: ['Ada'] }],
    identifier: [{ system: 'http://ids', value: 'CM-TQYE-6SRK' }],
    text: narrative('Countess of <b>Love</b>lace &amp; mathematician'),
  },
  condition('bone', { text: narrative('<p>Cancer of the bone</p><p>metastases</p>'), recordedDate: '2024-01-01' }),
  condition('liver', {
    text: narrative(
      '<table title="hidden &gt; words"><tr><td>liver</td><td>metastases</td></tr></table><!-- secret -->',
    ),
    recordedDate: '2024-02-01',
  }),
  condition('heart', {
    code: { coding: [{ system: 'http://snomed.info/sct', code: '84114007', display: 'Heart failure' }] },
    note: [{ text: 'Seen in the *chronic* failure clinic. H2O balance, naïve β-blocker' }],
    recordedDate: '2024-03-01',
  }),
  condition('clinic', {
    text: narrative('H<sub>2</sub>O, caf&#xE9;, &#946;eta, na&#xEF;ve'),
    code: { text: 'Heart clinic' },
  }),
  condition('cjk', { code: { text: '急性心筋梗塞の疑い' } }),
  condition('thai', { code: { text: 'โรคเบาหวาน ความดัน' } }),
  condition('greek', { code: { text: 'Καρδιακή ανεπάρκεια' } }),
  condition('inner', {
    evidence: [{ detail: [{ reference: '#o' }] }],
    contained: [{ resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'submarine finding' } }],
    extension: [{ url: 'http://x', valueString: 'periscope' }],
  }),
]

beforeAll(async () => {
  service = await startService()
  await store(...resources)
})

const found = (type: string, query: Record<string, string>): Promise<string[]> =>
  finderBy(call)(`${type}?${new URLSearchParams(query)}`)
const finds = (param: '_text' | '_content', table: [words: string, ids: string[]][]) =>
  test.each(table)(`${param}=%s`, async (words, ids) => {
    expect(await found('Condition', { [param]: words })).toEqual(ids)
  })

describe('_text looks for words of the narrative:', () => {
  finds('_text', [
    ['metastases', ['bone', 'liver']],
    ['METASTASES', ['bone', 'liver']],
    ['(bone OR liver) and metastases', ['bone', 'liver']],
    ['bone metastases', ['bone']],
    ['bone OR liver', ['bone', 'liver']],
    ['metastases NOT bone', ['liver']],
    ['metastases -bone', ['liver']],
    ['"cancer of the bone"', ['bone']],
    ['"bone cancer"', []],
    ['"liver metastases"', ['liver']],
    ['metast', []],
    ['hidden', []],
    ['secret', []],
    ['H2O', ['clinic']],
    ['café naïve', ['clinic']],
    ['βeta', ['clinic']],
    ['heart', []],
    ['bone,liver', ['bone', 'liver']],
  ])
})

describe('_content looks for words of everything that can be read:', () => {
  finds('_content', [
    ['metastases', ['bone', 'liver']],
    ['heart', ['clinic', 'heart']],
    ['heart failure', ['heart']],
    ['"failure heart"', []],
    ['"heart failure"', ['heart']],
    ['"chronic failure clinic"', ['heart']],
    ['heart clinic', ['clinic', 'heart']],
    ['"heart clinic"', ['clinic']],
    ['heart -chronic', ['clinic']],
    ['NOT (byron)', []],
    ['β-blocker', ['heart']],
    ['naive', ['clinic', 'heart']],
    ['心筋梗塞', ['cjk']],
    ['梗塞心筋', []],
    ['疑い', ['cjk']],
    ['เบาหวาน', ['thai']],
    ['ΚΑΡΔΙΑΚΗ', ['greek']],
    ['submarine', ['inner']],
    ['periscope', ['inner']],
    ['84114007', []],
    ['ada byron metastases & bone', ['bone']],
  ])

  test('an identifier is one word', async () => {
    expect(await found('Patient', { _content: 'cm-tqye-6srk' })).toEqual(['ada'])
    expect(await found('Patient', { _content: 'tqye' })).toEqual([])
  })

  test('emphasis does not part a word', async () => {
    expect(await found('Patient', { _text: 'lovelace mathematician' })).toEqual(['ada'])
  })
})

describe('a search for words', () => {
  test('goes with a patient, a sort, a total, includes and pages', async () => {
    const query = 'Condition?_content=metastases&patient=ada&_sort=-recorded-date&_total=accurate&_count=1'
    const { body } = await call('GET', `${query}&_include=Condition:patient`)
    expect([body.total, matchIds(body)]).toEqual([2, ['liver']])
    expect(body.entry[1]).toMatchObject({ resource: { id: 'ada' }, search: { mode: 'include' } })
    const next = await call('GET', linkOf(body, 'next')!)
    expect(matchIds(next.body)).toEqual(['bone'])
    expect(await found('Condition', { _content: 'metastases', patient: 'bob' })).toEqual([])
  })

  test('goes across types, along chains, into compartments and beside a filter', async () => {
    expect(
      await found('', { _content: 'byron', _type: 'Patient,Condition', _filter: '_id eq ada or _id eq bone' }),
    ).toEqual(['ada', 'bone'])
    expect(await found('', { _content: 'countess' })).toEqual(['ada'])
    expect(await found('Condition', { 'patient._text': 'countess', _content: 'chronic' })).toEqual(['heart'])
    expect(await found('Patient', { '_has:Condition:patient:_text': 'liver' })).toEqual(['ada'])
    expect(await found('Patient/ada/Condition', { _content: 'periscope' })).toEqual(['inner'])
  })

  test.each([1, 3, 30, 200])('finds a word that one in %i has in the order of time, page after page', async every => {
    const day = (number: number) => new Date(Date.UTC(2001, 0, 1) + ((number * 7919) % 600) * 86_400_000)
    const all = Array.from({ length: 600 }, (_, number) => ({ number, date: day(number).toISOString().slice(0, 10) }))
    const has = all.filter(({ number }) => number % every === 0)
    const rash = ({ number, date }: (typeof all)[number]) =>
      condition(`rash-${every}-${number}`, {
        note: [{ text: number % every === 0 ? `rash${every}` : 'nothing' }],
        recordedDate: date,
      })
    await store(...all.map(rash))
    const ids = has.toSorted((a, b) => (a.date < b.date ? 1 : -1)).map(({ number }) => `rash-${every}-${number}`)
    const pages: string[][] = []
    const links: string[] = []
    let next: string | undefined = `Condition?_content=rash${every}&_count=9`
    while (next !== undefined) {
      const { body } = await call('GET', next)
      pages.push(matchIds(body))
      links.push(linkOf(body, 'previous') ?? '')
      next = linkOf(body, 'next')
    }
    expect(pages.flat()).toEqual(ids)
    const last = pages.length - 1
    if (last > 0) expect(matchIds((await call('GET', links[last]!)).body)).toEqual(pages[last - 1])
  })

  test('finds a word that very many have, in pages too', async () => {
    const entry = Array.from({ length: 1100 }, (_, index) => ({
      resource: condition('', {
        code: { text: 'everywhere' },
        recordedDate: new Date(index * 86_400_000).toISOString(),
      }),
      request: { method: 'POST', url: 'Condition' },
    })).map(({ resource: { id: _id, ...resource }, request }) => ({ resource, request }))
    for (let from = 0; from < entry.length; from += 550) {
      const body = { resourceType: 'Bundle', type: 'transaction', entry: entry.slice(from, from + 550) }
      expect((await call('POST', '', { body })).status).toBe(200)
    }
    const first = await call('GET', 'Condition?_content=everywhere&_sort=-recorded-date&_count=500&_total=accurate')
    const second = await call('GET', linkOf(first.body, 'next')!)
    const third = await call('GET', linkOf(second.body, 'next')!)
    const all = [first, second, third].flatMap(({ body }) =>
      body.entry.map((each: Entry) => each.resource.recordedDate),
    )
    expect([first.body.total, all.length, new Set(all).size]).toEqual([1100, 1100, 1100])
    expect(all).toEqual([...all].sort().reverse())
    expect(linkOf(third.body, 'next')).toBeUndefined()
  })

  test('follows an update and a deletion', async () => {
    await call('PUT', 'Condition/new', { body: condition('new', { code: { text: 'before' } }) })
    await call('PUT', 'Condition/new', { body: condition('new', { code: { text: 'after' } }) })
    expect(await found('Condition', { _content: 'before' })).toEqual([])
    expect(await found('Condition', { _content: 'after' })).toEqual(['new'])
    await call('DELETE', 'Condition/new')
    expect(await found('Condition', { _content: 'after' })).toEqual([])
  })

  test('takes up to a hundred words', async () => {
    const body = new URLSearchParams({
      _content: Array.from({ length: 100 }, (_, index) => `word${index}`).join(' OR '),
    })
    expect((await call('POST', 'Condition/_search', { body, headers: form })).status).toBe(200)
  })

  test.each([
    ['"heart', 'a quote is not closed'],
    ['(heart', 'a "(" has no ")"'],
    ['heart)', 'a ")" has no "("'],
    ['NOT', 'NOT must be followed by a word'],
    ['heart OR', 'OR stands between words'],
    ['&&', 'there is no word'],
    ['gluc*', 'without * or ?'],
    [Array(10_000).fill('word').join(' '), 'more than 100 words'],
    ['('.repeat(10_000), 'nested brackets'],
    ['-'.repeat(10_000), 'there is no word'],
    ['NOT '.repeat(10_000), 'nested brackets'],
  ])('%# is refused when it makes no sense', async (words, said) => {
    for (const name of ['_text', '_content']) {
      const body = new URLSearchParams({ [name]: words })
      const { status, body: answer } = await call('POST', 'Condition/_search', { body, headers: form })
      expect([status, answer.resourceType]).toEqual([400, 'OperationOutcome'])
      expect(issueOf(answer).diagnostics).toContain(said)
    }
  })

  test.each(['_content:exact=x', '_text:missing=true', '_content:contains=x'])('takes no modifier: %s', async query => {
    const { status, body } = await call('GET', `Condition?${query}`)
    expect([status, issueOf(body).diagnostics]).toEqual([400, expect.stringContaining('does not support modifiers')])
  })

  test('reads a narrative of any shape in one pass', async () => {
    // Whatever looks at the rest of the text again at each place of it does not end before the test is given up.
    const hostile = ['<p title="'.repeat(50), '&amp;'.repeat(100_000), `<p>${'a&#'.repeat(100_000)}</p>`]
    for (const html of hostile) {
      const { status } = await call('PUT', 'Condition/hostile', {
        body: condition('hostile', { text: narrative(html) }),
      })
      expect([200, 201, 400, 422]).toContain(status)
    }
  })
})
