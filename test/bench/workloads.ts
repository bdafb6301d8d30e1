// What is measured: the requests of each workload.
import type autocannon from 'autocannon'
import { openDatabase } from '../../src/db/database.ts'
import { demoResources } from '../../src/demo/resources.ts'
import { hash64 } from '../../src/lib/hash.ts'
import { uuidv7 } from '../../src/lib/ids.ts'
import { typeNumber } from '../../src/store/type-number.ts'
import { transactionBundle } from '../load/bundles.ts'

type Request = autocannon.Request

export interface Workload {
  readonly name: string
  readonly origin: string
  /** How many clients at a time; absent: as asked on the command line. */
  readonly connections?: number
  /** What the nth client sends, over and over. */
  readonly requests: (client: number) => Request[]
}

export interface Samples {
  readonly observations: string[]
  readonly patients: string[]
  readonly families: string[]
}

/** Ids and names to ask for, the same for the same data. */
export async function sample(connection: {
  host: string
  port: number
  user: string
  database: string
}): Promise<Samples> {
  const database = openDatabase(connection, { poolSize: 1, statementTimeout: 60_000 })
  // What earlier runs created is left out: its tag tells it. So are demo data, some of which consent hides: their ids are words.
  const ids = async (type: string, limit: number): Promise<string[]> =>
    (
      await database.query<{ id: string }>({
        text: `select id from resource where type = $1 and body not like '%bench-%' and length(id) = 36 order by md5(id) limit ${limit}`,
        values: [typeNumber(type)],
      })
    ).map(row => row.id)
  const families = await database.query<{ family: string }>({
    text: `select distinct body::jsonb #>> '{name,0,family}' as family from resource where type = $1 order by 1 limit 500`,
    values: [typeNumber('Patient')],
  })
  const samples = {
    observations: await ids('Observation', 2000),
    patients: await ids('Patient', 400),
    families: families.map(row => row.family).filter(Boolean),
  }
  await database.end()
  return samples
}

// Fewer than one observation in a thousand, some of them not used for years.
const rare = ['6189-5', '6158-0', '28245-9', '63513-6', '72091-2']
const months = ['2012-03', '2015-11', '2018-06', '2020-12']
// Frequent, rare, nowhere, and a phrase.
const texts = ['disorder', 'appendicitis', 'zebra', '"chronic kidney disease"']
const vitals = ['8302-2', '29463-7', '39156-5', '85354-9', '8867-4']

/** Where requests go: the origins of the service and of the probe, and the path of the FHIR surface. */
interface Target {
  readonly service: string
  readonly probe: string
  readonly path?: string
}

/**
 * What one client sends of many requests: a sixteenth. The load generator prepares each client's requests before it goes on, so that with all of them
 * for each client it answered nobody for half a second, which looked like a stall of the service.
 */
const share = (requests: Request[], client: number): Request[] =>
  requests.length < 160 ? requests : requests.filter((_request, index) => index % 16 === client % 16)

/** Every workload, the bare probe first: the others are told as a multiple of it. */
export function workloads(samples: Samples, { service, probe, path = '/api/fhir/R4' }: Target): Workload[] {
  const { observations, patients, families } = samples
  const reads = (name: string, asked: string[]): Workload => {
    const requests: Request[] = asked.map(each => ({ method: 'GET', path: `${path}/${each}` }))
    return { name, origin: service, requests: client => share(requests, client) }
  }
  const bodies: Request[] = observations.map(id => ({ method: 'GET', path: `/${typeNumber('Observation')}/${id}` }))
  const newest = '_sort=-date&_count=20'
  return [
    { name: 'probe: body by primary key', origin: probe, requests: client => share(bodies, client) },
    reads(
      'read by id',
      observations.map(id => `Observation/${id}`),
    ),
    reads(
      'patient + code, newest 20',
      patients.flatMap(id => vitals.map(code => `Observation?patient=${id}&code=http://loinc.org|${code}&${newest}`)),
    ),
    reads(
      'patient, newest 20',
      patients.map(id => `Observation?patient=${id}&${newest}`),
    ),
    reads(
      'code, newest 20, all patients',
      vitals.map(code => `Observation?code=http://loinc.org|${code}&${newest}`),
    ),
    reads(
      'rare code, newest 20, all patients',
      rare.map(code => `Observation?code=http://loinc.org|${code}&${newest}`),
    ),
    reads(
      'date range, newest 20, all patients',
      months.map(month => `Observation?date=${month}&${newest}`),
    ),
    reads(
      'name contains, by family name',
      families.map(family => `Patient?name:contains=${encodeURIComponent(family.slice(1, 4))}&_sort=family&_count=20`),
    ),
    reads(
      'patient by name',
      families.map(family => `Patient?name=${encodeURIComponent(family)}`),
    ),
    reads('patients by family name, first 20', ['Patient?_sort=family&_count=20']),
    reads(
      'words of the content, newest 20, all patients',
      texts.map(words => `Condition?_content=${encodeURIComponent(words)}&_sort=-recorded-date&_count=20`),
    ),
    reads(
      'filter of two rare codes, newest 20',
      rare.map(code => `Observation?_filter=${encodeURIComponent(`code eq ${code} or code eq ${rare[0]}`)}&_count=20`),
    ),
    reads(
      'patient + code with _include',
      patients.flatMap(id =>
        vitals.map(
          code =>
            `Observation?patient=${id}&code=${code}&_count=20&_include=Observation:patient&_include=Observation:encounter`,
        ),
      ),
    ),
    reads(
      'everything about a patient',
      patients.map(id => `Patient/${id}/$everything`),
    ),
    {
      name: 'create, read, update, delete of 9 types, 64 clients',
      origin: service,
      connections: 64,
      requests: () => lifecycles(path),
    },
    {
      name: 'transaction of 100 resources',
      origin: service,
      connections: 4,
      requests: client => transactions(client, path),
    },
  ]
}

const changing = [
  'Patient',
  'Encounter',
  'Observation',
  'Condition',
  'AllergyIntolerance',
  'MedicationRequest',
  'Immunization',
  'DiagnosticReport',
  'DocumentReference',
]

/** One resource of each type comes into being, is read, changed and deleted; each client has ids of its own. */
function lifecycles(fhir: string): Request[] {
  const models = demoResources({ healthId: 'http://example.org/health-id', below: 'http://example.org' }, new Date())
  return changing.flatMap(type => {
    const id = uuidv7()
    const path = `${fhir}/${type}/${id}`
    const resource = {
      ...models.find(model => model['resourceType'] === type),
      ...(type === 'Patient' && somebody(id)),
      id,
    }
    const changed = { ...resource, meta: { tag: [{ system: 'http://example.org', code: 'changed' }] } }
    return [
      { method: 'PUT', path, body: JSON.stringify(resource) },
      { method: 'GET', path },
      { method: 'PUT', path, body: JSON.stringify(changed) },
      { method: 'DELETE', path },
    ] satisfies Request[]
  })
}

const sounds = ['ba', 'be', 'bi', 'bo', 'bu', 'ka', 'ke', 'ki', 'ko', 'ku']

/** Returns the demographics of a different person for each id: changes of one person wait for each other, so that nobody is registered twice. */
function somebody(id: string): object {
  const number = hash64(id)
  const syllables = [...number.toString().slice(-8)].map(digit => sounds[Number(digit)])
  const birthDate = new Date(Number(BigInt.asUintN(34, number)) * 100).toISOString().slice(0, 10)
  return {
    name: [{ family: syllables.slice(0, 4).join(''), given: [syllables.slice(4).join('')] }],
    birthDate,
    telecom: undefined,
    identifier: undefined,
  }
}

/** Bundles whose ids the server gives, so that the same ones create anew each time. */
function transactions(client: number, path: string): Request[] {
  const bundles = Array.from({ length: 5 }, (_, index) =>
    JSON.stringify(transactionBundle(`bench-${client}-${index}`, 100)),
  )
  return bundles.map(body => ({ method: 'POST', path, body }))
}
