// Checks secrets and passwords against their Argon2id hashes. The cost does not reveal whether a client exists, and is
// bounded, so that an attack cannot exhaust the CPU.
import { createHmac, randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { createConcurrencyLimit } from '../lib/concurrency-limit.ts'
import { argon2id, type Derive, fromPhc, isSameRecipe, isSameTag, newRecipe, type Recipe } from './argon2.ts'
import { type Attempts, tried } from './throttle.ts'

/** A secret as it is stored. */
export interface StoredSecret {
  readonly id: number
  readonly hash: string
}

interface Attempt {
  readonly clientId: string
  readonly secret: string
  /** The live secrets of the client; none if there is no such client. */
  readonly stored: readonly StoredSecret[]
  /** Counts it when it fails. */
  readonly attempts: Attempts
}

export interface Secrets {
  /**
   * Returns the stored secret that the given one matches, or undefined. A success is remembered for ten minutes, but
   * holds only while the secret is among those stored.
   * @throws Failure AUTH_THROTTLED, UNAVAILABLE.
   */
  find(attempt: Attempt): Promise<number | undefined>
}

export interface Checker {
  /**
   * Returns which of the stored secrets the given one matches, or undefined. It costs one hash even where nothing is
   * stored.
   * @throws Failure UNAVAILABLE when too many checks are waiting.
   */
  find(secret: string, stored: readonly StoredSecret[]): Promise<number | undefined>
}

export interface CheckerOptions {
  readonly derive?: Derive
  /** Hashes at a time, and waiting. */
  readonly width?: number
  readonly depth?: number
}

/** Creates the checker that a process uses for all secrets and passwords, so that together they do not exhaust the CPU. */
export function createChecker(options: CheckerOptions = {}): Checker {
  const { derive = argon2id, width = availableParallelism(), depth = 64 } = options
  const limit = createConcurrencyLimit({ name: 'sign-in', total: width, waiting: depth })
  const dummy = newRecipe()
  return { find: (secret, stored) => limit.run(() => compare(secret, stored, dummy, derive)) }
}

const rememberedFor = 600_000
const rememberedAtMost = 10_000

export function createSecrets(checker: Checker, now: () => number): Secrets {
  const key = randomBytes(32)
  const proven = new Map<string, { id: number; until: number }>()
  const running = new Map<string, Promise<number | undefined>>()

  function prove(mark: string, { attempts, secret, stored }: Attempt): Promise<number | undefined> {
    return tried(attempts, async () => {
      const id = await checker.find(secret, stored)
      if (id !== undefined) remember(proven, mark, { id, until: now() + rememberedFor })
      return id
    })
  }

  async function join(work: Promise<number | undefined>, attempt: Attempt): Promise<number | undefined> {
    const id = await work
    if (id === undefined) attempt.attempts.count()
    return id
  }

  return {
    async find(attempt) {
      const mark = createHmac('sha256', key).update(`${attempt.clientId}\0${attempt.secret}`).digest('base64')
      const isLive = (id: number | undefined) => attempt.stored.some(secret => secret.id === id)
      const known = proven.get(mark)
      if (known && known.until > now() && isLive(known.id)) return known.id
      const inHand = running.get(mark)
      if (inHand) {
        const id = await join(inHand, attempt)
        return isLive(id) ? id : undefined
      }
      const work = prove(mark, attempt).finally(() => running.delete(mark))
      running.set(mark, work)
      return work
    },
  }
}

/**
 * Computes one hash for each recipe. The secrets of a client share theirs, so that is one hash, as it is where there is
 * nothing to compare.
 */
async function compare(
  secret: string,
  stored: readonly StoredSecret[],
  dummy: Recipe,
  derive: Derive,
): Promise<number | undefined> {
  const known = stored.map(({ id, hash }) => ({ id, ...fromPhc(hash) }))
  const recipes = known
    .map(each => each.recipe)
    .filter((one, at, all) => all.findIndex(it => isSameRecipe(it, one)) === at)
  let found: number | undefined
  for (const recipe of recipes.length > 0 ? recipes : [dummy]) {
    const tag = await derive(secret, recipe)
    for (const each of known) {
      if (isSameRecipe(each.recipe, recipe) && isSameTag(each.tag, tag)) found = each.id
    }
  }
  return found
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > rememberedAtMost) map.delete(map.keys().next().value!)
}
