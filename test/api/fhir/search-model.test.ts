// Generated searches find in generated records, by each client, what a plain look at every record finds: in pages, in order, counted, with includes.
import { beforeAll, expect, test } from 'vitest'
import { consentOf, ofType } from '../../support/consents.ts'
import { fhirCaller } from '../../support/fhir.ts'
import { randomOf } from '../../support/random.ts'
import { rounds } from '../../support/rounds.ts'
import { type Service, startService } from '../../support/service.ts'
import { type Client, differenceOf, textOf } from './search-model/check.ts'
import { searchBy } from './search-model/queries.ts'
import { type Item, loinc, nameOf, type World, worldBy } from './search-model/world.ts'

/** `SEARCHES=100000 SEARCH_SEED=7 SEARCHED_PATIENTS=2000 npx vitest run test/api/fhir/search-model.test.ts` asks more of other records. */
const searches = Number(process.env['SEARCHES'] ?? rounds(100, 300))
const seed = Number(process.env['SEARCH_SEED'] ?? 1)
const patients = Number(process.env['SEARCHED_PATIENTS'] ?? 60)

let service: Service
let world: World
let clients: Client[]
const call = fhirCaller(() => service)

interface Consenting {
  /** One of so many patients consents. */
  readonly share: number
  readonly provision?: object
  /** What of a record a consent opens; absent: all. */
  readonly opens?: (item: Item) => boolean
}

const hidden = { system: loinc, code: 'measure-0' }

const organizations: Readonly<Record<string, Consenting>> = {
  few: { share: Math.max(1, Math.floor(patients / 3)) },
  some: { share: 3 },
  all: { share: 1 },
  typed: {
    share: 2,
    provision: ofType('Observation', 'Encounter'),
    opens: ({ type }) => type === 'Observation' || type === 'Encounter',
  },
  coded: {
    share: 2,
    provision: { provision: [{ type: 'deny', code: [{ coding: [hidden] }] }] },
    opens: ({ tokens }) =>
      !tokens['code']?.some(({ system, code }) => system === hidden.system && code === hidden.code),
  },
}

beforeAll(async () => {
  service = await startService()
  world = worldBy(randomOf(seed), patients)
  const consents = Object.entries(organizations).flatMap(([name, { share, provision = {} }]) =>
    world.of.Patient.filter((_patient, number) => number % share === 0).map(({ id }) =>
      consentOf(`${name}-${id}`, id, name, provision),
    ),
  )
  await send([...world.former, ...world.gone].map(put))
  const times = await send([...world.items.map(({ resource }) => resource), ...consents].map(put))
  world.items.forEach((item, at) => world.updated.set(nameOf(item), times[at]!))
  await send(
    world.gone.map(({ resourceType, id }) => ({ request: { method: 'DELETE', url: `${resourceType}/${id}` } })),
  )
  const clientOf = async (name: string, sight: Client['sight']): Promise<Client> => {
    const by = { clientId: name, organizationId: name, consentExempt: false }
    return { name, token: await service.application.identity.tokens.mint(by, ['system/*.cruds']), sight }
  }
  const places = new Map(world.of.Patient.map(({ id }, number) => [id, number]))
  clients = [{ name: 'exempt', token: service.token, sight: () => true }]
  for (const [name, { share, opens = () => true }] of Object.entries(organizations))
    clients.push(
      await clientOf(name, item => !item.patient || (places.get(item.patient)! % share === 0 && opens(item))),
    )
}, 3_600_000)

const put = (resource: object & { resourceType?: unknown; id?: unknown }) => ({
  resource,
  request: { method: 'PUT', url: `${resource.resourceType}/${resource.id}` },
})

/** Sends the entries in batches. Returns when each was stored, in milliseconds. */
async function send(entries: readonly object[]): Promise<number[]> {
  const times: number[] = []
  for (let from = 0; from < entries.length; from += 500) {
    const bundle = { resourceType: 'Bundle', type: 'batch', entry: entries.slice(from, from + 500) }
    const { body } = await call('POST', '', { body: bundle })
    for (const { response } of body.entry) {
      expect(response.status, JSON.stringify(response)).toMatch(/^20/)
      times.push(Date.parse(response.lastModified))
    }
  }
  return times
}

test('every client finds by a search what a look at every record finds', { timeout: 36_000_000 }, async () => {
  const wrong: string[] = []
  for (let number = 0; number < searches && wrong.length < 20; number++) {
    const random = randomOf(seed * 1_000_000 + number)
    const search = searchBy(random, world)
    const client = random.chance(40) ? clients[0]! : random.pick(clients)
    const difference = await differenceOf(call, world, search, client)
    if (difference) wrong.push(`search ${number} by ${client.name}: ${textOf(search)}\n  ${difference}`)
  }
  expect(wrong.join('\n')).toBe('')
})
