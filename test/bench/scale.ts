// Makes a large set out of a small one: the same bundles again under new ids, as NDJSON on a pipe or in files.

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createGzip } from 'node:zlib'
import { filesOf, itemsOf } from '../../src/load/read.ts'

const uuid = /\b[0-9a-f]{8}(?=-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)/g

/** The text with every UUID turned into another, the same one for the same copy. */
function renamed(text: string, copy: number): string {
  return text.replace(uuid, head =>
    ((Number.parseInt(head, 16) ^ (copy * 0x9e3779b1)) >>> 0).toString(16).padStart(8, '0'),
  )
}

/**
 * Writes copies of the bundles under `path` into `folder`, one file for each copy, until there are `target` resources.
 * @returns the folder.
 */
export async function writeCopies(path: string, folder: string, target: number): Promise<string> {
  await mkdir(folder, { recursive: true })
  const bundles: string[] = []
  let size = 0
  for (const file of await filesOf([path])) {
    for await (const item of itemsOf(file.path)) {
      if ('problem' in item) continue
      bundles.push(JSON.stringify(item.resource))
      size += Array.isArray(item.resource['entry']) ? item.resource['entry'].length : 1
    }
  }
  for (let copy = 1, written = size; written < target; copy++, written += size) {
    const gzip = createGzip({ level: 1 })
    const file = gzip.pipe(createWriteStream(join(folder, `copy-${String(copy).padStart(3, '0')}.ndjson.gz`)))
    for (const bundle of bundles) if (!gzip.write(`${renamed(bundle, copy)}\n`)) await once(gzip, 'drain')
    gzip.end()
    await once(file, 'finish')
  }
  return folder
}
