// Bulk Data export through the door. https://hl7.org/fhir/uv/bulkdata/STU2/export.html
import { existsSync, readdirSync, statSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { createClient, revokeClient } from '../../../../src/identity/clients.ts'
import { ended, linesOf, manifestOf, namesIn, ordered } from '../../../support/bulk.ts'
import { fhirCaller, issueOf } from '../../../support/fhir.ts'
import { type Service, startService } from '../../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)

const subject = (id: string) => ({ subject: { reference: `Patient/${id}` } })
const observation = (id: string, patient: string, status: string, performer: string) => ({
  resourceType: 'Observation',
  id,
  status,
  code: { coding: [{ system: 'http://loinc.org', code: 'x' }] },
  ...subject(patient),
  performer: [{ reference: performer }],
})

const resources = [
  {
    resourceType: 'Patient',
    id: 'ada',
    name: [{ family: 'Ada' }],
    managingOrganization: { reference: 'Organization/near' },
  },
  { resourceType: 'Patient', id: 'bea', name: [{ family: 'Bea' }] },
  { resourceType: 'Patient', id: 'cleo', name: [{ family: 'Cleo' }] },
  observation('o1', 'ada', 'final', 'Practitioner/who'),
  observation('o2', 'ada', 'amended', 'Practitioner/who'),
  observation('o3', 'bea', 'final', 'Practitioner/other'),
  observation('o4', 'cleo', 'preliminary', 'Practitioner/third'),
  {
    resourceType: 'Account',
    id: 'shared',
    status: 'active',
    subject: [{ reference: 'Patient/ada' }, { reference: 'Patient/bea' }],
  },
  { resourceType: 'Practitioner', id: 'who' },
  { resourceType: 'Practitioner', id: 'other' },
  { resourceType: 'Practitioner', id: 'third' },
  { resourceType: 'Practitioner', id: 'unused' },
  { resourceType: 'Organization', id: 'near', name: 'Near', partOf: { reference: 'Organization/far' } },
  { resourceType: 'Organization', id: 'far', name: 'Far' },
  { resourceType: 'Device', id: 'hers', patient: { reference: 'Patient/ada' } },
  {
    resourceType: 'Provenance',
    id: 'of-o1',
    recorded: '2024-01-01T00:00:00Z',
    target: [{ reference: 'Observation/o1' }],
    agent: [{ who: { reference: 'Practitioner/who' } }],
  },
  {
    resourceType: 'Provenance',
    id: 'of-o3',
    recorded: '2024-01-01T00:00:00Z',
    target: [{ reference: 'Observation/o3' }],
    agent: [{ who: { reference: 'Practitioner/who' } }],
  },
  {
    resourceType: 'Group',
    id: 'inner',
    type: 'person',
    actual: true,
    member: [{ entity: { reference: 'Patient/bea' } }, { entity: { reference: 'Group/outer' } }],
  },
  {
    resourceType: 'Group',
    id: 'outer',
    type: 'person',
    actual: true,
    member: [
      { entity: { reference: 'Patient/ada' } },
      { entity: { reference: 'Patient/cleo' }, inactive: true },
      { entity: { reference: 'Group/inner' } },
      { entity: { reference: 'Group/gone' } },
    ],
  },
  {
    resourceType: 'Group',
    id: 'hers',
    type: 'person',
    actual: true,
    member: [
      { entity: { reference: 'Patient/ada' } },
      { entity: { reference: 'Patient/cleo' }, period: { end: '2020-01-01' } },
    ],
  },
]

const names = (list: readonly { resourceType: string; id: string }[]): string[] =>
  list.map(({ resourceType, id }) => `${resourceType}/${id}`).sort()
const all = names(resources)
const hers = ['Account/shared', 'Observation/o1', 'Observation/o2', 'Patient/ada', 'Provenance/of-o1']

async function store(list: readonly { resourceType: string; id: string }[]): Promise<void> {
  const entry = list.map(resource => ({
    resource,
    request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
  }))
  expect((await call('POST', '', { body: { resourceType: 'Bundle', type: 'transaction', entry } })).status).toBe(200)
}

const tokenWith = (...scopes: string[]) =>
  service.application.identity.tokens.mint(
    { clientId: 'someone', organizationId: 'elsewhere', consentExempt: true },
    scopes,
  )

const exported = async (path: string, options: Parameters<typeof manifestOf>[2] = {}): Promise<string[]> => {
  const token = options.token ?? service.token
  return namesIn((await manifestOf(call, path, options)).output, token)
}

const parameters = (...parameter: object[]) => ({ resourceType: 'Parameters', parameter })
const refused = async (path: string, options: Parameters<typeof call>[2] & { method?: string } = {}) => {
  const { status, body } = await call(options.method ?? (options.body ? 'POST' : 'GET'), path, options)
  return { status, text: issueOf(body).diagnostics, place: issueOf(body).expression?.[0] }
}

beforeAll(async () => {
  service = await startService({ BULK_FILE_RESOURCES: '2', BULK_JOBS_PER_CLIENT: '100' })
  await store(resources)
})

describe('an order', () => {
  test('is accepted with an address to ask at, and ends in a manifest that names every file', async () => {
    const before = Date.now()
    const answer = await call('GET', '$export', {
      headers: { prefer: 'respond-async', accept: 'application/fhir+json' },
    })
    expect([answer.status, answer.text, answer.headers.get('preference-applied')]).toEqual([202, '', 'respond-async'])
    const address = answer.headers.get('content-location')!
    expect(address).toMatch(new RegExp(`^${service.url}/api/fhir/R4/bulk/[0-9a-f-]{36}/status$`))
    const done = await ended(call, address)
    expect(done.headers.get('content-type')).toMatch(/^application\/json/)
    expect(Date.parse(done.headers.get('expires')!)).toBeGreaterThan(before + 23.9 * 3_600_000)
    expect(done.body).toMatchObject({
      request: `${service.url}/api/fhir/R4/$export`,
      requiresAccessToken: true,
      deleted: [],
      error: [],
    })
    const times = [before, Date.parse(done.body.transactionTime), Date.now()]
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(await namesIn(done.body.output, service.token)).toEqual(all)
  })

  test('is taken by POST, with a Parameters body or none, with Prefer or without', async () => {
    for (const body of [undefined, parameters({ name: '_type', valueString: 'Patient' })]) {
      const { status } = await call('POST', '$export', { body, headers: { accept: 'application/fhir+ndjson' } })
      expect(status).toBe(202)
    }
    expect((await refused('$export', { body: { resourceType: 'Patient' } })).status).toBe(400)
    expect((await call('GET', '$export', { headers: { accept: 'text/csv' } })).status).toBe(406)
  })

  test('says how far it is, until it is done', async () => {
    const lock = await service.application.database.transaction(async on => {
      await on.query({ text: 'select may_write(null, 9000000000000)', values: [] })
      const address = await ordered(call, '$export?_type=Patient')
      const { status, headers } = await call('GET', address)
      expect([status, Number(headers.get('retry-after'))]).toEqual([202, 1])
      expect(headers.get('x-progress')).toMatch(/^(queued|listing the resources)$/)
      return address
    })
    expect((await ended(call, lock)).status).toBe(200)
  })

  test('needs a token, and so do its state and its files', async () => {
    const address = await ordered(call, '$export?_type=Patient')
    const { body } = await ended(call, address)
    for (const url of [`${service.url}/api/fhir/R4/$export`, address, body.output[0].url])
      expect((await fetch(url)).status).toBe(401)
  })
})

describe('the files', () => {
  test('hold one type each, and no more resources than the setting says', async () => {
    const { output } = await manifestOf(call, '$export?_type=Patient,Observation')
    expect(output.map(file => [file.type, file.count])).toEqual([
      ['Observation', 2],
      ['Observation', 2],
      ['Patient', 2],
      ['Patient', 1],
    ])
    for (const file of output)
      expect(new Set((await linesOf([file], service.token)).map(each => each.resourceType))).toEqual(
        new Set([file.type]),
      )
  })

  test('are the stored bytes, plain with their length or gzipped, and can be asked about by HEAD', async () => {
    const [file] = (await manifestOf(call, '$export?_type=Patient&_typeFilter=Patient?_id=ada')).output
    const stored = `${(await call('GET', 'Patient/ada')).text}\n`
    const plain = await raw(file!.url, 'GET', {})
    expect(plain).toMatchObject({ status: 200, type: 'application/fhir+ndjson', length: String(stored.length) })
    expect(plain.bytes.toString()).toBe(stored)
    const packed = await raw(file!.url, 'GET', { 'accept-encoding': 'br, gzip;q=0.5' })
    expect([packed.encoding, gunzipSync(packed.bytes).toString()]).toEqual(['gzip', stored])
    expect((await raw(file!.url, 'GET', { 'accept-encoding': 'gzip;q=0' })).encoding).toBeUndefined()
    const head = await raw(file!.url, 'HEAD', {})
    expect([head.length, head.bytes.length]).toEqual([String(stored.length), 0])
  })

  test('and everything else of a job are for the client that started it', async () => {
    const address = await ordered(call, '$export?_type=Patient')
    const { body } = await ended(call, address)
    const token = await tokenWith('system/*.cruds')
    for (const url of [address, body.output[0].url]) {
      const { status, body } = await call('GET', url, { token })
      expect([status, body.resourceType]).toEqual([404, 'OperationOutcome'])
    }
    expect((await call('DELETE', address, { token })).status).toBe(404)
    expect((await call('GET', address)).status).toBe(200)
  })

  test('lie in a folder that is closed to others, and their names lead nowhere else', async () => {
    const address = await ordered(call, '$export?_type=Patient')
    const { body } = await ended(call, address)
    const folder = folderOf(address)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
    const files = body.output[0].url.replace(/[^/]+$/, '')
    for (const name of ['nothing.ndjson', '..%2F..%2Fencryption-key', '%2Fetc%2Fpasswd'])
      expect((await call('GET', `${files}${name}`)).status).toBe(404)
  })

  test('go when the job is deleted, and it is unknown afterwards', async () => {
    const address = await ordered(call, '$export')
    const { body } = await ended(call, address)
    expect(existsSync(folderOf(address))).toBe(true)
    expect((await call('DELETE', address)).status).toBe(202)
    expect(existsSync(folderOf(address))).toBe(false)
    for (const url of [address, body.output[0].url]) {
      const { status, body } = await call('GET', url)
      expect([status, body.resourceType]).toEqual([404, 'OperationOutcome'])
    }
    expect((await call('DELETE', address)).status).toBe(404)
  })

  test('are not for a client that was revoked', async () => {
    const { database, identity } = service.application
    const { client } = await createClient(database, 'local', {
      name: 'Short-lived',
      organizationId: 'x',
      scopes: ['system/*.rs'],
    })
    const token = await identity.tokens.mint({ clientId: client.id, organizationId: 'x', consentExempt: true }, [
      'system/*.rs',
    ])
    const { output } = await manifestOf(call, '$export?_type=Patient', { token })
    await revokeClient(database, client.id)
    await expect
      .poll(async () => (await fetch(output[0]!.url, { headers: { authorization: `Bearer ${token}` } })).status)
      .toBe(401)
  })
})

const folderOf = (address: string): string => join(service.dataDir, 'bulk', /bulk\/([^/]+)/.exec(address)![1]!)

/** A request whose headers are exactly these; fetch would add its own and unpack. */
function raw(url: string, method: string, headers: Record<string, string>) {
  interface Raw {
    readonly status: number
    readonly type: string | undefined
    readonly length: string | undefined
    readonly encoding: string | undefined
    readonly bytes: Buffer
  }
  return new Promise<Raw>((done, fail) => {
    const sent = httpRequest(
      url,
      { method, headers: { ...headers, authorization: `Bearer ${service.token}` } },
      reply => {
        const chunks: Buffer[] = []
        reply.on('data', chunk => chunks.push(chunk))
        reply.on('end', () =>
          done({
            status: reply.statusCode!,
            type: reply.headers['content-type'],
            length: reply.headers['content-length'],
            encoding: reply.headers['content-encoding'],
            bytes: Buffer.concat(chunks),
          }),
        )
      },
    )
    sent.on('error', fail).end()
  })
}

describe('what belongs to it', () => {
  test('all patients: their compartments, and what these refer to', async () => {
    const unused = [
      'Practitioner/unused',
      'Organization/far',
      'Device/hers',
      'Group/hers',
      'Group/inner',
      'Group/outer',
    ]
    expect(await exported('Patient/$export')).toEqual(
      [...all.filter(name => !unused.includes(name)), 'Group/hers', 'Group/inner', 'Group/outer'].sort(),
    )
  })

  test('a group: its active members, those of groups within it, and nobody else', async () => {
    expect(await exported('Group/hers/$export')).toEqual(
      [...hers, 'Group/hers', 'Group/outer', 'Organization/near', 'Practitioner/who'].sort(),
    )
    expect(await exported('Group/outer/$export?_type=Patient')).toEqual(['Patient/ada', 'Patient/bea'])
    expect((await refused('Group/nobody/$export')).status).toBe(404)
  })

  test('some patients, by the patient parameter of a body', async () => {
    const body = parameters(
      { name: 'patient', valueReference: { reference: 'Patient/ada' } },
      { name: '_type', valueString: 'Observation' },
    )
    expect(await exported('Patient/$export', { body })).toEqual(['Observation/o1', 'Observation/o2'])
    expect(await exported('Group/outer/$export', { body })).toEqual(['Observation/o1', 'Observation/o2'])
    const stranger = parameters({ name: 'patient', valueReference: { reference: 'Patient/cleo' } })
    expect(await refused('Group/outer/$export', { body: stranger })).toEqual({
      status: 400,
      text: 'patient: Patient/cleo is not a member of the group.',
      place: 'patient',
    })
    const nobody = parameters({ name: 'patient', valueReference: { reference: 'Patient/nobody' } })
    expect((await refused('Patient/$export', { body: nobody })).text).toBe('patient: Patient/nobody does not exist.')
    const lenient = { prefer: 'respond-async, handling=lenient' }
    for (const headers of [{}, lenient]) {
      expect((await refused('$export', { body, headers })).text).toMatch(/^patient is supported by Patient/)
      expect((await refused('Patient/$export?patient=Patient/ada', { headers })).text).toMatch(/in a Parameters body/)
    }
    const some = await manifestOf(call, 'Patient/$export', {
      body: parameters(...stranger.parameter, ...nobody.parameter, { name: '_type', valueString: 'Patient' }),
      headers: lenient,
    })
    expect(await namesIn(some.output, service.token)).toEqual(['Patient/cleo'])
    expect(some.error[0]!.count).toBe(1)
  })

  test('_type: these types alone, of patients with what they refer to', async () => {
    expect(await exported('$export?_type=Organization&_type=Group')).toEqual([
      'Group/hers',
      'Group/inner',
      'Group/outer',
      'Organization/far',
      'Organization/near',
    ])
    expect(await exported('Patient/$export?_type=Patient,Organization')).toEqual([
      'Organization/near',
      'Patient/ada',
      'Patient/bea',
      'Patient/cleo',
    ])
    expect((await refused('$export?_type=Patiens')).text).toBe('_type: "Patiens" is not a resource type.')
    expect((await refused('Patient/$export?_type=Organization')).text).toMatch(/in no patient's compartment/)
  })

  test('_typeFilter: what one of the searches finds, other types untouched', async () => {
    const filter = (...queries: string[]) => queries.map(query => `_typeFilter=${encodeURIComponent(query)}`).join('&')
    const both = ['Observation/o1', 'Observation/o2', 'Observation/o3']
    const two = ['Observation?status=amended', 'Observation?status=final&performer=Practitioner/who']
    expect(await exported(`$export?_type=Observation&${filter(...two)}`)).toEqual(['Observation/o1', 'Observation/o2'])
    expect(
      await exported(`$export?_type=Observation&${filter('Observation?status=final', 'Observation?status=amended')}`),
    ).toEqual(both)
    expect(await exported(`$export?_type=Observation&${filter('Observation?status=final,amended')}`)).toEqual(both)
    expect(
      await exported(`$export?_type=Observation&${filter('Observation?status=final,Observation?status=amended')}`),
    ).toEqual(both)
    expect(
      await exported(
        `$export?_type=Observation&${filter('Observation?_filter=status eq final and patient.family eq bea')}`,
      ),
    ).toEqual(['Observation/o3'])
    expect(await exported(`$export?_type=Patient,Observation&${filter('Observation?patient.family=bea')}`)).toEqual([
      'Observation/o3',
      'Patient/ada',
      'Patient/bea',
      'Patient/cleo',
    ])
    expect(await exported(`Group/outer/$export?_type=Observation&${filter('Observation?status=final')}`)).toEqual([
      'Observation/o1',
      'Observation/o3',
    ])
  })

  test.each([
    ['Observation?stat=final', /stat is not known/],
    ['Observation?status=final&_sort=date', /result parameter/],
    ['Observation?_include=Observation:subject', /result parameter/],
    ['Observation?date=yesterday', /date/],
    ['Observation', /has no search parameter/],
    ['Practitioner?active=true', /"Practitioner" is not a type of this export/],
    ['?status=final', /is not a type of this export/],
  ])('_typeFilter=%s is refused, leniently too', async (query, text) => {
    for (const prefer of ['respond-async', 'respond-async, handling=lenient']) {
      const path = `$export?_type=Observation&_typeFilter=${encodeURIComponent(query)}`
      expect(await refused(path, { headers: { prefer } })).toMatchObject({
        status: 400,
        text: expect.stringMatching(text),
      })
    }
  })

  test('_elements: the named elements and the mandatory ones, marked as a part', async () => {
    const { output } = await manifestOf(call, '$export?_type=Patient,Observation&_elements=id,Patient.name')
    const lines = await linesOf(output, service.token)
    const ada = lines.find(each => each.id === 'ada')
    expect(Object.keys(ada).sort()).toEqual(['id', 'meta', 'name', 'resourceType'])
    expect(ada.meta.tag[0].code).toBe('SUBSETTED')
    expect(Object.keys(lines.find(each => each.id === 'o1')).sort()).toEqual([
      'code',
      'id',
      'meta',
      'resourceType',
      'status',
    ])
    expect((await refused('$export?_elements=Patient.name.family')).place).toBe('_elements')
  })

  test('_outputFormat: NDJSON under its three names, nothing else', async () => {
    for (const format of ['application/fhir%2Bndjson', 'application/fhir+ndjson', 'application/ndjson', 'ndjson'])
      expect((await call('GET', `$export?_type=Patient&_outputFormat=${format}`)).status).toBe(202)
    expect(await refused('$export?_outputFormat=text/csv')).toMatchObject({ status: 400, place: '_outputFormat' })
  })

  test('what is not known or not supported is refused, and under handling=lenient noted in the error file', async () => {
    expect(await refused('$export?_colour=red')).toMatchObject({
      status: 400,
      text: 'The parameter _colour is not known for an export.',
    })
    expect((await refused('$export?includeAssociatedData=LatestProvenanceResources')).text).toMatch(/not supported/)
    const manifest = await manifestOf(call, '$export?_type=Patient,Patiens&_colour=red', {
      headers: { prefer: 'respond-async; handling=lenient' },
    })
    expect(await namesIn(manifest.output, service.token)).toEqual(['Patient/ada', 'Patient/bea', 'Patient/cleo'])
    const notes = await linesOf(manifest.error, service.token)
    expect(notes.map(each => [each.resourceType, each.issue[0].severity, each.issue[0].diagnostics])).toEqual([
      ['OperationOutcome', 'warning', 'The parameter _colour is not known for an export.'],
      ['OperationOutcome', 'warning', '_type: "Patiens" is not a resource type.'],
    ])
  })
})

describe('scopes', () => {
  test('without _type what the token does not open is left out', async () => {
    const token = await tokenWith('system/Patient.rs', 'system/Group.rs', 'system/Observation.s', 'system/Account.r')
    expect(await exported('$export', { token })).toEqual([
      'Group/hers',
      'Group/inner',
      'Group/outer',
      'Patient/ada',
      'Patient/bea',
      'Patient/cleo',
    ])
    expect(await exported('Group/hers/$export', { token })).toEqual(['Group/hers', 'Group/outer', 'Patient/ada'])
  })

  test('a type that is named and not open is refused with the scope that would open it', async () => {
    const token = await tokenWith('system/Patient.rs')
    expect(await refused('$export?_type=Patient,Observation', { token })).toMatchObject({
      status: 403,
      text: 'The scopes of the token do not permit exporting Observation: system/Observation.rs does.',
    })
    expect((await refused('Group/hers/$export', { token })).text).toMatch(/reading Group/)
    const chain = encodeURIComponent('Patient?organization.name=x')
    expect((await refused(`$export?_type=Patient&_typeFilter=${chain}`, { token })).status).toBe(403)
  })

  test('a token that opens nothing gets no export', async () => {
    expect((await refused('$export', { token: await tokenWith('health_id:verify') })).status).toBe(403)
    expect((await refused('Patient/$export', { token: await tokenWith('system/Organization.rs') })).status).toBe(403)
  })
})

describe('from one export to the next', () => {
  test('_since and _until choose by the time of the last change', async () => {
    const { transactionTime } = await manifestOf(call, '$export?_type=Basic')
    await store([{ resourceType: 'Basic', id: 'later', code: { text: 'x' } } as { resourceType: string; id: string }])
    expect(await exported(`$export?_since=${transactionTime}`)).toEqual(['Basic/later'])
    expect(await exported(`$export?_until=${transactionTime}&_type=Basic,Patient`)).toEqual([
      'Patient/ada',
      'Patient/bea',
      'Patient/cleo',
    ])
    const zoned = '2020-01-01T00:00:00%2B01:00'
    expect(await exported(`$export?_since=${zoned}&_type=Basic`)).toEqual(['Basic/later'])
    expect(await refused('$export?_since=2020')).toMatchObject({ status: 400, place: '_since' })
  })

  test('what was deleted since comes as Bundles of deletions, unless it is there again', async () => {
    const gone = ['x1', 'x2', 'x3'].map(id =>
      observation(id, id === 'x3' ? 'cleo' : 'ada', 'final', 'Practitioner/who'),
    )
    await store(gone)
    const { transactionTime } = await manifestOf(call, '$export?_type=Basic')
    for (const { id } of gone) await call('DELETE', `Observation/${id}`)
    await store([gone[1]!])
    const since = await manifestOf(call, `$export?_type=Observation&_since=${transactionTime}`)
    expect(since.deleted.map(file => file.type)).toEqual(['Bundle'])
    expect(await linesOf(since.deleted, service.token)).toEqual([
      {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: ['x1', 'x3'].map(id => ({ request: { method: 'DELETE', url: `Observation/${id}` } })),
      },
    ])
    expect(await namesIn(since.output, service.token)).toEqual(['Observation/x2'])
    const ofGroup = await manifestOf(call, `Group/hers/$export?_type=Observation&_since=${transactionTime}`)
    expect((await linesOf(ofGroup.deleted, service.token))[0].entry).toEqual([
      { request: { method: 'DELETE', url: 'Observation/x1' } },
    ])
    expect((await manifestOf(call, `$export?_type=Patient&_since=${transactionTime}`)).deleted).toEqual([])
    expect((await manifestOf(call, '$export?_type=Observation')).deleted).toEqual([])
  })

  test('what a changed resource refers to comes along, and so does what changed itself', async () => {
    const { transactionTime } = await manifestOf(call, '$export?_type=Basic')
    await store([
      observation('o5', 'bea', 'final', 'Practitioner/third'),
      { resourceType: 'Organization', id: 'near', name: 'Nearer' } as { resourceType: string; id: string },
    ])
    expect(await exported(`Patient/$export?_since=${transactionTime}`)).toEqual([
      'Observation/o5',
      'Organization/near',
      'Practitioner/third',
    ])
    await call('DELETE', 'Observation/o5')
  })
})
