// The files of web/ (styles, scripts and pictures) and the libraries that its scripts import: read once, compressed once, and cached by
// browsers for good under the hash of all.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { headerOf, open, type Route, reply, route } from '../../http/route.ts'
import { Failure } from '../../lib/failure.ts'
import { Type } from '../../lib/schema.ts'
import { isLibrary, libraryVersions, readLibrary, withAddresses } from './libraries.ts'

const folder = join(import.meta.dirname, '../../../web')

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const read = (name: string): Buffer => {
  const bytes = readFileSync(join(folder, name))
  return name.endsWith('.js') ? withAddresses(bytes) : bytes
}

/** Those of web/; a library joins them at its first request. */
const files: Map<string, Buffer> = new Map(
  readdirSync(folder)
    .filter(name => Object.hasOwn(types, extname(name)))
    .map(name => [name, read(name)]),
)

let known: string | undefined

/** The hash of the files and of the versions of the libraries, made for the first page: a process that shows none has no need of it. */
const hashOfAll = (): string =>
  (known ??= [...files]
    .reduce((sum, [name, bytes]) => sum.update(name).update('\0').update(bytes), createHash('sha256'))
    .update(libraryVersions())
    .digest('hex')
    .slice(0, 12))

function bytesOf(name: string): Buffer | undefined {
  if (!files.has(name) && isLibrary(name)) files.set(name, readLibrary(name))
  return files.get(name)
}

/** Returns the address of a file of web/ or of a library. @throws Error if there is none, which a test of the pages meets. */
export function assetAddress(name: string): string {
  if (!files.has(name) && !isLibrary(name)) throw new Error(`there is no web/${name}`)
  return `/portal/assets/${hashOfAll()}/${name}`
}

const encodings = {
  br: promisify((bytes: Buffer, done: (error: Error | null, result: Buffer) => void) =>
    brotliCompress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }, done),
  ),
  gzip: promisify((bytes: Buffer, done: (error: Error | null, result: Buffer) => void) =>
    gzip(bytes, { level: 9 }, done),
  ),
} as const

type Encoding = keyof typeof encodings

const compressed = new Map<string, Promise<Buffer>>()

/** Returns a file in an encoding; each is compressed at its first request. */
function encoded(name: string, bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  const key = `${encoding} ${name}`
  const known = compressed.get(key)
  if (known) return known
  const made = encodings[encoding](bytes)
  compressed.set(key, made)
  return made
}

/** GET /portal/assets/{version}/{name} */
export const assetRoute: Route = route({
  method: 'GET',
  path: '/portal/assets/{version}/{name}',
  tag: 'Portal',
  operationId: 'portalAsset',
  summary: 'A file of the portal',
  access: open,
  page: {},
  params: Type.Object({ version: Type.String(), name: Type.String() }),
  produces: 'text/css',
  replies: { 200: null },
  async handle(request) {
    const { version, name } = request.params
    const bytes = version === hashOfAll() ? bytesOf(name) : undefined
    if (!bytes) throw new Failure('NOT_FOUND', 'There is no such file of the portal: reload the page.')
    const accepted = headerOf(request, 'accept-encoding') ?? ''
    const encoding = (['br', 'gzip'] as const).find(each => new RegExp(`\\b${each}\\b`).test(accepted))
    return reply(200, encoding ? await encoded(name, bytes, encoding) : bytes, {
      'content-type': types[extname(name)]!,
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      ...(encoding && { 'content-encoding': encoding }),
    })
  },
})
