// The documents are true where that can be told by a machine.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'

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

/** Every document of the project, by its path. */
const documents = ['.', 'docs', 'docs/decisions', 'mappings'].flatMap(folder =>
  readdirSync(join(root, folder))
    .filter(name => name.endsWith('.md'))
    .map(name => join(folder, name)),
)

test('the documents link to files that exist, and to headings that are there', () => {
  expect(documents.flatMap(document => linksOf(document).filter(link => !leads(document, link)))).toEqual([])
})

const linksOf = (document: string): string[] =>
  [...withoutCode(read(document)).matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, link]) => link!)

const withoutCode = (text: string): string => text.replaceAll(/```.*?```/gs, '')

/** Whether there is such a file, and such a heading in it. */
function leads(document: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const target = path === '' ? document : join(document, '..', path)
  if (!existsSync(join(root, target))) return false
  return heading === undefined || headingsOf(read(target)).includes(heading)
}

/** The headings of a document, as links name them. */
const headingsOf = (text: string): string[] =>
  [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

/** The documents of today; the history of changes names what has gone since. */
const current = documents.filter(document => document !== 'CHANGELOG.md')

test('the documents name files and folders that exist', () => {
  const named = current.flatMap(document => [...read(document).matchAll(/`((?:src|test|docs|mappings)\/[\w./-]*)`/g)])
  expect(named.length).toBeGreaterThan(100)
  expect(named.map(([, path]) => path!).filter(path => !existsSync(join(root, path)))).toEqual([])
})

test('comments name documents that exist', () => {
  const files = ['src', 'test'].flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => /\.(ts|sql)$/.test(name))
      .map(name => join(folder, name)),
  )
  const named = files.flatMap(file => [...read(file).matchAll(/(?<!\w)docs\/[\w./-]+\.(?:md|json)/g)])
  expect(named.length).toBeGreaterThan(5)
  expect(named.map(([path]) => path).filter(path => !existsSync(join(root, path)))).toEqual([])
})

test('the architecture and the decisions name files by names that files of src have', () => {
  const names = new Set(
    readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map(path => basename(path)),
  )
  const named = current
    .filter(document => /^docs\/(architecture\.md|decisions\/)/.test(document))
    .flatMap(document => [...read(document).matchAll(/`([\w-]+\.(?:ts|sql))`/g)])
  expect(named.length).toBeGreaterThan(30)
  expect(named.map(([, name]) => name!).filter(name => !names.has(name))).toEqual([])
})

test('the architecture names every folder of src, and every table of the database', () => {
  const text = read('docs/architecture.md')
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter(entry => entry.isDirectory())
  expect(folders.map(({ name }) => `\`src/${name}\``).filter(name => !text.includes(name))).toEqual([])
  const migrations = readdirSync(join(root, 'src/db/migrations')).map(name => read(`src/db/migrations/${name}`))
  const tables = migrations.flatMap(sql => [...sql.matchAll(/^create table (\w+)/gm)].map(([, name]) => name!))
  expect(tables.length).toBeGreaterThan(40)
  expect(tables.filter(name => !text.includes(`\`${name}\``))).toEqual([])
})

describe('a decision', () => {
  const files = readdirSync(join(root, 'docs/decisions')).filter(name => name !== 'README.md')
  const list = read('docs/decisions/README.md')

  test('has a number of its own, and none is left out', () => {
    expect(files.toSorted().map(name => name.slice(0, 4))).toEqual(
      files.map((_, index) => String(index + 1).padStart(4, '0')),
    )
  })

  test.each(files)('has its number, status, date and parts, and stands in the list: %s', name => {
    const text = read(`docs/decisions/${name}`)
    const number = name.slice(0, 4)
    const title = new RegExp(`^# ${number}\\. (.+)$`, 'm').exec(text)?.[1]
    expect(text.startsWith(`# ${number}. `)).toBe(true)
    expect(text).toMatch(/^- Status: (accepted|superseded by \[\d{4}\]\(\d{4}-[a-z0-9-]+\.md\))$/m)
    expect(text).toMatch(/^- Date: \d{4}-\d{2}-\d{2}$/m)
    expect([...text.matchAll(/^## (.+)$/gm)].map(([, part]) => part)).toEqual(['Context', 'Decision', 'Consequences'])
    expect(list.split('\n').filter(line => line === `- [${number}](${name}) ${title}`)).toHaveLength(1)
  })
})
