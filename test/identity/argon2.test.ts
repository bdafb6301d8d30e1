// Hashes of secrets as they are written down.
import { expect, test } from 'vitest'
import { fromPhc, isSameRecipe, isSameTag, newRecipe, toPhc } from '../../src/identity/argon2.ts'

const tag = Buffer.alloc(32, 'tag')

test('a hash is read as it was written', () => {
  const recipe = newRecipe(Buffer.alloc(16, 'salt'))
  const text = toPhc(recipe, tag)
  expect(text).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(fromPhc(text)).toEqual({ recipe, tag })
  const costly = { ...recipe, memory: 65_536, passes: 12, parallelism: 16 }
  expect(fromPhc(toPhc(costly, tag))).toEqual({ recipe: costly, tag })
  for (const other of [`x${text}`, `${text}$`, `${text}=`])
    expect(() => fromPhc(other)).toThrow('This is not an Argon2id hash.')
})

test.each(['', 'secret', '$argon2i$v=19$m=1,t=1,p=1$AAAA$AAAA', '$argon2id$v=19$m=1,t=1,p=1$AAAA$', 'x$argon2id'])(
  '"%s" is no hash',
  text => expect(() => fromPhc(text)).toThrow('This is not an Argon2id hash.'),
)

test('a recipe is the same if all of it is', () => {
  const one = newRecipe(Buffer.alloc(16, 'salt'))
  expect(isSameRecipe(one, { ...one, salt: Buffer.from(one.salt) })).toBe(true)
  const others = [{ memory: 1 }, { passes: 1 }, { parallelism: 2 }, { tagLength: 16 }, { salt: Buffer.alloc(16) }]
  for (const other of others) expect(isSameRecipe(one, { ...one, ...other })).toBe(false)
})

test('a tag is the same if every byte is', () => {
  expect(isSameTag(tag, Buffer.from(tag))).toBe(true)
  expect(isSameTag(tag, Buffer.alloc(32))).toBe(false)
  expect(isSameTag(tag, tag.subarray(1))).toBe(false)
})
