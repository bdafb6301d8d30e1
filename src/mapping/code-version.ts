// The version of the code that verdicts on maps come from (verdict.ts): a hash of its files. A released version has a number, but a
// work tree has not, and an old verdict must never meet a changed compiler.

import { hash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'

/** The folders of `src` that have a part in a verdict; test/mapping/code-version.test.ts follows the imports. */
export const DECIDING = ['definitions', 'fhirpath', 'fml', 'hl7v2', 'lib', 'mapping', 'shapes'] as const

const SOURCE = join(import.meta.dirname, '..')

/**
 * Returns the version of the code as this process has loaded it, with the versions of Node and its parts; undefined if that cannot be
 * known: a file has changed since the process began, which may run the file as it was before.
 */
export function codeVersion(source = SOURCE, begun = performance.timeOrigin): string | undefined {
  try {
    const paths = DECIDING.flatMap(folder => filesIn(join(source, folder)))
    const hashes = paths.map(path => [relative(source, path), hash('sha256', readFileSync(path))])
    if (paths.some(path => statSync(path).ctimeMs > begun)) return undefined
    return hash('sha256', JSON.stringify([process.versions, hashes]))
  } catch {
    return undefined
  }
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter(each => !each.isDirectory())
    .map(each => join(each.parentPath, each.name))
    .toSorted()
}
