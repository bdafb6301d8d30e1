import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const source = resolve(import.meta.dirname, '../src')

/** From the ground up; a folder may import from lower floors and from itself, and what has no folder is the roof. */
const floors: readonly (readonly string[])[] = [
  ['lib', 'definitions', 'fhirpath', 'fml', 'shapes'],
  ['db', 'outbound'],
  ['store'],
  ['access', 'load'],
  ['audit', 'mpi'],
  ['identity', 'mapping'],
  ['consents', 'patients', 'records', 'inventory', 'payments', 'events'],
  ['interactions', 'webhooks', 'metrics', 'demo'],
  ['http'],
  ['api'],
  ['app'],
  ['commands'],
  [''],
]

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'))
const folderOf = (path: string): string => (path.includes('/') ? path.split('/')[0]! : '')
const floorOf = (folder: string): number => floors.findIndex(floor => floor.includes(folder))

interface Import {
  readonly from: string
  readonly to: string
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(source, file), 'utf8')
  return [...text.matchAll(/from '([^']+)'|import\('([^']+)'\)/g)].map(match => ({
    from: file,
    to: match[1] ?? match[2]!,
  }))
}

const all = files.flatMap(importsOf)
const local = all
  .filter(each => each.to.startsWith('.'))
  .map(each => ({ ...each, to: relative(source, resolve(source, dirname(each.from), each.to)) }))

test('every folder of src has its floor', () => {
  expect(files.map(folderOf).filter(folder => floorOf(folder) < 0)).toEqual([])
})

test('a file imports from lower floors and its own folder only', () => {
  const wrong = local.filter(
    ({ from, to }) =>
      folderOf(from) !== folderOf(to) &&
      floorOf(folderOf(to)) >= floorOf(folderOf(from)) &&
      floorOf(folderOf(from)) > 0,
  )
  expect(wrong).toEqual([])
})

test('a surface of the API imports from no other surface', () => {
  const surfaceOf = (path: string): string => path.split('/')[1]!
  const wrong = local.filter(
    ({ from, to }) => folderOf(from) === 'api' && folderOf(to) === 'api' && surfaceOf(from) !== surfaceOf(to),
  )
  expect(wrong).toEqual([])
})

test('the ground floor knows nothing of the database or of HTTP', () => {
  const ground = local.filter(({ from, to }) => floorOf(folderOf(from)) === 0 && floorOf(folderOf(to)) > 0)
  expect(ground).toEqual([])
})

test('koa, pg and prom-client are named only where they belong', () => {
  const homes: Record<string, readonly string[]> = {
    koa: ['http', 'app'],
    '@koa/router': ['http'],
    pg: ['db'],
    'prom-client': ['metrics'],
  }
  const strays = all.filter(({ from, to }) => homes[to] && !homes[to].includes(folderOf(from)))
  expect(strays).toEqual([])
})
