import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const source = resolve(import.meta.dirname, '../src')

/** From the ground up; a folder may import from lower floors and from itself, and what has no folder is the roof. */
const floors: readonly (readonly string[])[] = [
  ['lib', 'definitions', 'fhirpath', 'fml', 'hl7v2', 'shapes'],
  ['db', 'outbound'],
  ['store'],
  ['access', 'load'],
  ['audit', 'mpi'],
  ['identity', 'mapping'],
  ['consents', 'patients', 'records', 'inventory', 'payments', 'events'],
  ['interactions', 'webhooks', 'bridge', 'metrics', 'requests', 'demo'],
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

test('the agent is a package of its own: of the service it takes pure parts, and the service takes nothing of it', () => {
  const agent = resolve(source, '../bridge')
  const taken = takenFrom(agent)
  expect(taken.filter(path => floorOf(folderOf(path)) !== 0)).toEqual([])
  expect(local.filter(({ to }) => to.startsWith('../bridge'))).toEqual([])
})

test('what the agent takes of the service brings no package and no dictionary with it', () => {
  const reached = new Set(takenFrom(resolve(source, '../bridge')))
  for (const file of reached)
    for (const { from, to } of all.filter(each => each.from === file && each.to.startsWith('.')))
      reached.add(relative(source, resolve(source, dirname(from), to)))
  const brought = all.filter(({ from, to }) => reached.has(from) && !/^(?:\.|node:)/.test(to))
  expect([brought, [...reached].filter(file => !file.endsWith('.ts'))]).toEqual([[], []])
  expect(reached).toContain('hl7v2/delimiters.ts')
})

/** The files of the service that the agent imports. */
function takenFrom(agent: string): string[] {
  const paths = readdirSync(join(agent, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .flatMap(name =>
      [...readFileSync(join(agent, 'src', name), 'utf8').matchAll(/from '(\.[^']+)'/g)].map(match =>
        resolve(agent, 'src', dirname(name), match[1]!),
      ),
    )
    .filter(path => !path.startsWith(`${agent}/`))
    .map(path => relative(source, path))
  return [...new Set(paths)]
}

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

type Owners = Readonly<Record<string, string>>

/** Each table, and each function in SQL, with the folder whose statements alone name it; another folder gets what it needs from there, as a function or as a fragment of SQL. */
const owners: { readonly tables: Owners; readonly functions: Owners } = JSON.parse(
  readFileSync(join(source, 'db/migrations/owners.json'), 'utf8'),
)

const migrations = readdirSync(join(source, 'db/migrations'))
  .filter(name => name.endsWith('.sql'))
  .sort()

test('the order of the migrations by name is that of their numbers, which are unique', () => {
  const numbers = migrations.map(name => /^(\d{4})-[a-z0-9-]+\.sql$/.exec(name)?.[1])
  expect(numbers).not.toContain(undefined)
  expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => Number(one) - Number(other)))
})

/** Returns the text of all migrations, in order; migrate.ts makes the table in which it notes them. */
const allMigrations = (): string =>
  [...migrations.map(name => join(source, 'db/migrations', name)), join(source, 'db/migrate.ts')]
    .map(path => readFileSync(path, 'utf8'))
    .join('\n')
    .replaceAll(/--.*$/gm, '')

/** The tables that the migrations leave. */
function tablesMade(): string[] {
  const tables = new Set<string>()
  const made = /\b(create (?:unlogged )?|drop )table (?:if (?:not )?exists )?([a-z_]+)/g
  for (const [, verb, table] of allMigrations().matchAll(made))
    if (verb === 'drop ') tables.delete(table!)
    else tables.add(table!)
  return [...tables].sort()
}

const withoutComments = (text: string): string => text.replace(/^\s*(?:\/\/|\/\*|\*).*$|\s\/\/ .*$/gm, '')

/**
 * The words that stand where SQL expects a table; `table: 'x'` hands one to a function that makes the statement. Where a name is put
 * into a statement as a value, every text of the file may be it.
 */
function tablesNamed(text: string): string[] {
  const code = withoutComments(text)
  const listed = [...code.matchAll(tableLists)].flatMap(([, list]) => list!.toLowerCase().split(','))
  const handed = [...code.matchAll(/\btable: ['"`]([a-z_]+)/g)].map(([, table]) => table!)
  const texts = putIn.test(code) ? [...code.matchAll(/'([a-z_]+)'/g)].map(([, text]) => text!) : []
  return [...listed, ...handed, ...texts].map(
    each =>
      each
        .trim()
        .replace(/^(?:only\s+)?(?:public\.)?/, '')
        .split(/\s/)[0]!,
  )
}

const tableName = String.raw`(?:only\s+)?[a-z_.]+`
const beforeTables = String.raw`\b(?:from|join|into|update|using|(?:lock\s+|truncate\s+)?table|lock|truncate|copy|(?:vacuum|analyze)(?:\s*\([a-z, ]*\))?)\s+`
const putIn = new RegExp(String.raw`${beforeTables}\$\{`, 'i')
const tableLists = new RegExp(
  String.raw`${beforeTables}(${tableName}(?:(?:\s+(?:as\s+)?[a-z_]+)?\s*,\s*${tableName})*)`,
  'gi',
)

test('every table has the folder that owns it', () => {
  expect(Object.keys(owners.tables).sort()).toEqual(tablesMade())
  expect(Object.values(owners.tables).filter(folder => floorOf(folder) < 0)).toEqual([])
})

test('only the folder that owns a table names it in SQL', () => {
  const strays = files.flatMap(file =>
    [...new Set(tablesNamed(readFileSync(join(source, file), 'utf8')))]
      .filter(table => Object.hasOwn(owners.tables, table) && owners.tables[table] !== folderOf(file))
      .map(table => `${file}: ${table} belongs to ${owners.tables[table]}`),
  )
  expect(strays).toEqual([])
})

test.each([
  ['select 1 from person p join resource using (key)', ['person', 'resource']],
  ['select 1 from due, history h, lateral (select from search)', ['history', 'search']],
  ['delete from event e using client, only word', ['event', 'client', 'word']],
  ['insert into payment; UPDATE term set a = 1; lock table stock_level', ['payment', 'term', 'stock_level']],
  ['truncate span, public.coded; vacuum (analyze) health_id', ['span', 'coded', 'health_id']],
  ["following({ table: 'blood_unit' })", ['blood_unit']],
  ["for (const each of ['bulk_file']) `delete from $" + '{each}`', ['bulk_file']],
  ["const each = 'bulk_file' // from bulk_job", []],
])('%s names %j', (text, tables) => {
  expect(tablesNamed(text).filter(each => Object.hasOwn(owners.tables, each))).toEqual(tables)
})

/** The functions that migrations leave, each as it was last defined. */
function functionsMade(sql: string): Map<string, string> {
  const functions = new Map<string, string>()
  const made =
    /\bdrop (?:function|procedure) (?:if exists )?(?:public\.)?(\w+)|\bcreate (?:or replace )?(?:function|procedure) (?:public\.)?(\w+)(?:(?!\bcreate\b).)*?(\$\w*\$)(.*?)\3/gis
  for (const [definition, dropped, name] of sql.matchAll(made))
    if (dropped) functions.delete(dropped)
    else functions.set(name!, definition)
  return functions
}

interface Trigger {
  readonly name: string
  readonly table: string
  readonly calls: string
}

const triggersMade = (sql: string): Trigger[] =>
  [
    ...sql.matchAll(
      /\bcreate (?:or replace )?(?:constraint )?trigger (\w+)[^;]*? on (?:public\.)?(\w+)[^;]*? execute (?:function|procedure) (?:public\.)?(\w+)/gi,
    ),
  ].map(([, name, table, calls]) => ({ name: name!, table: table!, calls: calls! }))

/** The tables that a function names, also as types; in one that puts statements together, every word may be a table. */
function tablesIn(definition: string): string[] {
  const types = [...definition.matchAll(/(\w+)%(?:row)?type|\bsetof (\w+)/gi)].map(([, row, set]) => row ?? set!)
  const words = /\bexecute\b/i.test(definition) ? (definition.match(/\w+/g) ?? []) : []
  return [...new Set([...tablesNamed(definition), ...types, ...words])].filter(each =>
    Object.hasOwn(owners.tables, each),
  )
}

/** Where a function names a table of another folder, and why; empty: none does. */
const crossings: Readonly<Record<string, string>> = {}

/** What functions and triggers name that is not their owner's. */
function straysIn(sql: string, { tables, functions }: typeof owners): string[] {
  const named = [...functionsMade(sql)].flatMap(([name, definition]) =>
    tablesIn(definition)
      .filter(table => tables[table] !== functions[name] && crossings[`${name}: ${table}`] === undefined)
      .map(table => `${name} of ${functions[name]}: ${table} belongs to ${tables[table]}`),
  )
  const called = triggersMade(sql)
    .filter(({ table, calls }) => tables[table] !== functions[calls])
    .map(({ name, table, calls }) => `${name} on ${table} of ${tables[table]}: ${calls} belongs to ${functions[calls]}`)
  return [...named, ...called]
}

test('every function in SQL has the folder that owns it', () => {
  const sql = allMigrations()
  expect(Object.keys(owners.functions).sort()).toEqual([...functionsMade(sql).keys()].sort())
  expect(Object.values(owners.functions).filter(folder => floorOf(folder) < 0)).toEqual([])
  const dropped = sql.match(/\bdrop (?:function|procedure)\b/gi) ?? []
  expect(sql.match(/\b(?:function|procedure) \w+\s*\(.*?\) returns\b/gis)).toHaveLength(
    functionsMade(sql).size + dropped.length,
  )
  // What a function puts together is the function's: tablesIn looks at every word of it.
  const written = sql.replace(/\bexecute format\('create [^;]*;/gi, '')
  expect(triggersMade(written)).toHaveLength(written.match(/\bcreate [a-z ]*trigger\b/gi)!.length)
})

test('functions and triggers name tables of their owner only', () => {
  expect(straysIn(allMigrations(), owners)).toEqual([])
})

test('only the folder that owns a function in SQL calls it', () => {
  const strays = files.flatMap(file => {
    const code = withoutComments(readFileSync(join(source, file), 'utf8'))
    return Object.entries(owners.functions)
      .filter(([name, owner]) => owner !== folderOf(file) && new RegExp(`\\b${name}\\b`).test(code))
      .map(([name, owner]) => `${file}: ${name} belongs to ${owner}`)
  })
  expect(strays).toEqual([])
})

test.each([
  ['language sql as $$ select from client $$', ['client']],
  ['language plpgsql as $body$ begin delete from public.person; end $body$', ['person']],
  ["language plpgsql as $$ begin execute format('delete from %I', 'payment'); end $$", ['payment']],
  ['language plpgsql as $$ declare row event%rowtype; begin end $$', ['event']],
  ['returns setof health_id language sql as $$ select 1 $$', ['health_id']],
  ['language sql as $$ select s.key from search s join history h on h.key = s.key $$', []],
])('a function of the store that names another folder’s table is found: %s', (rest, tables) => {
  const functions = { stray: 'store' }
  const found = straysIn(`create or replace function stray() ${rest};`, { tables: owners.tables, functions })
  expect(found).toEqual(tables.map(table => `stray of store: ${table} belongs to ${owners.tables[table]}`))
})

test('a trigger that calls the function of another folder is found', () => {
  const sql = 'create constraint trigger t after insert on payment for each row execute function audit_refuse();'
  expect(straysIn(sql, owners)).toEqual(['t on payment of payments: audit_refuse belongs to audit'])
})

/** http/trail.ts makes the witness of each request. */
const witnessing = ['store/', 'audit/', 'http/trail.ts']

test('locks of the service have numbers of their own, so that none waits for another by mistake', () => {
  const numbers = files.flatMap(file => readFileSync(join(source, file), 'utf8').match(/\b4_215_\d{3}\b/g) ?? [])
  expect(numbers.length).toBeGreaterThan(5)
  expect(numbers.filter((each, at) => numbers.indexOf(each) !== at)).toEqual([])
})

test('no handler tells the audit trail by hand, or silences it: the store records accesses, asOperation operations, asAct what else is done', () => {
  const strays = files.filter(
    file =>
      !witnessing.some(home => file.startsWith(home)) &&
      /\b(?:witness|isInOperation)\b/.test(withoutComments(readFileSync(join(source, file), 'utf8'))),
  )
  expect(strays).toEqual([])
})

test('the name of an exported type stands in fewer than three folders, so that it means one thing', () => {
  const folders = new Map<string, Set<string>>()
  for (const file of files)
    for (const [, name] of readFileSync(join(source, file), 'utf8').matchAll(/^export (?:interface|type) (\w+)/gm))
      folders.set(name!, (folders.get(name!) ?? new Set()).add(dirname(file)))
  expect([...folders].filter(([, places]) => places.size >= 3).map(([name]) => name)).toEqual([])
})
