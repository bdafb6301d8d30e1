// Secrets at rest: AES-256-GCM (NIST SP 800-38D) under one key of the deployment.
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, ConfigError } from './config.ts'
import { random } from './ids.ts'

const layout = 1
const nonceLength = 12
const tagLength = 16

/**
 * Encrypts a text: layout byte, nonce, tag, ciphertext.
 * @param context what the text is and whose; the same must be named to read it, so that rows cannot be swapped.
 */
export function seal(key: Buffer, text: string, context: string): Buffer {
  const nonce = Buffer.from(random(nonceLength))
  const cipher = createCipheriv('aes-256-gcm', objectOf(key), nonce, { authTagLength: tagLength }).setAAD(
    Buffer.from(context),
  )
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(layout), nonce, cipher.getAuthTag(), sealed])
}

/** Decrypts what `seal` made. @throws Error if the key or the context is another one, or the bytes were changed. */
export function unseal(key: Buffer, sealed: Buffer, context: string): string {
  if (sealed[0] !== layout) throw new Error('The data was not encrypted by this service.')
  const [nonce, rest] = [sealed.subarray(1, 1 + nonceLength), sealed.subarray(1 + nonceLength)]
  const cipher = createDecipheriv('aes-256-gcm', objectOf(key), nonce, { authTagLength: tagLength })
  cipher.setAAD(Buffer.from(context)).setAuthTag(rest.subarray(0, tagLength))
  return Buffer.concat([cipher.update(rest.subarray(tagLength)), cipher.final()]).toString('utf8')
}

const objects = new WeakMap<Buffer, KeyObject>()

/** The key as Node.js uses it: made once, since making it takes twice as long as encrypting a text of 1 KB. */
function objectOf(key: Buffer): KeyObject {
  const found = objects.get(key)
  if (found) return found
  const made = createSecretKey(key)
  objects.set(key, made)
  return made
}

/**
 * The key of this deployment: ENCRYPTION_KEY, or outside production one of its own under DATA_DIR.
 * @throws ConfigError in production without ENCRYPTION_KEY.
 */
export async function encryptionKey(config: Config): Promise<Buffer> {
  if (config.encryptionKey) return config.encryptionKey
  if (config.environment === 'production')
    throw new ConfigError('ENCRYPTION_KEY is empty, but production needs one: openssl rand -base64 32')
  return readOrCreateKey(config.dataDir)
}

/** Reads the key of a folder; the first process to ask creates it, readable by its owner only. */
export async function readOrCreateKey(dataDir: string): Promise<Buffer> {
  const file = join(dataDir, 'encryption.key')
  const known = await readKey(file)
  if (known) return known
  await mkdir(dataDir, { recursive: true })
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  await writeFile(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
  // A link fails where the file exists, so several processes agree on the first one's key.
  await link(draft, file).catch(error => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(draft)
  return (await readKey(file))!
}

async function readKey(file: string): Promise<Buffer | undefined> {
  const text = await readFile(file, 'utf8').catch(error => {
    if (error.code !== 'ENOENT') throw error
  })
  if (text === undefined) return undefined
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length !== 32)
    throw new ConfigError(`${file} must contain 32 bytes in base64: restore it, or set ENCRYPTION_KEY.`)
  return key
}
