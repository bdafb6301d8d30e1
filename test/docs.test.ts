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
        file: `test/${/^(store|http|audit|policy|webhooks)\//.test(file!) ? file : `fhir/${file}`}.test.ts`,
        name: name!,
      })),
  )
}

test('every test that the conformance table names exists', () => {
  expect(cited().length).toBeGreaterThan(80)
  const missing = cited().filter(({ file, name }) => !existsSync(join(root, file)) || !read(file).includes(name))
  expect(missing).toEqual([])
})

test('the documents link to files that exist', () => {
  for (const document of ['README.md', 'docs/architecture.md', 'docs/decisions.md', 'docs/conformance.md']) {
    const folder = join(root, document, '..')
    const links = [...read(document).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => path!)
    expect(links.filter(path => !existsSync(join(folder, path)))).toEqual([])
  }
})
