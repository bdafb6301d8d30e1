// Search parameters that users define (https://hl7.org/fhir/R4/searchparameter.html): used as soon as they are stored, for
// what is stored already as for what comes.

import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { system } from '../../../src/access/caller.ts'
import { openStorage } from '../../../src/app/storage.ts'
import { createLog } from '../../../src/lib/log.ts'
import { dataSetAt } from '../../support/base.ts'
import { onCleanup } from '../../support/cleanup.ts'
import { sharedData } from '../../support/data.ts'
import { configOfRun } from '../../support/database.ts'
import { type Answer, fhirCaller, issueOf, matchIds } from '../../support/fhir.ts'
import { type Service, startBeside, startService } from '../../support/service.ts'
import { jsonFiles } from '../../support/tgz.ts'

let service: Service
const call = fhirCaller(() => service)

const trial = 'https://example.org/StructureDefinition/trial'

interface Given {
  readonly code: string
  readonly base: readonly string[]
  readonly type: string
  readonly expression: string
  readonly [more: string]: unknown
}

/** A SearchParameter as a client would write it. */
function parameter(given: Given): Record<string, unknown> {
  return {
    resourceType: 'SearchParameter',
    url: `https://example.org/SearchParameter/${given.code}`,
    name: 'Trial',
    status: 'active',
    description: 'For a trial.',
    ...given,
  }
}

const define = (id: string, given: Given): Promise<Answer> =>
  call('PUT', `SearchParameter/${id}`, { body: { ...parameter(given), id } })

const put = async (resource: { resourceType: string; id: string; [more: string]: unknown }): Promise<void> => {
  const { status, text } = await call('PUT', `${resource.resourceType}/${resource.id}`, { body: resource })
  expect(status, text).toBeLessThan(300)
}

/** Asks until everything that was stored before is indexed. */
async function indexed(query: string, by = call): Promise<Answer> {
  for (;;) {
    const answer = await by('GET', query, { headers: { prefer: 'handling=strict' } })
    // Another process hears of a definition a moment later.
    if (answer.status !== 503 && (answer.status !== 400 || by === call)) return answer
    if (answer.status === 503) expect(answer.headers.get('retry-after')).toBe('5')
    await sleep(20)
  }
}

async function found(query: string): Promise<string[]> {
  const { status, text, body } = await indexed(query)
  expect(status, text).toBe(200)
  expect(body.entry?.filter((entry: { search: { mode: string } }) => entry.search.mode === 'outcome') ?? []).toEqual([])
  return matchIds(body).sort()
}

const person = (id: string, more: object = {}) => ({ resourceType: 'Patient', id, ...more })

beforeAll(async () => {
  service = await startService()
})

describe("a search parameter of one's own", () => {
  test('finds what was stored before it, and what is stored after it', async () => {
    const inTrial = (name: string) => ({ extension: [{ url: trial, valueCode: name }] })
    await put(person('before', inTrial('north')))
    await put(person('other', inTrial('south')))
    const { status } = await define('trial', {
      code: 'trial',
      base: ['Patient'],
      type: 'token',
      expression: `Patient.extension('${trial}').value`,
    })
    expect(status).toBe(201)
    await put(person('after', inTrial('north')))
    await put(person('none'))
    expect(await found('Patient?trial=north')).toEqual(['after', 'before'])
    expect(await found('Patient?trial:not=north')).toEqual(['none', 'other'])
    expect(await found('Patient?trial:missing=true')).toEqual(['none'])
    await put(person('before', inTrial('south')))
    expect(await found('Patient?trial=north')).toEqual(['after'])
  })

  test('is listed in the CapabilityStatement, which then has another tag', async () => {
    const before = await call('GET', 'metadata')
    await define('color', {
      code: 'eye-color',
      base: ['Patient'],
      type: 'string',
      expression: `Patient.extension('https://example.org/eyes').value`,
    })
    await found('Patient?eye-color=blue')
    const after = await call('GET', 'metadata')
    const listed = (body: Answer['body']) =>
      body.rest[0].resource
        .find((each: { type: string }) => each.type === 'Patient')
        .searchParam.find((each: { name: string }) => each.name === 'eye-color')
    expect(listed(before.body)).toBeUndefined()
    expect(listed(after.body)).toEqual({
      name: 'eye-color',
      type: 'string',
      definition: 'https://example.org/SearchParameter/eye-color',
      documentation: 'For a trial.',
    })
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'))
  })

  test('works for every kind of value', async () => {
    const own = (url: string, value: object) => ({ url: `https://example.org/${url}`, ...value })
    await put({ resourceType: 'Organization', id: 'clinic', name: 'Clinic' })
    await put(
      person('kinds', {
        extension: [
          own('nick', { valueString: 'Bébé Rose' }),
          own('joined', { valueDate: '2024-05' }),
          own('visits', { valueInteger: 12 }),
          own('height', {
            valueQuantity: { value: 171.5, unit: 'cm', system: 'http://unitsofmeasure.org', code: 'cm' },
          }),
          own('clinic', { valueReference: { reference: 'Organization/clinic' } }),
          own('site', { valueUri: 'https://example.org/a/b' }),
        ],
      }),
    )
    const kinds = [
      ['nick', 'string', 'nick=bebe', 'nick=rose'],
      ['joined', 'date', 'joined=ge2024-05-01', 'joined=gt2024-06'],
      ['visits', 'number', 'visits=gt11', 'visits=lt12'],
      ['height', 'quantity', 'height=gt1.7||m', 'height=gt172||cm'],
      ['clinic', 'reference', 'clinic=Organization/clinic', 'clinic=Organization/other'],
      ['site', 'uri', 'site:below=https://example.org/a', 'site=https://example.org/a'],
    ] as const
    for (const [name, type] of kinds) {
      const expression = `Patient.extension('https://example.org/${name}').value`
      const { status, text } = await define(`kind-${name}`, { code: name, base: ['Patient'], type, expression })
      expect(status, text).toBe(201)
    }
    for (const [name, type, hit, miss] of kinds.filter(([name]) => name !== 'height')) {
      expect([type, await found(`Patient?${hit}`)]).toEqual([type, ['kinds']])
      expect([name, await found(`Patient?${miss}`)]).toEqual([name, []])
    }
    expect(await found('Patient?height=171.5||cm')).toEqual(['kinds'])
    expect(await found('Patient?clinic.name=clin')).toEqual(['kinds'])
    expect(await found('Organization?_has:Patient:clinic:visits=12')).toEqual(['clinic'])
    const { body } = await call('GET', 'Patient?clinic=clinic&_include=Patient:clinic')
    expect(body.entry.map((each: { resource: { id: string } }) => each.resource.id)).toEqual(['kinds', 'clinic'])
    const reverse = await call('GET', 'Organization?_id=clinic&_revinclude=Patient:clinic')
    expect(reverse.body.entry.map((each: { resource: { id: string } }) => each.resource.id)).toEqual([
      'clinic',
      'kinds',
    ])
    expect(await found('Patient?joined:missing=false&_sort=-joined')).toEqual(['kinds'])
  })

  test('may be about several types, or about all, and means for each what its expression says', async () => {
    await put(person('tagged', { meta: { source: 'urn:ward:7' }, maritalStatus: { text: 'Married once' } }))
    await put({ resourceType: 'Practitioner', id: 'tagged', qualification: [{ code: { text: 'Surgeon' } }] })
    await define('spoken', {
      code: 'spoken',
      base: ['Patient', 'Practitioner'],
      type: 'string',
      expression: 'Patient.maritalStatus.text | Practitioner.qualification.code.text',
    })
    await define('ward', { code: 'ward', base: ['Resource'], type: 'uri', expression: 'Resource.meta.source' })
    expect(await found('Patient?spoken=married')).toEqual(['tagged'])
    expect(await found('Practitioner?spoken=surg')).toEqual(['tagged'])
    expect(await found('Patient?spoken=surg')).toEqual([])
    expect(await found('Patient?ward=urn:ward:7')).toEqual(['tagged'])
    expect(await found('?_type=Patient,Practitioner&ward=urn:ward:7')).toEqual(['tagged'])
    expect(await found('Observation?ward=urn:ward:7')).toEqual([])
  })

  test('may be a composite of parameters that the type has', async () => {
    await put({
      resourceType: 'Observation',
      id: 'pair',
      status: 'final',
      code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
      effectiveDateTime: '2024-02-03',
    })
    const component = [
      { definition: 'http://hl7.org/fhir/SearchParameter/clinical-code', expression: 'code' },
      { definition: 'http://hl7.org/fhir/SearchParameter/Observation-status', expression: 'status' },
    ]
    const given = { code: 'code-status', base: ['Observation'], type: 'composite', expression: 'Observation' }
    await define('code-status', { ...given, component })
    expect(await found('Observation?code-status=8867-4$final')).toEqual(['pair'])
    expect(await found('Observation?code-status=8867-4$amended')).toEqual([])
  })

  test('means something else as soon as its definition changes', async () => {
    const given = { code: 'moves', base: ['Patient'], type: 'token', expression: `Patient.extension('${trial}').value` }
    await put(person('mover', { extension: [{ url: trial, valueCode: 'east' }], active: true }))
    await define('moves', given)
    expect(await found('Patient?moves=east')).toEqual(['mover'])
    await define('moves', { ...given, expression: 'Patient.active' })
    expect(await found('Patient?moves=true')).toEqual(['mover'])
    expect(await found('Patient?moves=east')).toEqual([])
  })

  test('finds by a chain what is contained in resources that were stored before it', async () => {
    const request = (id: string, batch: string) => ({
      resourceType: 'MedicationRequest',
      id,
      status: 'active',
      intent: 'order',
      subject: { reference: 'Patient/before' },
      contained: [{ resourceType: 'Medication', id: 'm', extension: [{ url: trial, valueCode: batch }] }],
      medicationReference: { reference: '#m' },
    })
    // More of them than are indexed at a time.
    const entry = Array.from({ length: 550 }, (_, number) => {
      const resource = request(`request-${number}`, number % 125 === 0 ? 'blue' : 'red')
      return { resource, request: { method: 'PUT', url: `MedicationRequest/${resource.id}` } }
    })
    const stored = await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })
    expect(stored.status, stored.text).toBe(200)
    const expression = `Medication.extension('${trial}').value`
    await define('batch-code', { code: 'batch-code', base: ['Medication'], type: 'token', expression })
    await put(request('request-later', 'blue'))
    expect(await found('MedicationRequest?medication.batch-code=blue')).toEqual([
      'request-0',
      'request-125',
      'request-250',
      'request-375',
      'request-500',
      'request-later',
    ])
    expect((await call('GET', 'MedicationRequest?medication.batch-code=red&_summary=count')).body.total).toBe(545)
  })

  test('ends when it is retired or deleted: then it is unknown again', async () => {
    const given = { code: 'ends', base: ['Patient'], type: 'token', expression: 'Patient.active' }
    const isKnown = async () => (await indexed('Patient?ends=true', call)).body.entry?.at(-1)?.search.mode !== 'outcome'
    const strict = { headers: { prefer: 'handling=strict' } }
    await define('ends', given)
    expect((await indexed('Patient?ends=true')).status).toBe(200)
    await define('ends', { ...given, status: 'retired' })
    expect((await call('GET', 'Patient?ends=true', strict)).status).toBe(400)
    await define('ends', given)
    expect(await isKnown()).toBe(true)
    expect((await call('DELETE', 'SearchParameter/ends')).status).toBe(204)
    expect((await call('GET', 'Patient?ends=true', strict)).status).toBe(400)
  })

  test('that comes back after it was deleted knows nothing of values that went meanwhile', async () => {
    const given = { code: 'returns', base: ['Person'], type: 'token', expression: `Person.extension('${trial}').value` }
    const whole = (id: string, name?: string) => ({
      resourceType: 'Person',
      id,
      ...(name && { extension: [{ url: trial, valueCode: name }] }),
    })
    await put(whole('stays', 'north'))
    await put(whole('leaves', 'north'))
    await define('returns', given)
    expect(await found('Person?returns=north')).toEqual(['leaves', 'stays'])
    expect((await call('DELETE', 'SearchParameter/returns')).status).toBe(204)
    await put(whole('leaves'))
    await define('returns', given)
    expect(await found('Person?returns=north')).toEqual(['stays'])
  })

  test.each([
    ['date', { valueDate: '2024-05' }, { valueDate: '2023' }, 'ge2024-05-01'],
    ['number', { valueInteger: 12 }, { valueInteger: 3 }, 'gt11'],
    ['quantity', { valueQuantity: { value: 2, unit: 'cm' } }, { valueQuantity: { unit: 'cm' } }, '2||cm'],
    ['string', { valueString: 'Rose' }, { valueString: 'Lily' }, 'ros'],
  ] as const)('tells by a %s what has a value, whenever it was stored', async (type, value, other, hit) => {
    const [code, url] = [`late-${type}`, `https://example.org/late-${type}`]
    const basic = (id: string, ...values: object[]) => ({
      ...{ resourceType: 'Basic', id: `${type}-${id}`, code: { text: type } },
      ...(values.length > 0 && { extension: values.map(each => ({ url, ...each })) }),
    })
    const given = { code, base: ['Basic'], type, expression: `Basic.extension('${url}').value` }
    const here = `code:text=${type}`
    const ids = (...names: string[]) => names.map(name => `${type}-${name}`)
    await put(basic('before', value))
    await put(basic('other', other))
    await put(basic('both', value, other))
    await put(basic('never'))
    await define(code, given)
    expect(await found(`Basic?${here}&${code}=${hit}`)).toEqual(ids('before', 'both'))
    await put(basic('after', value))
    await put(basic('neither'))
    expect(await found(`Basic?${here}&${code}=${hit}`)).toEqual(ids('after', 'before', 'both'))
    expect(await found(`Basic?${here}&${code}:missing=false`)).toEqual(ids('after', 'before', 'both', 'other'))
    expect(await found(`Basic?${here}&${code}:missing=true`)).toEqual(ids('neither', 'never'))
    await put(basic('before'))
    await put(basic('both', other))
    expect(await found(`Basic?${here}&${code}=${hit}`)).toEqual(ids('after'))
    expect(await found(`Basic?${here}&${code}:missing=true`)).toEqual(ids('before', 'neither', 'never'))
    expect((await call('DELETE', `SearchParameter/${code}`)).status).toBe(204)
    await put(basic('after'))
    await define(code, given)
    expect(await found(`Basic?${here}&${code}=${hit}`)).toEqual([])
    expect(await found(`Basic?${here}&${code}:missing=false`)).toEqual(ids('both', 'other'))
  })

  test('comes in a transaction with the resources that it finds, and goes in one', async () => {
    const entry = (resource: { resourceType: string; id: string }) => ({
      resource,
      request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
    })
    const given = { code: 'bundled', base: ['Group'], type: 'number', expression: 'Group.quantity' }
    const group = { resourceType: 'Group', id: 'g', type: 'person', actual: true, quantity: 3 }
    const created = await call('POST', '', {
      body: {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [entry(group), entry({ ...parameter(given), id: 'bundled' } as never)],
      },
    })
    expect(created.status, created.text).toBe(200)
    expect(await found('Group?bundled=3')).toEqual(['g'])
    const gone = await call('POST', '', {
      body: {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [
          { request: { method: 'DELETE', url: 'SearchParameter/bundled' } },
          entry({ ...group, quantity: 4 } as never),
        ],
      },
    })
    expect(gone.status, gone.text).toBe(200)
    expect((await call('GET', 'Group?bundled=4', { headers: { prefer: 'handling=strict' } })).status).toBe(400)
  })

  test('leaves nothing behind when the transaction that brings it fails', async () => {
    const given = { code: 'undone', base: ['Patient'], type: 'token', expression: 'Patient.active' }
    const entry = [
      { resource: { ...parameter(given), id: 'undone' }, request: { method: 'PUT', url: 'SearchParameter/undone' } },
      {
        resource: person('mover', { active: false }),
        request: { method: 'PUT', url: 'Patient/mover', ifMatch: 'W/"99"' },
      },
    ]
    expect((await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })).status).toBe(412)
    expect((await call('GET', 'Patient?undone=true', { headers: { prefer: 'handling=strict' } })).status).toBe(400)
    await put(person('written-after'))
  })

  test('that fails on a resource keeps nobody from storing it', async () => {
    const expression = 'Patient.name.given.single().upper()'
    expect((await define('single', { code: 'single', base: ['Patient'], type: 'string', expression })).status).toBe(201)
    await put(person('two-names', { name: [{ given: ['Ada', 'May'] }] }))
    await put(person('one-name', { name: [{ given: ['Ada'] }] }))
    expect(await found('Patient?single=ada')).toEqual(['one-name'])
  })
})

describe('what cannot be searched by is refused where it is defined', () => {
  const refused: readonly [string, Partial<Given>, string, RegExp][] = [
    ['an expression that is none', { expression: 'Patient.(' }, 'expression', /line 1, column \d+/],
    ['an element that the type has not', { expression: 'Patient.brithDate' }, 'expression', /brithDate/],
    ['an expression of another type', { expression: 'Practitioner.active' }, 'expression', /does not cover Patient/],
    ['a regular expression', { expression: `Patient.id.matches('(a+)+$')` }, 'expression', /matches/],
    ['a code of R4', { code: 'gender' }, 'code', /R4 already defines the search parameter gender/],
    ['a code that shapes answers', { code: '_sort' }, 'code', /_sort/],
    ['a code that is read in a way of its own', { code: '_filter' }, 'code', /_filter/],
    ['a code that is no name', { code: 'a:b' }, 'code', /a:b/],
    ['a composite without parts', { type: 'composite' }, 'component', /two components/],
  ]

  test.each(refused)('%s', async (_what, given, element, words) => {
    const body = parameter({ code: 'bad', base: ['Patient'], type: 'token', expression: 'Patient.active', ...given })
    const answer = await call('POST', 'SearchParameter', { body })
    expect(answer.status, answer.text).toBe(400)
    expect(issueOf(answer.body).diagnostics).toMatch(words)
    expect(issueOf(answer.body).expression).toEqual([`SearchParameter.${element}`])
    const validated = await call('POST', 'SearchParameter/$validate', { body })
    expect(issueOf(validated.body).diagnostics).toMatch(words)
  })

  test('a code that another definition has taken', async () => {
    const given = { code: 'taken', base: ['Patient'], type: 'token', expression: 'Patient.active' }
    expect((await define('taken', given)).status).toBe(201)
    const { status, body } = await call('POST', 'SearchParameter', { body: parameter(given) })
    expect(status).toBe(422)
    expect(issueOf(body).code).toBe('duplicate')
    expect(issueOf(body).diagnostics).toContain('SearchParameter/taken')
    expect(matchIds((await call('GET', `SearchParameter?code=taken`)).body)).toEqual(['taken'])
  })

  test('a draft is stored like any resource, and defines nothing', async () => {
    const given = { code: 'draft', base: ['Patient'], type: 'token', expression: 'Patient.nothing', status: 'draft' }
    expect((await define('draft', given)).status).toBe(201)
    const strict = await call('GET', 'Patient?draft=x', { headers: { prefer: 'handling=strict' } })
    expect(strict.status).toBe(400)
  })

  test.each<[string, Partial<Given>]>([
    ['a choice that is narrowed', { type: 'date', expression: 'Patient.deceased.as(dateTime)' }],
    ['a choice in the older way', { type: 'date', expression: '(Patient.deceased as dateTime)' }],
    ['alternatives', { type: 'string', expression: 'Patient.name.family | Patient.contact.name.family' }],
    [
      'a reference by what it leads to',
      {
        type: 'reference',
        expression: 'Patient.generalPractitioner.where(resolve() is Practitioner)',
        target: ['Practitioner'],
      },
    ],
    ['an extension within an extension', { expression: "Patient.extension('urn:a').extension.where(url = 'b').value" }],
    [
      'everything else that a definition may say',
      {
        ...{ expression: 'Patient.communication.language', version: '6.1.0', experimental: false, date: '2024-05-01' },
        ...{ publisher: 'A guide', derivedFrom: 'http://hl7.org/fhir/SearchParameter/Patient-language', purpose: 'x' },
        ...{ contact: [{ telecom: [{ system: 'url', value: 'https://example.org' }] }], xpath: 'f:Patient/f:x' },
        ...{ xpathUsage: 'normal', multipleOr: true, multipleAnd: false, comparator: ['eq'], modifier: ['missing'] },
        jurisdiction: [{ coding: [{ system: 'urn:iso:std:iso:3166', code: 'SN' }] }],
        extension: [
          {
            url: 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status',
            valueCode: 'trial-use',
          },
        ],
        _multipleOr: {
          extension: [
            { url: 'http://hl7.org/fhir/StructureDefinition/capabilitystatement-expectation', valueCode: 'MAY' },
          ],
        },
      },
    ],
  ])('a definition as guides write it is not: %s', async (what, more) => {
    const code = what.replaceAll(' ', '-')
    const { status, text } = await define(code, {
      ...{ code, base: ['Patient'], type: 'token', expression: 'Patient.active' },
      ...more,
    })
    expect([status, status === 201 ? '' : text]).toEqual([201, ''])
  })

  const guides = ['us.core-6.1.0', 'us.core-8.0.0', 'us.carin-bb-2.0.0']
  const folder = sharedData('ig-packages')
  test.skipIf(!folder).each(guides)(
    `the parameters of the published guide %s are not${folder ? '' : ' (skipped: no shared data)'}`,
    async name => {
      const files = jsonFiles(`${folder}/hl7.fhir.${name}.tgz`, /package\/SearchParameter-[^/]*$/) as { id: string }[]
      const entry = files.map(resource => ({
        resource,
        request: { method: 'PUT', url: `SearchParameter/${resource.id}` },
      }))
      const { body } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'batch', entry } })
      const refused = body.entry.filter(({ response }: { response: { status: string } }) => response.status >= '3')
      expect([body.entry.length, refused]).toEqual([files.length, []])
    },
  )
})

describe('with several processes', () => {
  test('no resource slips past a definition, whichever process stores it', async () => {
    const other = await startBeside(service)
    const callOther = fhirCaller(() => other)
    let isDone = false
    let written = 0
    const writer = async (by: typeof call, name: string) => {
      for (let number = 0; !isDone; number++) {
        const body = { resourceType: 'Basic', id: `${name}-${number}`, code: { text: 'x' }, created: '2024-01-01' }
        const { status, text } = await by('PUT', `Basic/${body.id}`, { body })
        expect(status, text).toBe(201)
        written++
      }
    }
    const writers = [call, callOther, call, callOther].map((by, index) => writer(by, `w${index}`))
    await sleep(100)
    const given = { code: 'made', base: ['Basic'], type: 'date', expression: 'Basic.created' }
    expect((await define('made', given)).status).toBe(201)
    const answers = await Promise.all([
      indexed('Basic?made=2024&_summary=count'),
      indexed('Basic?made=2024', callOther),
    ])
    expect(answers.map(each => each.status)).toEqual([200, 200])
    isDone = true
    await Promise.all(writers)
    const counts = await Promise.all([call, callOther].map(by => by('GET', 'Basic?made=2024&_summary=count')))
    expect(counts.map(each => each.body.total)).toEqual([written, written])
  })

  test('one that only loads, and listens to nobody, still learns of a definition before it stores anything more', async () => {
    const connection = { ...inject('server'), database: service.database }
    const storage = openStorage(
      configOfRun(),
      connection,
      dataSetAt(service.url),
      createLog('silent'),
      Buffer.alloc(32),
    )
    onCleanup(() => storage.database.end())
    const loader = storage.storeFor(system)
    const basic = (id: string, name: string) => ({ resourceType: 'Basic', id, code: { text: name } })
    await loader.update('Basic', 'l1', basic('l1', 'before'), {})
    await loader.update('Basic', 'l2', basic('l2', 'before'), {})
    const expression = 'Basic.code.text'
    expect((await define('called', { code: 'called', base: ['Basic'], type: 'string', expression })).status).toBe(201)
    expect(await found('Basic?called=before')).toEqual(['l1', 'l2'])
    await loader.update('Basic', 'l1', basic('l1', 'after'), {})
    await loader.create('Basic', { resourceType: 'Basic', code: { text: 'after' } })
    expect((await found('Basic?called=after')).length).toBe(2)
    expect(await found('Basic?called=before')).toEqual(['l2'])
  })

  test('one that comes while another is being indexed is not taken for indexed with it', async () => {
    const busy = await startService()
    const by = fhirCaller(() => busy)
    const entry = Array.from({ length: 450 }, (_, number) => ({
      resource: { resourceType: 'Basic', code: { text: `n${number}` }, created: '2024-01-01' },
      request: { method: 'POST', url: 'Basic' },
    }))
    expect((await by('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })).status).toBe(200)
    const connection = { ...inject('server'), database: busy.database }
    const other = openStorage(configOfRun(), connection, dataSetAt(busy.url), createLog('silent'), Buffer.alloc(32))
    onCleanup(() => other.database.end())
    // It defines, and leaves the indexing to others.
    await other.indexing.close()
    const basic = { base: ['Basic'], type: 'date' }
    // Nothing has a value for the first, and its indexing waits for whoever has a resource in hand.
    await other.database.transaction(async on => {
      await on.query({ text: 'select 1 from directory order by type, id limit 1 for update', values: [] })
      const nothing = parameter({ ...basic, code: 'nothing', expression: `Basic.extension('${trial}').value` })
      expect((await by('POST', 'SearchParameter', { body: nothing })).status).toBe(201)
      const made = { ...parameter({ ...basic, code: 'made', expression: 'Basic.created' }), id: 'made' }
      await other.storeFor(system).update('SearchParameter', 'made', made as never, {})
    })
    const { body } = await indexed('Basic?made=2024&_summary=count', by)
    expect(body.total).toBe(450)
  })

  test('one that starts later finishes what is half indexed', async () => {
    const first = await startService()
    const by = fhirCaller(() => first)
    const entry = Array.from({ length: 900 }, (_, number) => ({
      resource: { resourceType: 'Basic', code: { text: `n${number}` }, created: '2024-01-01' },
      request: { method: 'POST', url: 'Basic' },
    }))
    expect((await by('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })).status).toBe(200)
    // Whoever has the last one in hand keeps it from being indexed.
    const other = openStorage(
      configOfRun(),
      { ...inject('server'), database: first.database },
      dataSetAt(first.url),
      createLog('silent'),
      Buffer.alloc(32),
    )
    onCleanup(() => other.database.end())
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { promise: held, resolve: hold } = Promise.withResolvers<void>()
    const holding = other.database.transaction(async on => {
      await on.query({ text: 'select 1 from directory order by type, id desc limit 1 for update', values: [] })
      hold()
      await released
    })
    await held
    const given = { code: 'made', base: ['Basic'], type: 'date', expression: 'Basic.created' }
    expect((await by('POST', 'SearchParameter', { body: parameter(given) })).status).toBe(201)
    const early = await by('GET', 'Basic?made=2024')
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '5'])
    expect(issueOf(early.body).diagnostics).toContain('still being indexed')
    const conditional = {
      body: { resourceType: 'Basic', code: { text: 'x' } },
      headers: { 'if-none-exist': 'made=2024' },
    }
    expect((await by('POST', 'Basic', conditional)).status).toBe(503)
    const stopping = first.stop()
    release()
    await Promise.all([stopping, holding])
    const second = await startBeside(first)
    const { body } = await indexed(
      'Basic?made=2024&_summary=count',
      fhirCaller(() => second),
    )
    expect(body.total).toBe(900)
  })
})
