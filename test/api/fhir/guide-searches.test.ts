// Every search that US Core 6.1 and IPA 1.0 ask a server for, each on a resource that has what it searches by.
// http://hl7.org/fhir/us/core/STU6.1/CapabilityStatement-us-core-server.html http://hl7.org/fhir/uv/ipa/STU1/
import { beforeAll, describe, expect, test } from 'vitest'
import { searchParams } from '../../../src/definitions/r4.ts'
import { creatorBy, fhirCaller, matchIds } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'
import { samples, word } from './guide-samples.ts'

const resourceOf = (type: string, id: string, patient: string) => {
  const { about, elements } = samples[type]!
  return { resourceType: type, id, ...elements, ...(about && { [about]: { reference: `Patient/${patient}` } }) }
}

let service: Service
const call = fhirCaller(() => service)
const strict = { headers: { prefer: 'handling=strict' } }

beforeAll(async () => {
  service = await startService()
  const types = Object.keys(samples)
  await creatorBy(call)(
    ...types.map(type => resourceOf(type, 'sample', 'sample')),
    ...types.filter(type => samples[type]!.about).map(type => resourceOf(type, 'other', 'other')),
    { resourceType: 'Medication', id: 'sample', code: word('artemether') },
  )
})

describe.each(Object.keys(samples))('%s', type => {
  const { about, values, searches, includes = '' } = samples[type]!
  const all: Readonly<Record<string, string>> = { _id: 'sample', patient: 'Patient/sample', ...values }

  test('is found by every search that the guides ask for, by GET and by POST', async () => {
    for (const search of searches.split(' ')) {
      const query = new URLSearchParams(search.split('+').map(name => [name, all[name]!]))
      const get = await call('GET', `${type}?${query}`, strict)
      expect([get.status, search]).toEqual([200, search])
      // Somebody else's is like it in everything but its patient and its id.
      const isTold = /patient|_id/.test(search) || !about
      expect([search, matchIds(get.body).sort()]).toEqual([search, isTold ? ['sample'] : ['other', 'sample']])
      const post = await call('POST', `${type}/_search`, { body: query })
      expect([search, matchIds(post.body)]).toEqual([search, matchIds(get.body)])
    }
  })

  test('takes what the guides ask to be included', async () => {
    for (const include of includes.split(' ').filter(Boolean)) {
      const { status } = await call('GET', `${type}?_include=${type}:${include}`, strict)
      expect([include, status]).toEqual([include, 200])
    }
    expect((await call('GET', `${type}?_revinclude=Provenance:target`, strict)).status).toBe(200)
  })

  if (!searchParams(type).has('patient')) return
  test('names its patient by id alone, by type and id, or by the whole address, with the same result', async () => {
    for (const form of ['sample', 'Patient/sample', `${service.url}/api/fhir/R4/Patient/sample`]) {
      const { body } = await call('GET', `${type}?patient=${encodeURIComponent(form)}`, strict)
      expect([form, matchIds(body)]).toEqual([form, ['sample']])
    }
  })
})

test('the server says that it does what the guides ask, for every type that they ask it for', async () => {
  const { body } = await call('GET', 'metadata')
  expect(body.instantiates).toEqual(
    expect.arrayContaining([
      'http://hl7.org/fhir/us/core/CapabilityStatement/us-core-server',
      'http://hl7.org/fhir/uv/ipa/CapabilityStatement/ipa-server',
    ]),
  )
  const profiles = body.rest[0].resource.filter((each: { supportedProfile?: string[] }) => each.supportedProfile)
  const guided = profiles.filter(({ supportedProfile }: { supportedProfile: string[] }) =>
    supportedProfile.some(each => /^http:\/\/hl7\.org\/fhir\/(us\/core|uv\/ipa)\/StructureDefinition\//.test(each)),
  )
  const missing = Object.keys(samples).filter(type => !guided.some((each: { type: string }) => each.type === type))
  expect(missing).toEqual([])
})
