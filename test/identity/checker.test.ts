// How a process checks secrets: which of the stored ones it is, what is remembered of that, and what many at once cost.
import { expect, test } from 'vitest'
import { argon2id, type Derive, newRecipe, toPhc } from '../../src/identity/argon2.ts'
import { createChecker, createSecrets } from '../../src/identity/secrets.ts'
import { createThrottle } from '../../src/identity/throttle.ts'

/** A hash that costs nothing; `log` holds the secrets that were hashed. */
function cheap() {
  const log: string[] = []
  const derive: Derive = async secret => {
    log.push(secret)
    return tagOf(secret)
  }
  return { derive, log }
}
const tagOf = (secret: string) => Buffer.alloc(32, secret)
const store = (id: number, secret: string, recipe = newRecipe()) => ({ id, hash: toPhc(recipe, tagOf(secret)) })

test('a secret is the stored one whose hash it has', async () => {
  const recipe = newRecipe()
  const stored = [{ id: 7, hash: toPhc(recipe, await argon2id('right', recipe)) }]
  const { find } = createChecker()
  expect([await find('right', stored), await find('wrong', stored)]).toEqual([7, undefined])
})

test('every stored secret is found, for one hash if they share a recipe, and for one each if they do not', async () => {
  const { derive, log } = cheap()
  const { find } = createChecker({ derive })
  const shared = newRecipe()
  const alike = [store(1, 'old', shared), store(2, 'new', shared)]
  expect([await find('old', alike), await find('new', alike)]).toEqual([1, 2])
  expect(log.splice(0)).toEqual(['old', 'new'])
  const differing = [store(1, 'old'), store(2, 'new')]
  expect([await find('old', differing), await find('new', differing)]).toEqual([1, 2])
  expect(log.splice(0)).toEqual(['old', 'old', 'new', 'new'])
})

test('where nothing is stored nothing is found, and that costs a hash at the cost of today as well', async () => {
  const recipes: object[] = []
  const derive: Derive = async (_secret, recipe) => {
    recipes.push(recipe)
    return Buffer.alloc(32)
  }
  expect(await createChecker({ derive }).find('any', [])).toBeUndefined()
  expect(recipes).toEqual([{ ...newRecipe(), salt: expect.any(Buffer) }])
})

test('so many are checked at a time, so many wait, and the rest is told to come back', async () => {
  const gates: (() => void)[] = []
  const derive: Derive = async () => {
    await new Promise<void>(open => gates.push(open))
    return tagOf('right')
  }
  const { find } = createChecker({ derive, width: 1, depth: 1 })
  const stored = [store(1, 'right')]
  const both = [find('right', stored), find('right', stored)]
  await expect(find('right', stored)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  for (const each of both) {
    await expect.poll(() => gates.length, { interval: 1 }).toBe(1)
    gates.shift()!()
    expect(await each).toBe(1)
  }
})

test('that a secret was right is remembered for ten minutes, of that client, while it is stored', async () => {
  let time = 0
  const { derive, log } = cheap()
  const secrets = createSecrets(createChecker({ derive }), () => time)
  const [first, second] = [store(1, 'first'), store(2, 'second')]
  const find = (clientId: string, secret: string, stored = [first, second]) =>
    secrets.find({ clientId, secret, stored, attempts: createThrottle(() => 0)(clientId, '10.0.0.1') })
  const cost = () => new Set(log.splice(0)).size
  expect([await find('ada', 'second'), cost()]).toEqual([2, 1])
  time = 599_999
  expect([await find('ada', 'second'), cost()]).toEqual([2, 0])
  expect([await find('bob', 'second', [first]), cost()]).toEqual([undefined, 1])
  expect([await find('ada', 'first'), cost()]).toEqual([1, 1])
  expect([await find('ada', 'second', [first]), cost()]).toEqual([undefined, 1])
  time = 600_000
  expect([await find('ada', 'second'), cost()]).toEqual([2, 1])
})

test('who joins a check in hand is let in only by a secret that is stored for him, too', async () => {
  const { derive, log } = cheap()
  const secrets = createSecrets(createChecker({ derive }), () => 0)
  const attempts = createThrottle(() => 0)('ada', '10.0.0.1')
  const find = (stored: { id: number; hash: string }[]) =>
    secrets.find({ clientId: 'ada', secret: 's', stored, attempts })
  const [kept, other] = [store(1, 's'), store(2, 'x')]
  expect(await Promise.all([find([kept]), find([kept, other]), find([other]), find([])])).toEqual([
    ...[1, 1, undefined, undefined],
  ])
  expect(log).toEqual(['s'])
})

test.each([
  ['right', 0],
  ['wrong', 10],
])('of ten at once with the same secret, which is %s, %i count as failures', async (secret, failures) => {
  let open = (): void => {}
  const gate = new Promise<void>(done => (open = done))
  const derive: Derive = async given => {
    await gate
    return Buffer.alloc(32, given === 'right' ? 0 : 1)
  }
  const secrets = createSecrets(createChecker({ derive }), () => 0)
  const stored = [{ id: 1, hash: toPhc(newRecipe(), Buffer.alloc(32)) }]
  const attempts = createThrottle(() => 0)('ada', '10.0.0.1')
  const all = Array.from({ length: 10 }, () => secrets.find({ clientId: 'ada', secret, stored, attempts }))
  open()
  await Promise.all(all)
  for (let left = 10 - failures; left > 0; left--) attempts.take()
  expect(attempts.take).toThrow(expect.objectContaining({ code: 'AUTH_THROTTLED' }))
})

test('of ten thousand secrets it is remembered that they were right, of those that were proved last', async () => {
  let hashes = 0
  const derive: Derive = async secret => {
    hashes++
    return Buffer.alloc(32, secret.startsWith('wrong') ? 1 : 0)
  }
  let time = 0
  const secrets = createSecrets(createChecker({ derive }), () => time)
  const stored = [{ id: 1, hash: toPhc(newRecipe(), Buffer.alloc(32)) }]
  const attempts = createThrottle(() => 0)('ada', '10.0.0.1')
  /** Hashes that it costs to find these, one after the other. */
  const cost = async (...all: string[]) => {
    const before = hashes
    for (const secret of all) await secrets.find({ clientId: 'ada', secret, stored, attempts })
    return hashes - before
  }
  const all = Array.from({ length: 10_000 }, (_, at) => `right-${at}`)
  expect(await cost(...all)).toBe(10_000)
  expect(await cost(...all)).toBe(0)
  expect(await cost('wrong-1', 'wrong-2', 'wrong-3')).toBe(3)
  expect(await cost(all[0]!)).toBe(0)
  expect(await cost('right-10000')).toBe(1)
  expect(await cost(all[1]!)).toBe(0)
  expect(await cost(all[0]!)).toBe(1)
  // One that is proved again, when its time is over, is the last once more.
  time = 600_000
  expect(await cost(all[2]!)).toBe(1)
  expect(await cost(...Array.from({ length: 9999 }, (_, at) => `right-again-${at}`))).toBe(9999)
  expect(await cost(all[2]!)).toBe(0)
})
