// What published guides ask of a server: their examples are stored, and found by every search that their own
// CapabilityStatement names (http://hl7.org/fhir/us/core/STU6.1, http://hl7.org/fhir/uv/ipa/STU1).
import { beforeAll, describe, expect, test } from 'vitest'
import { searchParams, typeModel } from '../../../src/definitions/r4.ts'
import { compileTyped } from '../../../src/fhirpath/compile.ts'
import { sharedData } from '../../support/data.ts'
import { type Answer, fhirCaller, matchIds } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { jsonFiles } from '../../support/tgz.ts'

interface Resource {
  readonly resourceType: string
  readonly id: string
  readonly [element: string]: unknown
}

interface Extension {
  readonly url: string
  readonly valueString?: string
  readonly valueCode?: string
  readonly extension?: readonly Extension[]
}

interface Asked {
  readonly type: string
  readonly profile?: string
  readonly supportedProfile?: readonly string[]
  readonly extension?: readonly Extension[]
  readonly searchParam?: readonly { readonly name: string; readonly extension?: readonly Extension[] }[]
  readonly searchInclude?: readonly string[]
  readonly searchRevInclude?: readonly string[]
}

const folder = sharedData('ig-packages')
const guides = ['us.core-6.1.0', 'uv.ipa-1.0.0']
const packageOf = (guide: string): string => `${folder}/hl7.fhir.${guide}.tgz`

/** What the guide's CapabilityStatement asks of a server. */
function statementOf(guide: string): { url: string; resources: readonly Asked[] } {
  const [statement] = jsonFiles(packageOf(guide), /CapabilityStatement-[\w-]+-server\.json$/) as Resource[]
  const { resource } = (statement!['rest'] as { resource: Asked[] }[])[0]!
  return { url: String(statement!['url']), resources: resource }
}

// Definitions and bundles are not what an application searches for.
const isClinical = ({ resourceType }: Resource): boolean =>
  !['Bundle', 'StructureDefinition', 'SearchParameter', 'ImplementationGuide', 'ValueSet', 'CodeSystem'].includes(
    resourceType,
  )

const isExpected = (extension: readonly Extension[] = []): boolean =>
  extension.some(({ valueCode }) => valueCode === 'SHALL' || valueCode === 'SHOULD')

/** Every set of parameters that is to be searched by, those that a server may offer left out. */
function searchesOf({ extension = [], searchParam = [] }: Asked): string[][] {
  const single = searchParam.filter(each => isExpected(each.extension)).map(({ name }) => [name])
  const combined = extension
    .filter(({ url, extension: inner }) => url.endsWith('search-parameter-combination') && isExpected(inner))
    .map(({ extension: inner = [] }) =>
      inner.flatMap(({ url, valueString }) => (url === 'required' ? [valueString!] : [])),
    )
  return [...single, ...combined]
}

/** A value by which the resource is to be found, as an application would write it; undefined if it has none. */
function wantedBy(resource: Resource, code: string): string | undefined {
  if (code === '_id') return resource.id
  const param = searchParams(resource.resourceType).get(code)
  if (!param?.expression) throw new Error(`${resource.resourceType} has no parameter ${code}`)
  const run = compileTyped(param.expression, { model: { typeModel }, type: resource.resourceType })
  const values = run(resource, { resource })
  return values.map(({ value }) => written(param.type, value)).find(value => value !== undefined)
}

function written(kind: string, value: unknown): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value)
  const parts = value as Record<string, never>
  if (kind === 'reference') return parts['reference']
  if (kind === 'date') return parts['start'] && `ge${parts['start']}`
  if (kind === 'string') return parts['family'] ?? parts['city'] ?? parts['text']
  const coding = (parts['coding'] as Record<string, string>[] | undefined)?.[0] ?? (parts as Record<string, string>)
  const word = coding['code'] ?? coding['value']
  return word && [coding['system'], word].filter(part => part !== undefined).join('|')
}

/** The search by these parameters that finds an example, with the example's id; undefined if no example has them all. */
function searchFor(examples: readonly Resource[], codes: readonly string[]): { query: string; id: string } | undefined {
  for (const example of examples) {
    const pairs = codes.map(code => [code, wantedBy(example, code)] as const)
    if (pairs.every(([, value]) => value !== undefined))
      return { query: new URLSearchParams(pairs as unknown as string[][]).toString(), id: example.id }
  }
  return undefined
}

describe.skipIf(!folder)(`published guides${folder ? '' : ' (skipped: no shared data)'}`, () => {
  describe.each(folder ? guides : [])('%s', guide => {
    const { url, resources } = statementOf(guide)
    const examples = (jsonFiles(packageOf(guide), /^package\/example\/[^/]+\.json$/) as Resource[]).filter(isClinical)
    let service: Service
    let metadata: Answer['body']
    const call = fhirCaller(() => service)
    const strict = { headers: { prefer: 'handling=strict' } }
    const refused: string[] = []

    beforeAll(async () => {
      service = await startService()
      metadata = (await call('GET', 'metadata')).body
      for (const example of examples) {
        const { status, text } = await call('PUT', `${example.resourceType}/${example.id}`, { body: example })
        if (status >= 300) refused.push(`${example.resourceType}/${example.id} ${text}`)
      }
    }, 60_000)

    test('every example is stored', () => {
      expect(examples.length).toBeGreaterThan(10)
      expect(refused).toEqual([])
    })

    test('the server says that it does what the guide asks, profile by profile', () => {
      expect(metadata.instantiates).toContain(url)
      const said = new Map<string, string[]>(
        metadata.rest[0].resource.map((each: Asked) => [each.type, each.supportedProfile ?? []]),
      )
      const wanted = resources.flatMap(({ type, profile, supportedProfile = [] }) =>
        [...supportedProfile, ...(profile ? [profile] : [])]
          .filter(each => each.startsWith(url.split('/CapabilityStatement')[0]!))
          .filter(each => !said.get(type)!.includes(each)),
      )
      expect(wanted).toEqual([])
    })

    test.each(resources.map(asked => [asked.type, asked] as const))(
      'every search that it asks for finds an example: %s',
      async (type, asked) => {
        const own = examples.filter(example => example.resourceType === type)
        const missed: string[] = []
        for (const codes of searchesOf(asked)) {
          const search = searchFor(own, codes)
          if (!search) {
            const { status } = await call(
              'GET',
              `${type}?${codes.map(code => `${code}:missing=false`).join('&')}`,
              strict,
            )
            if (status !== 200) missed.push(`${type}?${codes.join('&')}: ${status}`)
            continue
          }
          const { query, id } = search
          const get = await call('GET', `${type}?${query}&_count=100`, strict)
          const post = await call('POST', `${type}/_search`, { body: new URLSearchParams(`${query}&_count=100`) })
          if (!matchIds(get.body).includes(id)) missed.push(`${type}?${query} does not find ${id}`)
          if (matchIds(get.body).join() !== matchIds(post.body).join()) missed.push(`${type}?${query} by POST`)
        }
        expect(missed).toEqual([])
        for (const include of asked.searchInclude ?? [])
          expect((await call('GET', `${type}?_include=${include}`, strict)).status).toBe(200)
        for (const include of asked.searchRevInclude ?? [])
          expect((await call('GET', `${type}?_revinclude=${include}`, strict)).status).toBe(200)
      },
    )

    test('a patient is named by id alone, by type and id, or by the whole address, with the same result', async () => {
      const types = new Set(resources.map(each => each.type).filter(type => searchParams(type).has('patient')))
      for (const type of types) {
        const own = examples.filter(example => example.resourceType === type)
        const search = searchFor(own, ['patient'])
        if (!search) continue
        const id = new URLSearchParams(search.query).get('patient')!.split('/').at(-1)!
        const forms = [id, `Patient/${id}`, `${service.url}/api/fhir/R4/Patient/${id}`]
        const answers = await Promise.all(
          forms.map(form => call('GET', `${type}?patient=${encodeURIComponent(form)}`, strict)),
        )
        const found = answers.map(({ body }) => matchIds(body))
        expect([type, found[0]!.includes(search.id)]).toEqual([type, true])
        expect([found[1], found[2]]).toEqual([found[0], found[0]])
      }
    })
  })
})
