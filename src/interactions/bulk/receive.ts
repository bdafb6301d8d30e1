// Receives files to disk: from the body of a request, or from an origin that the operator allows. Gzip is decompressed
// in both cases; size, time and silence are bounded.
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { withDeadline } from '../../lib/deadline.ts'
import { Failure } from '../../lib/failure.ts'

/** Milliseconds without a byte after which a sender is given up. */
const mostSilence = 60_000

/**
 * Writes a stream to a file.
 * @param most bytes, unpacked.
 * @returns the bytes written.
 * @throws Failure PAYLOAD_TOO_LARGE, MALFORMED_REQUEST for a stream that breaks off or is no gzip although it begins so.
 */
export async function save(source: AsyncIterable<Uint8Array>, path: string, most: number, signal?: AbortSignal) {
  const chunks = source[Symbol.asyncIterator]()
  let size = 0
  const bounded = async function* (plain: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of plain) {
      size += chunk.length
      if (size > most)
        throw new Failure('PAYLOAD_TOO_LARGE', `The file is larger than ${most} bytes (BULK_IMPORT_BYTES).`)
      yield chunk
    }
  }
  try {
    const first = await withoutSilence(chunks.next())
    const rest = Readable.from(continued(first, chunks))
    const target = createWriteStream(path, { mode: 0o600 })
    if (!first.done && first.value[0] === 0x1f && first.value[1] === 0x8b)
      await pipeline(rest, createGunzip(), bounded, target, { signal })
    else await pipeline(rest, bounded, target, { signal })
  } catch (error) {
    if (error instanceof Failure || signal?.aborted || isOfDisk(error)) throw error
    throw new Failure('MALFORMED_REQUEST', 'The file is truncated or is not valid gzip.', {
      cause: error,
    })
  }
  return size
}

const isOfDisk = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT', 'EACCES', 'EROFS', 'ENOENT', 'EIO'].includes((error as NodeJS.ErrnoException).code ?? '')

async function* continued(
  first: IteratorResult<Uint8Array>,
  chunks: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for (let next = first; !next.done; next = await withoutSilence(chunks.next())) yield next.value
  } finally {
    await chunks.return?.()
  }
}

const withoutSilence = <T>(next: Promise<T>): Promise<T> =>
  withDeadline(next, mostSilence, () => {
    throw new Failure('MALFORMED_REQUEST', 'No data of the file arrived for a minute.', { issue: 'timeout' })
  })

export interface Origins {
  readonly allowed: readonly string[]
  /** True where plain http may be used with this machine itself. */
  readonly isLocal: boolean
}

/** @throws Failure FORBIDDEN that says which setting would allow the address. */
export function mustBeAllowed(url: URL, { allowed, isLocal }: Origins): void {
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  if (!allowed.includes(url.origin))
    throw new Failure(
      'FORBIDDEN',
      `Fetching files from ${url.origin} is not permitted: the operator must add it to BULK_IMPORT_ORIGINS.`,
    )
  if (url.protocol !== 'https:' && !(isLocal && isLoopback))
    throw new Failure('FORBIDDEN', `Files are fetched with https only, not from ${url.origin}.`)
  if (url.username !== '' || url.password !== '')
    throw new Failure('FORBIDDEN', 'A file URL must not contain a user name or password.')
}

const mostRedirects = 5
/** Milliseconds for one file, all in all. */
const mostTime = 4 * 3_600_000

/** Fetches a file to disk; each redirect has to be allowed like the address itself. @throws Failure for whatever is in the way. */
export async function download(
  address: string,
  path: string,
  {
    fetch,
    origins,
    most,
    signal,
  }: { fetch: typeof globalThis.fetch; origins: Origins; most: number; signal: AbortSignal },
): Promise<number> {
  const ending = AbortSignal.any([signal, AbortSignal.timeout(mostTime)])
  let url = new URL(address)
  for (let hop = 0; hop <= mostRedirects; hop++) {
    mustBeAllowed(url, origins)
    const response = await withoutSilence(
      fetch(url, { redirect: 'manual', signal: ending, headers: { accept: 'application/fhir+ndjson, */*;q=0.5' } }),
    ).catch(error => {
      if (signal.aborted || error instanceof Failure) throw error
      throw new Failure('UNAVAILABLE', `${url.origin} cannot be reached.`, { cause: error })
    })
    const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
    if (location === null) return saveReply(response, url, path, most, ending)
    await response.body?.cancel()
    url = new URL(location, url)
  }
  throw new Failure('MALFORMED_REQUEST', `${url.origin} redirects more than ${mostRedirects} times.`)
}

async function saveReply(response: Response, url: URL, path: string, most: number, signal: AbortSignal) {
  if (response.status === 200) return save(response.body ?? Readable.from([]), path, most, signal)
  await response.body?.cancel()
  throw new Failure('MALFORMED_REQUEST', `${url.origin} responded with ${response.status} instead of the file.`)
}
