// What the service makes of the rules of consents agrees with the model of them, whatever the consents say.
import { expect, test } from 'vitest'
import { type Grant, grantsOf } from '../../src/access/consent/grants.ts'
import { rulesOf } from '../../src/access/consent/rules.ts'
import { nowhere } from '../../src/store/base.ts'
import { randomOf } from '../support/random.ts'
import { rounds } from '../support/rounds.ts'
import { isOpen, rulesIn, type Thing } from './model/decide.ts'
import { codes, named, termsBy } from './model/random-terms.ts'
import { coding, kinds, type Terms, written } from './model/terms.ts'

const organizations = ['clinic-a', 'clinic-b']
const parties = ['keeper', 'clinic-a', 'clinic-b', 'patient']
/** `CONSENT_HISTORIES=100000 npx vitest run test/access/grants-model.test.ts` compares more. */
const histories = Number(process.env['CONSENT_HISTORIES'] ?? rounds(500, 3000))

const subsets = Array.from({ length: 2 ** codes.length }, (_none, bits) =>
  codes.filter((_code, at) => bits & (1 << at)),
)
const things: Thing[] = kinds.flatMap(type => subsets.map(each => ({ type, codes: each })))

type Said = { readonly party: string; readonly terms: Terms }

const saidBy = (seed: number): Said[] => {
  const random = randomOf(seed)
  return Array.from({ length: 1 + random.below(4) }, () => ({
    party: random.pick(parties),
    terms: named(termsBy(random, organizations), organizations),
  }))
}

function opens({ types, codes, except, purposes, from, until }: Grant, thing: Thing, now: number): boolean {
  const has = (all: Grant['except']): boolean =>
    all.some(each => thing.codes.some(code => coding(code).system === each.system && code === each.code))
  return (
    (types?.includes(thing.type) ?? true) &&
    (purposes?.includes('TREAT') ?? true) &&
    (codes === undefined || has(codes)) &&
    !has(except) &&
    from <= now &&
    until > now
  )
}

/** What is seen otherwise than the model says: organisation and resource. */
function differences(said: readonly Said[]): string[] {
  const now = Date.now()
  const recorded = said.flatMap(({ party, terms }) => rulesIn(terms).map(rule => ({ rule, party })))
  const rules = said.flatMap(({ party, terms }, at) =>
    rulesOf(written(`c${at}`, 'p', terms), nowhere).map(rule => ({ ...rule, author: party })),
  )
  const grants = grantsOf(rules, now)
  return organizations.flatMap(organization => {
    const own = grants.filter(grant => grant.organization === `Organization/${organization}`)
    return things.flatMap(thing => {
      const [is, shall] = [own.some(grant => opens(grant, thing, now)), isOpen(recorded, organization, thing)]
      return is === shall ? [] : [`${organization} ${thing.type} [${thing.codes}]: ${is} instead of ${shall}`]
    })
  })
}

/** The fewest of these consents that still differ. */
function shortest(said: readonly Said[]): readonly Said[] {
  const fewer = said.map((_each, at) => said.filter((_other, index) => index !== at))
  const still = fewer.find(each => each.length > 0 && differences(each).length > 0)
  return still ? shortest(still) : said
}

test('what consents permit is what the model of them permits', { timeout: 3_600_000 }, () => {
  for (let seed = 1; seed <= histories; seed++) {
    const said = saidBy(seed)
    if (differences(said).length === 0) continue
    const least = shortest(said)
    expect.fail(`seed ${seed}: ${differences(least).join('; ')}\n${JSON.stringify(least, undefined, 1)}`)
  }
})

test('the model tells consents apart: things are open in some histories and shut in others', () => {
  const open = Array.from({ length: 300 }, (_none, seed) =>
    saidBy(seed).flatMap(({ party, terms }) => rulesIn(terms).map(rule => ({ rule, party }))),
  ).map(recorded => things.filter(thing => isOpen(recorded, 'clinic-a', thing)).length)
  expect(open.filter(count => count === 0).length).toBeGreaterThan(30)
  expect(open.filter(count => count === things.length).length).toBeGreaterThan(10)
  expect(open.filter(count => count > 0 && count < things.length).length).toBeGreaterThan(30)
})
