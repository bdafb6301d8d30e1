// Reads the JSON files of an npm package, which is what FHIR implementation guides are published as.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** The parsed JSON files of a .tgz whose path matches. */
export function jsonFiles(path: string, wanted: RegExp): unknown[] {
  const tar = gunzipSync(readFileSync(path))
  const found: unknown[] = []
  for (let at = 0; at + 512 <= tar.length; ) {
    const name = tar.toString('latin1', at, at + 100).replace(/\0.*$/s, '')
    if (name === '') break
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 136), 8)
    if (wanted.test(name)) found.push(JSON.parse(tar.toString('utf8', at + 512, at + 512 + size)))
    at += 512 + Math.ceil(size / 512) * 512
  }
  return found
}
