// The address of a database with several servers, as libpq writes it.
import { expect, test } from 'vitest'
import { postgresAddress } from '../../src/lib/postgres-url.ts'

const hostsOf = (text: string): string[] => postgresAddress(text).hosts.map(({ host, port }) => `${host} ${port}`)

test('one server is left to pg as it stands', () => {
  const text = 'postgres://user:se%2Fcret@db.example.org:6432/health?sslmode=require'
  expect(postgresAddress(text)).toEqual({
    url: text,
    hosts: [{ host: 'db.example.org', port: 6432 }],
    needsPrimary: false,
  })
})

test('several servers share user, password, database and parameters, and have ports of their own', () => {
  const text =
    'postgresql://user:p%40ss,w@one:5433,two,[fd00::7]:5434/health?sslmode=require&target_session_attrs=read-write'
  expect(postgresAddress(text)).toEqual({
    url: 'postgresql://user:p%40ss,w@localhost/health?host=one&port=5433&sslmode=require',
    hosts: [
      { host: 'one', port: 5433 },
      { host: 'two', port: 5432 },
      { host: 'fd00::7', port: 5434 },
    ],
    needsPrimary: true,
  })
})

test.each([
  ['postgresql:///health?host=/run/a,/run/b&port=5433,5434', ['/run/a 5433', '/run/b 5434']],
  ['postgresql:///health?host=one,two&port=6432', ['one 6432', 'two 6432']],
  ['postgresql://%2Frun%2Fpostgresql,two/health', ['/run/postgresql 5432', 'two 5432']],
  ['postgresql://user@,two/health', ['localhost 5432', 'two 5432']],
])('the servers of %s', (text, hosts) => {
  expect(hostsOf(text)).toEqual(hosts)
})

test.each(['primary', 'read-write'])('one server with target_session_attrs=%s is asked what it is', attributes => {
  expect(postgresAddress(`postgresql://one/health?target_session_attrs=${attributes}`).needsPrimary).toBe(true)
})

test.each([
  ['postgresql://u:geheim@one,two/d?target_session_attrs=any', 'target_session_attrs=primary'],
  ['postgresql://u:geheim@one/d?target_session_attrs=standby', 'the service writes'],
  ['postgresql://u:geheim@one:70000,two/d', 'host 1'],
  ['postgresql://u:geheim@one,two:x/d', 'host 2'],
  ['postgresql://u:geheim@one,fd00::7/d', 'IPv6 address without brackets'],
  ['postgresql://u:geheim@one,one:5432/d', 'no host is named twice'],
  ['postgresql://u:geheim@one,two/d?host=three', 'in one place'],
  ['postgresql://u:geheim@/d?host=one,two,three&port=1,2', 'one for each host (3, not 2)'],
  ['postgresql://u:geheim@one%zz,two/d', '%'],
  ['mysql://u:geheim@one/d', 'postgres://'],
])('%s is refused, with the reason and without the password', (text, reason) => {
  const address = () => postgresAddress(text)
  expect(address).toThrow(reason)
  expect(address).not.toThrow(/geheim/)
})
