// The documents are true where that can be told by a machine.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The tests that docs/conformance.md names: the file, and each name quoted after it. */
function cited(): { file: string; name: string }[] {
  return [...read('docs/conformance.md').matchAll(/([a-z][a-z/-]*) ((?:“[^”]+”(?:, )?)+)/g)].flatMap(
    ([, file, names]) =>
      [...names!.matchAll(/“([^”]+)”/g)].map(([, name]) => ({
        file: `test/${/^(store|http|audit|access|webhooks)\//.test(file!) ? file : `api/fhir/${file}`}.test.ts`,
        name: name!,
      })),
  )
}

test('every test that the conformance table names exists', () => {
  expect(cited().length).toBeGreaterThan(80)
  const missing = cited().filter(({ file, name }) => !existsSync(join(root, file)) || !read(file).includes(name))
  expect(missing).toEqual([])
})

/** Whether a test of this name runs on every machine: neither it nor a group around it is skipped where published data is absent. */
function isHeld({ file, name }: { file: string; name: string }): boolean {
  const lines = read(file).split('\n')
  return lines.some((line, index) => line.includes(name) && !around(lines, index).some(each => each.includes('skipIf')))
}

/** A line and, from the inside out, the first lines of what it stands in. */
function around(lines: readonly string[], index: number): string[] {
  const depth = (line: string): number => line.search(/\S/)
  const found = [lines[index]!]
  for (const line of lines.slice(0, index).toReversed())
    if (line.trim() !== '' && depth(line) < depth(found.at(-1)!)) found.push(line)
  return found
}

test('no rule of the conformance table is held by tests alone that need published data', () => {
  expect(isHeld({ file: 'test/api/fhir/guides.test.ts', name: 'every example is stored' })).toBe(false)
  expect(cited().filter(each => !isHeld(each))).toEqual([])
})

test('the documents link to files that exist', () => {
  for (const document of ['README.md', 'docs/architecture.md', 'docs/decisions.md', 'docs/conformance.md']) {
    const folder = join(root, document, '..')
    const links = [...read(document).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => path!)
    expect(links.filter(path => !existsSync(join(folder, path)))).toEqual([])
  }
})
