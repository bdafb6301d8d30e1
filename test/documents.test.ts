// The documents are true where that can be told by a machine: they name what exists, and all of what they list.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scopes } from '../src/access/scopes.ts'
import { eventTypes } from '../src/events/event-types.ts'
import { settings } from '../src/lib/config.ts'
import { failureCodes } from '../src/lib/failure.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const stands = (path: string): boolean => existsSync(join(root, path))

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
  const missing = cited().filter(({ file, name }) => !stands(file) || !read(file).includes(name))
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
const documents = ['.', 'docs', 'docs/decisions', 'mappings', 'bridge', 'bridge/service'].flatMap(folder =>
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
  if (!stands(target)) return false
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
  expect(named.map(([, path]) => path!).filter(path => !stands(path))).toEqual([])
})

test('comments name documents that exist', () => {
  const files = ['src', 'test'].flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => /\.(ts|sql)$/.test(name))
      .map(name => join(folder, name)),
  )
  const named = files.flatMap(file => [...read(file).matchAll(/(?<!\w)docs\/[\w./-]+\.(?:md|json)/g)])
  expect(named.length).toBeGreaterThan(5)
  expect(named.map(([path]) => path).filter(path => !stands(path))).toEqual([])
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
    expect(text).toMatch(/^- Status: (proposed|accepted|superseded by \[\d{4}\]\(\d{4}-[a-z0-9-]+\.md\))$/m)
    expect(text).toMatch(/^- Date: \d{4}-\d{2}-\d{2}$/m)
    expect([...text.matchAll(/^## (.+)$/gm)].map(([, part]) => part)).toEqual(['Context', 'Decision', 'Consequences'])
    expect(list.split('\n').filter(line => line === `- [${number}](${name}) ${title}`)).toHaveLength(1)
  })
})

/** The architecture and the decisions have checks of their own. */
const isOfItsOwn = (document: string): boolean => /^docs\/(architecture|decisions)/.test(document)

const pages = documents.filter(each => !isOfItsOwn(each))
const pictures = globSync('docs/images/*.svg', { cwd: root })

/** The text without its blocks of code, where brackets and hash signs mean something else. */
const prose = (text: string): string => text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')

describe.each(pages)('%s', document => {
  const text = prose(read(document))

  test('names files of the project that exist', () => {
    const named = [...text.matchAll(/`((?:src|test|docs|mappings)\/[\w./-]+)`/g)].map(([, path]) => path!)
    expect(named.filter(path => !path.includes('NNNN') && !path.includes('flag-') && !stands(path))).toEqual([])
  })

  test('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const named = [...read(document).matchAll(/npm run (?:--silent )?([a-z]+)/g)].map(([, script]) => script!)
    expect(named.filter(script => scripts[script] === undefined)).toEqual([])
  })
})

test('the README is a page: at most 120 lines', () => {
  expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(120)
})

test('every document is linked from the README, or from one that is', () => {
  const reached = new Set(['README.md'])
  for (const document of reached)
    for (const [, link] of read(document).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)) {
      const target = join(dirname(document), link!)
      if (target.endsWith('.md') && stands(target)) reached.add(target)
    }
  expect(pages.filter(each => !reached.has(each))).toEqual([])
})

test('pictures say in words what they show, and bring their own background or colours for dark pages', () => {
  expect(pictures.length).toBeGreaterThan(0)
  for (const picture of pictures) {
    expect(read(picture), picture).toMatch(/<title id="title">[^<]+<\/title>\s*<desc id="desc">[^<]+<\/desc>/)
    expect(read(picture), picture).toMatch(/prefers-color-scheme: dark|<rect[^>]+fill="#0d1117"/)
  }
})

describe('docs/api.md', () => {
  const api = read('docs/api.md')

  test('lists every error code with its status and its type of issue, and no other', () => {
    const listed = [...api.matchAll(/^\| (\d{3}) \| `([A-Z_]+)` \| `([a-z-]+)` \|/gm)].map(row =>
      row.slice(1).join(' '),
    )
    const known = Object.entries(failureCodes).map(([code, { status, issue }]) => `${status} ${code} ${issue}`)
    expect(listed.toSorted()).toEqual(known.toSorted())
  })

  test('lists every scope with the FHIR types that it opens, and no other', () => {
    const [, section = ''] = /^## Scopes\n([\s\S]*?)^## /m.exec(api) ?? []
    const listed = [...section.matchAll(/^\| `([a-z_:]+)` \| .* \|(.*)\|$/gm)].map(row => `${row[1]} ${row[2]!.trim()}`)
    const known = Object.entries(scopes).map(([name, { fhir = {} }]) => {
      const [interactions] = Object.values(fhir)
      return `${name} ${interactions ? `\`${interactions}\` ${Object.keys(fhir).join(', ')}` : ''}`
    })
    expect(listed).toEqual(known)
  })

  test('lists every type of events, and no other', () => {
    const [, section = ''] = /^\*\*Event types\*\*([\s\S]*?)^Events follow/m.exec(api) ?? []
    const listed = [...section.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, type]) => type)
    expect(listed).toEqual(Object.keys(eventTypes))
  })
})

test('docs/operations.md names metrics that are counted', () => {
  const counted = globSync(['src/metrics/*.ts', 'src/*/*backlog.ts'], { cwd: root }).map(read).join('')
  const named = [
    ...read('docs/operations.md').matchAll(/`((?:http|database|webhook|event|audit|health_interop)_[a-z_]+)/g),
  ]
  expect(named.length).toBeGreaterThan(15)
  expect(named.map(([, name]) => name!).filter(name => !counted.includes(`'${name}'`))).toEqual([])
})

test('settings that documents name exist', () => {
  const known = new Set(Object.values(settings).map(({ name }) => name))
  const others = /^(TOKEN|FHIR|CONNECT|AUTH|STATUS|CODE|PHONE|BLAISE|SUBSCRIPTION|URL|NODE_OPTIONS)$/
  const assigned = pages.flatMap(document =>
    [...read(document).matchAll(/\b([A-Z][A-Z_]{2,})=[^=\s]/g)].map(([, name]) => name!),
  )
  const agent = globSync('bridge/src/**/*.ts', { cwd: root }).map(read).join('')
  const isOfAgent = (name: string): boolean => agent.includes(`'${name}'`)
  expect(assigned.filter(name => !known.has(name) && !others.test(name) && !isOfAgent(name))).toEqual([])
})
