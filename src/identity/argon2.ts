// Argon2id hashes in PHC string format (https://github.com/P-H-C/phc-string-format/blob/master/phc-sf-spec.md), made by Node's own crypto.
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify(argon2)
const saltLength = 16

/** The cost of one hash, as OWASP recommends it: 19 MiB, two passes, one lane. */
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 } as const

/** Derives the tag of a secret; an argument with this default wherever tests count hashes. */
export type Derive = (secret: string, recipe: Recipe) => Promise<Buffer>

export interface Recipe {
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
  readonly salt: Buffer
  readonly tagLength: number
}

/** Argon2id on libuv's threads. */
export const argon2id: Derive = (secret, { salt, ...parameters }) =>
  derive('argon2id', { message: secret, nonce: salt, ...parameters })

/** A recipe at today's cost. */
export function newRecipe(salt: Buffer = randomBytes(saltLength)): Recipe {
  return { ...cost, salt }
}

const base64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')

/** Writes `$argon2id$v=19$m=…,t=…,p=…$salt$tag`. */
export function toPhc(recipe: Recipe, tag: Buffer): string {
  const { memory, passes, parallelism, salt } = recipe
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(tag)}`
}

const phc = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** Reads a PHC string. @throws Error if it is not Argon2id. */
export function fromPhc(text: string): { recipe: Recipe; tag: Buffer } {
  const [, memory, passes, parallelism, salt, tag] = phc.exec(text) ?? []
  if (!tag || !salt) throw new Error('This is not an Argon2id hash.')
  const bytes = Buffer.from(tag, 'base64')
  return {
    tag: bytes,
    recipe: {
      memory: Number(memory),
      passes: Number(passes),
      parallelism: Number(parallelism),
      salt: Buffer.from(salt, 'base64'),
      tagLength: bytes.length,
    },
  }
}

/** Two recipes that give the same tag for the same secret. */
export function isSameRecipe(one: Recipe, other: Recipe): boolean {
  return (
    one.memory === other.memory &&
    one.passes === other.passes &&
    one.parallelism === other.parallelism &&
    one.tagLength === other.tagLength &&
    one.salt.equals(other.salt)
  )
}

/** Compares in a time that does not depend on where the two differ. */
export function isSameTag(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}
