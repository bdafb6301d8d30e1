// What PostgreSQL answers is read as pg reads it: every kind of value, texts of every length, in whatever pieces it arrives.
import { readFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { Memory } from '../../src/lib/blocks.ts'
import { StoredText } from '../../src/lib/stored-text.ts'
import { certificate } from '../bridge/support/certificate.ts'
import { onCleanup } from '../support/cleanup.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let connection: TestDatabase
let database: Database
let other: pg.Client

const options = { poolSize: 4, statementTimeout: 60_000 }

beforeAll(async () => {
  connection = await createTestDatabase()
  database = openDatabase(connection, options)
  other = new pg.Client({ ...connection })
  other.setTypeParser(pg.types.builtins.INT8, Number)
  await other.connect()
})

afterAll(async () => {
  await database.end()
  await other.end()
})

/** The rows as this project reads them, and as pg does. */
async function both(text: string, values: readonly unknown[] = [], name?: string) {
  const statement = { text, values, ...(name && { name }) }
  return { ours: await database.query(statement), theirs: (await other.query(text, [...values])).rows }
}

describe('rows', () => {
  test('have numbers, texts, dates, arrays, bytes and JSON as pg reads them', async () => {
    const { ours, theirs } =
      await both(`select 0::int8 as zero, -7::int8 as negative, 9007199254740991::int8 as largest,
      -999999999999999::int8 as fifteen, 9223372036854775807::int8 as beyond, 32767::int2 as small, (-2147483648)::int4 as least,
      1.5::float8 as ratio, 12345678901234567890.5::numeric as exact, true as yes, 'été' as accents, '' as nothing, null::text as missing,
      null::int8 as none, array[1, 2]::int8[] as numbers, array['a', null, 'b,"c'] as texts, decode('00ff', 'hex') as bytes,
      '{"a": [1, "é"]}'::jsonb as json, timestamptz '2026-11-28 20:15:00.123+01' as time, date '2026-11-28' as day,
      'b2f7a3c0-0000-4000-8000-000000000001'::uuid as uuid, 'x'::name as name, 'infinity'::float8 as endless`)
    expect(ours).toEqual(theirs)
    expect(Object.keys(ours[0]!)).toEqual(Object.keys(theirs[0]))
  })

  test('have the texts of every length, with and without other characters than ASCII', async () => {
    const text = `select n, repeat('a', n) as plain, case n % 3 when 0 then repeat('é', n) when 1 then repeat('🏥', n) end as other,
        n || repeat('z', 300) as last
      from unnest($1::int[]) as given(n)`
    const lengths = [
      ...Array(40).keys(),
      199,
      200,
      201,
      255,
      256,
      1000,
      1001,
      1002,
      63_999,
      64_000,
      64_001,
      65_531,
      65_536,
      200_000,
    ]
    const { ours, theirs } = await both(text, [lengths])
    expect(ours).toEqual(theirs)
  })

  test('are whole however their messages lie in what arrives', async () => {
    for (const length of [1, 150, 210, 4090, 16_380, 65_500]) {
      const text = `select n, repeat('x', $1 + n % 11) as body, case when n % 7 = 0 then repeat('ü', 300) end as name from generate_series(1, $2) as n`
      const { ours, theirs } = await both(text, [length, Math.ceil(1_000_000 / length / 4)], 'lying')
      expect(ours).toEqual(theirs)
    }
  })

  test('can be of one text of many megabytes, and are small again after it', async () => {
    const [large] = await database.query<{ text: string }>({
      text: `select repeat('ab', $1) as text`,
      values: [10_000_000],
    })
    expect(large!.text.length).toBe(20_000_000)
    expect(large!.text.endsWith('ab')).toBe(true)
    expect(await database.query({ text: 'select 1 as one', values: [] })).toEqual([{ one: 1 }])
  })

  test('can have no columns, and an answer no rows', async () => {
    expect(await database.query({ text: 'select from generate_series(1, 3) where $1', values: [true] })).toEqual([
      {},
      {},
      {},
    ])
    expect(await database.query({ text: 'select 1 as one where $1', values: [false] })).toEqual([])
  })

  test('belong to their own statements, when many are under way on one connection', async () => {
    const ask = (number: number) =>
      database.query<{ number: number; text: string }>({
        name: number % 2 ? 'odd' : 'even',
        text:
          number % 2
            ? 'select $1::int8 as number, repeat($2, 500) as text'
            : 'select repeat($2, 500) as text, $1::int8 as number',
        values: [number, String(number % 10)],
      })
    const answers = await Promise.all(Array.from({ length: 400 }, (_, number) => ask(number)))
    expect(answers.flat()).toEqual(answers.map((_, number) => ({ number, text: String(number % 10).repeat(500) })))
  })

  test('keep long bodies as bytes where a statement gives them memory, and none is read once it is given back', async () => {
    const memory = new Memory()
    const statement = {
      text: `select n, n || repeat(case n % 3 when 0 then 'é' else 'b' end, n) as body, repeat('c', n) as other
        from unnest($1::int[]) as given(n)`,
      values: [[1, 199, 300, 40_000, 30_000, 70_000, 500]],
    }
    interface Row {
      readonly n: number
      readonly body: string | StoredText
      readonly other: string
    }
    const [kept, texts] = await Promise.all([
      database.query<Row>({ ...statement, memory }),
      database.query<Row>(statement),
    ])
    expect(kept.map(row => ({ ...row, body: String(row.body) }))).toEqual(texts)
    const bytes = kept.filter(({ body }) => body instanceof StoredText)
    expect(bytes.map(({ n }) => n)).toEqual([199, 300, 40_000, 30_000, 500])
    memory.giveBack()
    for (const { body } of bytes) expect(() => body.slice(0, 1)).toThrow('given back')
    await expect(database.query({ ...statement, memory })).rejects.toThrow('given back')
  })

  test('with a value that cannot be read fail their statement alone', async () => {
    const point = 600
    const fails = () => {
      throw new Error('no point')
    }
    pg.types.setTypeParser(point as never, fails)
    const asked = [`select point '(1, 2)' as at`, 'select 2 as two'].map(text => database.query({ text, values: [] }))
    await expect(asked[0]).rejects.toThrow('no point')
    expect(await asked[1]).toEqual([{ two: 2 }])
  })
})

describe('values', () => {
  test('arrive as pg sends them', async () => {
    const day = new Date('2026-11-28T20:15:00.123Z')
    const values = ['été "quoted" \\', 42, -1.5, 9007199254740993n, true, null, undefined, Buffer.from([0, 1, 255]), '']
    const text = `select $1::text as text, $2::int as number, $3::float8 as ratio, $4::int8::text as large, $5::bool as yes, $6::text as none,
      $7::text as missing, $8::bytea as bytes, $9::text as empty`
    const { ours, theirs } = await both(text, values, 'values')
    expect(ours).toEqual(theirs)
    const converted = await both('select $1::timestamptz as time, $2::text[] as texts, $3::jsonb as json', [
      day,
      ['a', null, 'ü'],
      { a: [1] },
    ])
    expect(converted.ours).toEqual(converted.theirs)
    expect(converted.ours).toEqual([{ time: day, texts: ['a', null, 'ü'], json: { a: [1] } }])
  })

  test('of any length arrive whole', async () => {
    for (const length of [0, 1, 1000, 70_000, 3_000_000]) {
      const text = 'é'.repeat(length)
      expect(
        await database.query({
          text: 'select $1::text as text, $2::bytea as bytes',
          values: [text, Buffer.from(text)],
        }),
      ).toEqual([{ text, bytes: Buffer.from(text) }])
    }
  })

  test('can be sixty thousand', async () => {
    const values = Array.from({ length: 60_000 }, (_, index) => index)
    const text = `select cardinality(array[${values.map(value => `$${value + 1}::int`).join()}]) as number, $60000::int as last`
    expect(await database.query({ text, values })).toEqual([{ number: 60_000, last: 59_999 }])
  })
})

test.each([
  ['HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ['messages without a length', Buffer.from([0x52, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])],
  ['messages shorter than their length', Buffer.from([0x52, 0, 0, 0, 0, 0, 0, 0, 0])],
])('a server that speaks %s is out of reach, and does no harm', async (_, spoken) => {
  const port = await listening(socket => socket.end(spoken))
  const odd = openDatabase({ ...connection, host: '127.0.0.1', port }, options)
  await expect(odd.query({ text: 'select 1', values: [] })).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await odd.end()
})

describe('a prepared statement', () => {
  test('has one text under its name', async () => {
    const prepare = (text: string) => database.query({ name: 'taken', text, values: [] })
    expect(await prepare('select 1 as one')).toEqual([{ one: 1 }])
    await expect(prepare('select 2 as two')).rejects.toThrow('taken')
    expect(await prepare('select 1 as one')).toEqual([{ one: 1 }])
  })

  test('that fails once can be asked again', async () => {
    const ask = (number: unknown) =>
      database.query({ name: 'tenth', text: 'select 10 / $1::int as tenth', values: [number] })
    await expect(ask(0)).rejects.toThrow('division by zero')
    await expect(ask('no number')).rejects.toThrow('invalid input syntax')
    expect(await ask(5)).toEqual([{ tenth: 2 }])
  })
})

test('an encrypted connection reads the same', async () => {
  const { certificate_file: cert, key_file: key } = certificate(await temporaryFolder('encrypted'))
  const port = await encrypting({ cert: readFileSync(cert), key: readFileSync(key) })
  const url = `postgres://${connection.user}@127.0.0.1:${port}/${connection.database}?sslmode=require&uselibpqcompat=true`
  const encrypted = openDatabase(url, options)
  const text = `select n, repeat('x', 900) as body, repeat('ü', n % 300) as name from generate_series(1, $1) as n`
  const statement = { text, values: [1000] }
  expect(await encrypted.query(statement)).toEqual(await database.query(statement))
  await encrypted.end()
})

/** Listens for encrypted connections and passes what they say to PostgreSQL. @returns the port */
const encrypting = (by: { readonly cert: Buffer; readonly key: Buffer }): Promise<number> =>
  listening(plain => {
    plain.once('data', () => {
      plain.write('S')
      const near = new TLSSocket(plain, { isServer: true, ...by })
      const { host, port } = connection
      const far = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
      for (const socket of [near, far, plain]) socket.on('error', () => {})
      near.pipe(far).pipe(near)
    })
  })

/** Listens for connections, until the end of this file's tests. @returns the port */
function listening(connected: (socket: Socket) => void): Promise<number> {
  const server = createServer(connected)
  onCleanup(async () => void server.close())
  return new Promise(done => {
    server.listen(0, '127.0.0.1', () => done((server.address() as { port: number }).port))
  })
}
