// What few types have: places on the globe, stretches of a sequence, canonicals with versions. https://hl7.org/fhir/R4/search.html
import { beforeAll, describe, expect, test } from 'vitest'
import { creatorBy, fhirCaller, issueOf, matchIds } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)

const place = (id: string, latitude: number, longitude: number) => ({
  resourceType: 'Location',
  id,
  name: id,
  position: { latitude, longitude },
})
const sequence = (id: string, coordinateSystem: number, more: object) => ({
  resourceType: 'MolecularSequence',
  id,
  coordinateSystem,
  ...more,
})
const chromosome = { coding: [{ system: 'http://chromosomes', code: '1' }] }
const profiled = (id: string, ...profile: string[]) => ({
  resourceType: 'Basic',
  id,
  meta: { profile, source: 'http://hospital.org/system/lab#42' },
  code: { text: 'x' },
})
const resources: readonly ({ resourceType: string; id: string } & Record<string, unknown>)[] = [
  place('gaborone', -24.6545, 25.9086),
  place('tlokweng', -24.66, 25.97),
  place('francistown', -21.17, 27.5078),
  place('suva', -18.1248, 178.4501),
  place('taveuni', -16.85, -179.97),
  place('pole', 90, 0),
  { resourceType: 'Location', id: 'nowhere', name: 'nowhere' },
  sequence('one', 1, {
    referenceSeq: {
      genomeBuild: 'GRCh 37',
      chromosome,
      windowStart: 124,
      windowEnd: 344,
    },
    variant: [
      { start: 124, end: 130 },
      { start: 300, end: 344 },
    ],
  }),
  sequence('byid', 1, {
    referenceSeq: { referenceSeqId: { coding: [{ code: 'NC_1' }] }, windowStart: 124, windowEnd: 344 },
  }),
  sequence('zero', 0, {
    referenceSeq: { genomeBuild: 'GRCh 37', chromosome, windowStart: 123, windowEnd: 344 },
    variant: [{ start: 123, end: 344 }],
  }),
  sequence('other', 1, {
    referenceSeq: {
      genomeBuild: 'GRCh 37',
      chromosome: { coding: [{ system: 'http://chromosomes', code: '2' }] },
      windowStart: 124,
      windowEnd: 344,
    },
  }),
  sequence('half', 1, { referenceSeq: { genomeBuild: 'GRCh 37', chromosome, windowStart: 200 } }),
  profiled('v1', 'http://profiles.org/p|1.2.3'),
  profiled('v2', 'http://profiles.org/p|1.10'),
  profiled('v3', 'http://profiles.org/p|2'),
  profiled('v0', 'http://profiles.org/p'),
]

beforeAll(async () => {
  service = await startService()
  await creatorBy(call)(...resources)
})

const finds = (table: [query: string, ids: string[]][]) =>
  test.each(table)('%s', async (query, ids) => {
    const { status, text, body } = await call('GET', query.replaceAll('|', '%7C'))
    expect(status, text).toBe(200)
    expect(matchIds(body).sort()).toEqual(ids)
  })

const refuses = (table: [query: string, said: string][]) =>
  test.each(table)('%s is refused', async (query, said) => {
    const { status, body } = await call('GET', query.replaceAll('|', '%7C'))
    expect([status, issueOf(body).diagnostics]).toEqual([400, expect.stringContaining(said)])
  })

describe('near finds places', () => {
  finds([
    ['Location?near=-24.6545|25.9086|10|km', ['gaborone', 'tlokweng']],
    ['Location?near=-24.6545|25.9086|10', ['gaborone', 'tlokweng']],
    ['Location?near=-24.6545|25.9086|5|km', ['gaborone']],
    ['Location?near=-24.6545|25.9086|5|[mi_i]', ['gaborone', 'tlokweng']],
    ['Location?near=-24.6545|25.9086|6000|m', ['gaborone']],
    ['Location?near=-24.6545|25.9086', ['gaborone', 'tlokweng']],
    ['Location?near=-24.6545|25.9086|0|km', ['gaborone']],
    ['Location?near=-24.6545|25.9086|425|km', ['francistown', 'gaborone', 'tlokweng']],
    ['Location?near=-18.1248|178.4501|230|km', ['suva', 'taveuni']],
    ['Location?near=89.9|123|20|km', ['pole']],
    ['Location?near=-21.17|27.5|10|km,-18.12|178.45|10|km', ['francistown', 'suva']],
    ['Location?near=-24.6545|25.9086|10|km&name=tlok', ['tlokweng']],
    ['Location?near:missing=true', ['nowhere']],
    ['Location?_filter=near eq "-24.6545|25.9086|5|km" or name eq pole', ['gaborone', 'pole']],
    ['Location?near=0|0|20100|km&_sort=name&_count=2', ['francistown', 'gaborone']],
  ])
  refuses([
    ['Location?near=here', 'is not a location'],
    ['Location?near=91|0', 'is not a location'],
    ['Location?near=0|181', 'is not a location'],
    ['Location?near=0|0|10|km|x', 'is not a location'],
    ['Location?near=0|0|-1|km', 'is not a distance'],
    ['Location?near=0|0|x|km', 'is not a distance'],
    ['Location?near=0|0|10|parsec', 'is no unit'],
    ['Location?near:exact=0|0', 'not supported'],
  ])
})

describe('a composite of three parts finds stretches of a sequence', () => {
  finds([
    ['MolecularSequence?chromosome-window-coordinate=1$gt123$lt345', ['one', 'zero']],
    ['MolecularSequence?chromosome-window-coordinate=http://chromosomes|1$124$344', ['one', 'zero']],
    ['MolecularSequence?chromosome-window-coordinate=2$gt123$lt345', ['other']],
    ['MolecularSequence?chromosome-window-coordinate=1$lt345$gt123', ['one', 'zero']],
    ['MolecularSequence?chromosome-window-coordinate=1$gt124$lt345', []],
    ['MolecularSequence?referenceseqid-window-coordinate=NC_1$ge124$le344', ['byid']],
    ['MolecularSequence?chromosome-variant-coordinate=1$124$344', ['zero']],
    ['MolecularSequence?chromosome-variant-coordinate=1$300$344', ['one']],
    ['MolecularSequence?chromosome-variant-coordinate=1$124$130,1$300$344', ['one']],
  ])
  refuses([
    ['MolecularSequence?chromosome-window-coordinate=1$2', 'three values'],
    ['MolecularSequence?chromosome-window-coordinate=1$2$3$4', 'three values'],
    ['MolecularSequence?chromosome-window-coordinate=1$x$3', 'is not a number'],
    ['MolecularSequence?chromosome-window-coordinate:missing=false', 'supports none: ask for its parts'],
  ])
})

describe('a canonical is found', () => {
  finds([
    ['Basic?_profile=http://profiles.org/p', ['v0', 'v1', 'v2', 'v3']],
    ['Basic?_profile=http://profiles.org/p|1.2.3', ['v1']],
    ['Basic?_profile=http://profiles.org/p|1.2', []],
    ['Basic?_profile:below=http://profiles.org/p|1.2', ['v1']],
    ['Basic?_profile:below=http://profiles.org/p|1', ['v1', 'v2']],
    ['Basic?_profile:below=http://profiles.org/p|1.1', []],
    ['Basic?_profile:below=http://profiles.org/p|2', ['v3']],
    ['Basic?_profile:below=http://profiles.org', ['v0', 'v1', 'v2', 'v3']],
    ['Basic?_profile:above=http://profiles.org/p/q', ['v0', 'v1', 'v2', 'v3']],
    ['Basic?_source:below=http://hospital.org/system', ['v0', 'v1', 'v2', 'v3']],
    ['Basic?_source=http://hospital.org/system/lab%2342', ['v0', 'v1', 'v2', 'v3']],
  ])
  refuses([['Basic?_profile:above=http://profiles.org/p|1.2', 'without a version']])
})
