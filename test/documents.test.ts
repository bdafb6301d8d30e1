// The documents name what exists, and all of what they list: beside docs.test.ts, which follows their links.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scopes } from '../src/access/scopes.ts'
import { eventTypes } from '../src/events/event-types.ts'
import { settings } from '../src/lib/config.ts'
import { failureCodes } from '../src/lib/failure.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const stands = (path: string): boolean => existsSync(join(root, path))

/** The architecture and the decisions have their own checks in docs.test.ts. */
const isOfItsOwn = (document: string): boolean => /^docs\/(architecture|decisions)/.test(document)

const documents = globSync(['*.md', 'docs/*.md', 'mappings/*.md'], { cwd: root }).filter(each => !isOfItsOwn(each))
const pictures = globSync('docs/images/*.svg', { cwd: root })

/** The text without its blocks of code, where brackets and hash signs mean something else. */
const prose = (text: string): string => text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')

describe.each(documents)('%s', document => {
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
  expect(documents.filter(each => !reached.has(each))).toEqual([])
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
  const counted = globSync(['src/metrics/*.ts', 'src/*/backlog.ts'], { cwd: root }).map(read).join('')
  const named = [
    ...read('docs/operations.md').matchAll(/`((?:http|database|webhook|event|audit|health_interop)_[a-z_]+)/g),
  ]
  expect(named.length).toBeGreaterThan(15)
  expect(named.map(([, name]) => name!).filter(name => !counted.includes(`'${name}'`))).toEqual([])
})

test('settings that documents name exist', () => {
  const known = new Set(Object.values(settings).map(({ name }) => name))
  const others = /^(TOKEN|FHIR|CONNECT|AUTH|STATUS|CODE|PHONE|BLAISE|SUBSCRIPTION|URL)$/
  const assigned = documents.flatMap(document =>
    [...read(document).matchAll(/\b([A-Z][A-Z_]{2,})=[^=\s]/g)].map(([, name]) => name!),
  )
  expect(assigned.filter(name => !known.has(name) && !others.test(name))).toEqual([])
})
