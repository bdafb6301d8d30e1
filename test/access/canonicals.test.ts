// A URL means what the caller's own organisation, or everybody's publisher, says: no client redefines it for others.
import { beforeAll, describe, expect, test } from 'vitest'
import { system as loader } from '../../src/access/caller.ts'
import { type Answer, fhirCaller, matchIds } from '../support/fhir.ts'
import { bundleOf, entryOf, type Party, partyOf } from '../support/parties.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let clinic: Party
let rival: Party
const call = fhirCaller(() => service)
const system = 'http://codes.example/diseases'
const coding = (code: string) => ({ coding: [{ system, code }] })

const valueSet = (url: string, codes: readonly string[], more: object = {}) => ({
  resourceType: 'ValueSet',
  status: 'active',
  url,
  compose: { include: [{ system, concept: codes.map(code => ({ code })) }] },
  ...more,
})
const conceptMap = (url: string, to: string, more: object = {}) => ({
  resourceType: 'ConceptMap',
  status: 'active',
  url,
  group: [{ source: system, target: system, element: [{ code: 'a', target: [{ code: to, equivalence: 'equal' }] }] }],
  ...more,
})
const created = (answer: Answer): string => {
  expect(answer.status, answer.text).toBe(201)
  return answer.body.id
}
const create = async (
  by: Party | undefined,
  resource: { resourceType: string; [more: string]: unknown },
): Promise<string> => created(await (by?.call ?? call)('POST', resource.resourceType, { body: resource }))
const expanded = async (by: Party | undefined, url: string): Promise<string[]> => {
  const { status, text, body } = await (by?.call ?? call)('GET', `ValueSet/$expand?url=${url}`)
  expect(status, text).toBe(200)
  return body.expansion.contains.map((each: { code: string }) => each.code)
}

beforeAll(async () => {
  service = await startService()
  clinic = await partyOf(service, 'clinic')
  rival = await partyOf(service, 'rival')
})

describe('a value set of an exempt client', () => {
  const url = 'http://shared.example/vs/malaria'

  test('is what everybody finds by its URL, and a client redefines it for its own organisation alone', async () => {
    await create(undefined, valueSet(url, ['a']))
    await create(undefined, { resourceType: 'Device', type: coding('a') })
    await create(undefined, { resourceType: 'Device', type: coding('z') })
    await create(rival, valueSet(url, ['z']))
    expect(await expanded(undefined, url)).toEqual(['a'])
    expect(await expanded(clinic, url)).toEqual(['a'])
    expect(await expanded(rival, url)).toEqual(['z'])
    const found = async (by: Party) => {
      const { body } = await by.call('GET', `Device?type:in=${url}`)
      return body.entry.map((each: Answer['body']) => each.resource.type.coding[0].code)
    }
    expect([await found(clinic), await found(rival)]).toEqual([['a'], ['z']])
    const isMember = async (by: Party) =>
      (await by.call('GET', `ValueSet/$validate-code?url=${url}&system=${system}&code=a`)).body.parameter[0]
        .valueBoolean
    expect([await isMember(clinic), await isMember(rival)]).toEqual([true, false])
  })

  test('stays what it is when a value set that it imports is redefined by another', async () => {
    await create(undefined, valueSet('http://shared.example/vs/part', ['b']))
    await create(undefined, {
      ...valueSet('http://shared.example/vs/whole', []),
      compose: { include: [{ valueSet: ['http://shared.example/vs/part'] }] },
    })
    await create(rival, valueSet('http://shared.example/vs/part', ['z']))
    expect(await expanded(clinic, 'http://shared.example/vs/whole')).toEqual(['b'])
  })
})

describe('what another organisation alone has stored', () => {
  const url = 'http://clinic.example/vs/own'

  test('is no answer to a URL, and the refusal says how to name it', async () => {
    const id = await create(clinic, valueSet(url, ['c']))
    const { status, text } = await rival.call('GET', `ValueSet/$expand?url=${url}`)
    expect([status, text.includes(`ValueSet/${id}`), text.includes('Organization/clinic')]).toEqual([404, true, true])
    expect((await rival.call('GET', `Device?type:in=${url}`)).status).toBe(400)
  })

  test('is found by a search, read, and used by its id', async () => {
    const { body } = await rival.call('GET', `ValueSet?url=${url}`)
    const [id] = matchIds(body)
    expect((await rival.call('GET', `ValueSet/${id}/$expand`)).body.expansion.total).toBe(1)
    expect((await rival.call('GET', `Device?type:in=ValueSet/${id}`)).status).toBe(200)
  })

  test('does not change what its owner finds when others store the same URL', async () => {
    await create(rival, valueSet(url, ['z']))
    expect([await expanded(clinic, url), await expanded(rival, url)]).toEqual([['c'], ['z']])
  })
})

test('a concept map translates for its owner alone; that of an exempt client for all others', async () => {
  const url = 'http://shared.example/cm/x'
  await create(undefined, conceptMap(url, 'shared'))
  await create(rival, conceptMap(url, 'mine'))
  const translated = async (by: Party | undefined) => {
    const { text } = await (by?.call ?? call)('GET', `ConceptMap/$translate?url=${url}&system=${system}&code=a`)
    return ['shared', 'mine'].filter(each => text.includes(`"${each}"`))
  }
  expect([await translated(clinic), await translated(undefined), await translated(rival)]).toEqual([
    ['shared'],
    ['shared'],
    ['mine'],
  ])
})

test('a hierarchy is that of the own code system, or of the shared one', async () => {
  const url = 'http://shared.example/cs'
  const codeSystem = (child: string) => ({
    ...{ resourceType: 'CodeSystem', status: 'active', url, content: 'complete' },
    concept: [{ code: 'top', concept: [{ code: child }] }],
  })
  await create(undefined, codeSystem('shared'))
  await create(rival, codeSystem('mine'))
  for (const code of ['shared', 'mine'])
    await create(undefined, { resourceType: 'Substance', code: { coding: [{ system: url, code }] } })
  const below = async (by: Party) => {
    const { body } = await by.call('GET', `Substance?code:below=${encodeURIComponent(`${url}|top`)}`)
    return body.entry.map((each: Answer['body']) => each.resource.code.coding[0].code)
  }
  expect([await below(clinic), await below(rival)]).toEqual([['shared'], ['mine']])
})

describe('a map', () => {
  const patient = { resourceType: 'Patient', gender: 'female' }
  const mapOf = (url: string, text: string, imports = '') => ({
    resourceType: 'StructureMap',
    status: 'active',
    url,
    name: 'M',
    structure: [
      { url: 'http://hl7.org/fhir/StructureDefinition/Patient', mode: 'source', alias: 'Patient' },
      { url: 'http://hl7.org/fhir/StructureDefinition/Basic', mode: 'target', alias: 'Basic' },
    ],
    ...(imports ? { import: [imports] } : {}),
    group: [
      {
        name: text.startsWith('Part') ? 'Part' : 'Main',
        typeMode: 'none',
        input: [
          { name: 'src', type: 'Patient', mode: 'source' },
          { name: 'tgt', type: 'Basic', mode: 'target' },
        ],
        rule: [
          imports
            ? { name: 'r', source: [{ context: 'src' }], dependent: [{ name: 'Part', variable: ['src', 'tgt'] }] }
            : {
                name: 'r',
                source: [{ context: 'src' }],
                target: [
                  {
                    context: 'tgt',
                    contextType: 'variable',
                    element: 'code',
                    transform: 'cc',
                    parameter: [{ valueString: text }],
                  },
                ],
              },
        ],
      },
    ],
  })
  const made = async (by: Party | undefined, source: string) => {
    const body = {
      resourceType: 'Parameters',
      parameter: [
        { name: 'source', valueString: source },
        { name: 'content', resource: patient },
      ],
    }
    const answer = await (by?.call ?? call)('POST', 'StructureMap/$transform', { body })
    expect(answer.status, answer.text).toBe(200)
    return answer.body.code.text
  }

  test('of an exempt client works for everybody as it stands, whoever stores another under its URL', async () => {
    const url = 'http://shared.example/map'
    await create(undefined, mapOf(url, 'shared'))
    await create(rival, mapOf(url, 'mine'))
    expect([await made(clinic, url), await made(undefined, url), await made(rival, url)]).toEqual([
      'shared',
      'shared',
      'mine',
    ])
  })

  test.each(['http://shared.example/parts/one', 'http://shared.example/parts/*'])(
    'imports from %s what is shared, not what another organisation has stored',
    async imports => {
      const name = imports.endsWith('*') ? 'all' : 'one'
      await create(rival, mapOf(`http://shared.example/parts/${name}`, 'Part of the rival'))
      await create(undefined, mapOf(`http://shared.example/parts/${name}`, 'Part that is shared'))
      await create(undefined, mapOf(`http://shared.example/main-${name}`, '', imports.replace('one', name)))
      expect(await made(clinic, `http://shared.example/main-${name}`)).toBe('Part that is shared')
    },
  )
})

describe('reserved URLs', () => {
  const own = (url: string) => url.replace('OWN', service.url)

  test.each([
    ['StructureMap', 'https://health-interop.org/fhir/StructureMap/allergy-to-fhir'],
    ['ValueSet', 'https://health-interop.org/fhir/ValueSet/anything'],
    ['ValueSet', 'OWN/api/fhir/R4/ValueSet/x'],
    ['CodeSystem', 'OWN/fhir/CodeSystem/x'],
    ['ValueSet', 'http://hl7.org/fhir/ValueSet/administrative-gender'],
    ['ValueSet', 'https://hl7.org/fhir/ValueSet/administrative-gender'],
    ['CodeSystem', 'http://terminology.hl7.org/CodeSystem/v3-ActReason'],
    ['SearchParameter', 'http://hl7.org/fhir/SearchParameter/Patient-name'],
    ['ConceptMap', 'http://hl7.org/fhir/ConceptMap/101'],
  ])('%s %s is written by exempt clients alone', async (resourceType, url) => {
    const status = 'draft'
    const content: Record<string, object> = {
      StructureMap: {
        name: 'M',
        group: [
          {
            ...{ name: 'G', typeMode: 'none', input: [{ name: 'src', mode: 'source' }] },
            rule: [{ name: 'r', source: [{ context: 'src' }] }],
          },
        ],
      },
      CodeSystem: { content: 'not-present' },
      SearchParameter: { name: 'N', description: 'x', code: 'name', base: ['Patient'], type: 'string' },
    }
    const body = { resourceType, status, url: own(url), ...content[resourceType] }
    const answers = [
      await rival.call('POST', resourceType, { body }),
      await rival.call('PUT', `${resourceType}/taken`, { body: { ...body, id: 'taken' } }),
      await rival.call('POST', '', { body: bundleOf('transaction', entryOf('POST', resourceType, body)) }),
    ]
    expect(
      answers.map(({ status }) => status),
      answers[0]!.text,
    ).toEqual([403, 403, 403])
    for (const { text } of answers) expect(text).toContain(`${resourceType}.url`)
    expect((await call('POST', resourceType, { body })).status).toBe(201)
  })

  test('an own resource is not moved to one', async () => {
    const id = await create(clinic, valueSet('http://clinic.example/vs/moving', ['a']))
    const patch = JSON.stringify([{ op: 'replace', path: '/url', value: 'http://hl7.org/fhir/ValueSet/flag-status' }])
    const headers = { 'content-type': 'application/json-patch+json' }
    expect((await clinic.call('PATCH', `ValueSet/${id}`, { body: patch, headers })).status).toBe(403)
  })

  test('what only looks like one is free', async () => {
    for (const url of [
      'http://hl7.org.example/vs',
      `${service.url}0/vs`,
      'https://health-interop.organisation.example/x',
    ])
      await create(clinic, valueSet(url, ['a']))
  })

  test('a naming system cannot claim one as its identifier', async () => {
    const naming = (value: string) => ({
      ...{ resourceType: 'NamingSystem', name: 'N', status: 'active', kind: 'identifier', date: '2026-01-01' },
      uniqueId: [{ type: 'uri', value }],
    })
    const refused = await rival.call('POST', 'NamingSystem', { body: naming(own('OWN/fhir/NamingSystem/health-id')) })
    expect([refused.status, refused.text.includes('NamingSystem.uniqueId')]).toEqual([403, true])
    await create(rival, naming('http://rival.example/numbers'))
  })

  test('those of a loaded package are reserved as well', async () => {
    const { storeFor } = service.application
    const url = 'http://package.example/vs'
    await storeFor({ ...loader, author: clinic.clientId }).create('ValueSet', valueSet(url, ['a']))
    const { status, text } = await clinic.call('POST', 'ValueSet', { body: valueSet(url, ['b']) })
    expect([status, text.includes('reserved')]).toEqual([403, true])
    expect(await expanded(rival, url)).toEqual(['a'])
  })

  test('a required value set of R4 means what R4 says', async () => {
    const before = await expanded(clinic, 'http://hl7.org/fhir/ValueSet/flag-status')
    expect(before).toEqual(['active', 'inactive', 'entered-in-error'])
  })
})

describe('one owner', () => {
  const url = 'http://clinic.example/vs/twice'

  test('has one active resource of a url and version, in any way of writing', async () => {
    const id = await create(clinic, valueSet(url, ['a'], { version: '1' }))
    const again = valueSet(url, ['b'], { version: '1' })
    const doors = [
      () => clinic.call('POST', 'ValueSet', { body: again }),
      () => clinic.call('PUT', 'ValueSet/again', { body: { ...again, id: 'again' } }),
      () => clinic.call('POST', '', { body: bundleOf('transaction', entryOf('POST', 'ValueSet', again)) }),
    ]
    for (const door of doors) {
      const { status, text } = await door()
      expect([status, text.includes(`ValueSet/${id}`), text.includes('duplicate')], text).toEqual([422, true, true])
    }
  })

  test('may have drafts of it, which do not become active beside it', async () => {
    const id = await create(clinic, valueSet(url, ['b'], { version: '1', status: 'draft' }))
    const body = JSON.stringify([{ op: 'replace', path: '/status', value: 'active' }])
    const headers = { 'content-type': 'application/json-patch+json' }
    expect((await clinic.call('PATCH', `ValueSet/${id}`, { body, headers })).status).toBe(422)
    expect(await expanded(clinic, url)).toEqual(['a'])
  })

  test('may have other versions, one without a version, and other types', async () => {
    await create(clinic, valueSet(url, ['a'], { version: '2' }))
    await create(clinic, valueSet(url, ['a']))
    await create(clinic, conceptMap(url, 'a', { version: '1' }))
    expect((await clinic.call('POST', 'ValueSet', { body: valueSet(url, ['a']) })).status).toBe(422)
  })

  test('changes it, and exchanges it for another in one transaction', async () => {
    const [id] = matchIds((await clinic.call('GET', `ValueSet?url=${url}&version=2`)).body)
    const old = valueSet(url, ['c'], { id, version: '2' })
    expect((await clinic.call('PUT', `ValueSet/${id}`, { body: old })).status).toBe(200)
    const retired = entryOf('PUT', `ValueSet/${id}`, { ...old, status: 'retired' })
    const fresh = entryOf('POST', 'ValueSet', valueSet(url, ['d'], { version: '2' }))
    expect((await clinic.call('POST', '', { body: bundleOf('transaction', fresh, retired) })).status).toBe(200)
  })

  test('is not two when it asks twice at once', async () => {
    const body = valueSet('http://clinic.example/vs/race', ['a'])
    const answers = await Promise.all(Array.from({ length: 8 }, () => clinic.call('POST', 'ValueSet', { body })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(422)])
  })

  test('does not stand in the way of another', async () => {
    await create(rival, valueSet(url, ['z'], { version: '1' }))
    expect([await expanded(clinic, `${url}|1`), await expanded(rival, `${url}|1`)]).toEqual([['a'], ['z']])
  })
})
