// Many who resolve the same people at once, in one process and in two: everybody is registered once.
import { expect, test } from 'vitest'
import { type Service, startBeside, startService } from '../../support/service.ts'
import { shuffled } from '../../support/shuffle.ts'
import { connectCaller, patientsOf, type Somebody } from './support.ts'

const given = [
  'Aïssatou',
  'Jean-Paul',
  'Marie Claire',
  'Ousmane',
  'Beatrice',
  'Emmanuel',
  'Fatoumata',
  'Christophe',
  'Solange',
  'Abdoulaye',
]
const family = [
  'Mbarga',
  'Nkoulou',
  'Tchoupo',
  'Ndongo',
  'Fotsing',
  'Etoundi',
  'Moukandjo',
  'Kamdem',
  'Bikoko',
  'Hamadou',
]

/** A hundred people, of whom ten each share a given name, and ten a family name. */
const people: Somebody[] = given.flatMap((first_name, row) =>
  family.map((last_name, column) => ({
    first_name,
    last_name,
    date_of_birth: `${1940 + row * 5 + column}-${String(1 + ((row * 3 + column) % 12)).padStart(2, '0')}-${10 + row + column}`,
    sex: row % 2 === 0 ? 'female' : 'male',
    phone_number: `+2376${String(70_000_000 + row * 1_234_567 + column * 76_543)}`,
  })),
)

const without = ({ phone_number: _phone, ...rest }: Somebody): Somebody => rest
/** A letter wrong, another one for each: a slip that many make is a name. */
const slip = (text: string, at: number): string => `${text.slice(0, 4)}${'bdfelmnprt'[at % 10]}${text.slice(5)}`

/** Ten ways in which somebody is written at ten desks. */
const desks: readonly ((person: Somebody, index: number) => Somebody)[] = [
  person => person,
  person => ({ ...person, first_name: person.first_name!.toUpperCase(), last_name: person.last_name!.toUpperCase() }),
  person => ({ ...person, first_name: person.first_name!.normalize('NFD').replace(/\p{M}/gu, '') }),
  person => without(person),
  person => ({ ...person, first_name: person.last_name, last_name: person.first_name }),
  person => ({ ...person, first_name: person.first_name!.replace(/[- ]/g, '') }),
  (person, index) => ({ ...person, last_name: slip(person.last_name!, Math.floor(index / 10)) }),
  person => ({ ...person, phone_number: person.phone_number!.replace('+237', '00237 ').replace(/..$/, ' $&') }),
  person => ({ ...without(person), sex: undefined }),
  person => ({ ...person, first_name: ` ${person.first_name!.toLowerCase()} ` }),
]

async function resolvedBy(services: readonly Service[], of = people): Promise<string[][]> {
  const callers = services.map(service => connectCaller(() => service).resolve)
  const asked = shuffled(of.flatMap((person, index) => desks.map(desk => ({ index, body: desk(person, index) }))))
  const healthIds: string[][] = of.map(() => [])
  const work = [...asked.entries()]
  const client = async (resolve: (typeof callers)[number]): Promise<void> => {
    for (let next = work.pop(); next; next = work.pop()) {
      const [, { index, body }] = next
      const answer = await resolve(body)
      expect([200, 201], answer.text).toContain(answer.status)
      healthIds[index]!.push(answer.body.health_id)
    }
  }
  await Promise.all(Array.from({ length: 32 }, (_, index) => client(callers[index % callers.length]!)))
  return healthIds
}

test('a hundred people, each resolved at ten desks at once, are a hundred patients', async () => {
  const service = await startService()
  const healthIds = await resolvedBy([service])
  expect(healthIds.filter(each => new Set(each).size !== 1)).toEqual([])
  expect(new Set(healthIds.flat()).size).toBe(100)
  expect(await patientsOf(service)).toHaveLength(100)
}, 60_000)

test('by two processes too', async () => {
  const service = await startService()
  const beside = await startBeside(service, { BASE_URL: service.url })
  const healthIds = await resolvedBy([service, beside], people.slice(0, 30))
  expect(healthIds.filter(each => new Set(each).size !== 1)).toEqual([])
  expect(await patientsOf(service)).toHaveLength(30)
}, 60_000)

test('what is sent again with its Idempotency-Key is answered as before, and registers nobody', async () => {
  const service = await startService()
  const { resolve } = connectCaller(() => service)
  const [person, other] = people as [Somebody, Somebody]
  const key = { 'idempotency-key': 'desk-1' }
  const first = await resolve(person, key)
  const again = await resolve(person, key)
  expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 201, 'true'])
  expect(again.text).toBe(first.text)
  const reused = await resolve(other, key)
  expect([reused.status, reused.body.error_code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED'])
  const known = await resolve({ ...person, external_reference: 'A-1' }, { 'idempotency-key': 'desk-2' })
  expect([known.status, known.body.status]).toEqual([200, 'found'])
  expect(await patientsOf(service)).toHaveLength(1)
})
