// Migrations are sent one command at a time: their text is split where PostgreSQL would end a command, and nowhere else.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandsOf } from '../../src/db/commands.ts'
import { openTestDatabase } from '../support/database.ts'

const sample = String.raw`-- Sheep; and what they are called.
create table sheep (
  name text not null default 'a;b''c;', -- one; two
  "odd;""name" integer
);
/* a comment; /* within; one */ still; */ insert into sheep (name) values (E'it\'s'';\\'), ('\');
create function named(of text) returns text language sql as $$ select $1; select 'x;$'; $$;
create function counted() returns bigint language plpgsql as $body$
begin
  return (select count(*) from sheep where name <> $$;$$);
end $body$;
create function sized(name text) returns text language sql begin atomic
  select case when length(name) > 3 then 'long;' else case when name = '' then '' else 'short' end end;
  select name;
end;
create table begin_at (a$b text, "end" integer, atomic_case text);
;
 -- nothing; more

insert into begin_at (a$b) values ($$a;$$)`

test('a text is split after each command, and not within strings, names, comments and functions', () => {
  const commands = commandsOf(sample)
  expect(commands.map(each => each.replace(/^(\/\*.*\*\/ |--.*\n|\s)+/, '').slice(0, 24))).toEqual([
    'create table sheep (\n  n',
    'insert into sheep (name)',
    'create function named(of',
    'create function counted(',
    'create function sized(na',
    'create table begin_at (a',
    'insert into begin_at (a$',
  ])
})

test('PostgreSQL takes each command in a message of its own, and they do what the whole text does', async () => {
  const database = await openTestDatabase()
  const looked = await database.transaction(async on => {
    // With a name, a statement is prepared, and PostgreSQL prepares one command only.
    for (const [index, text] of commandsOf(sample).entries())
      await on.query({ name: `command-${index}`, text, values: [] })
    return on.query({
      text: `select array(select name from sheep order by name) as names, named('x') as named, counted(), sized('dolly'),
        (select a$b from begin_at) as begun`,
      values: [],
    })
  })
  expect(looked).toEqual([{ names: ['\\', "it's';\\"], named: 'x;$', counted: 2, sized: 'dolly', begun: 'a;' }])
})

test('a string, name, comment or body without an end is refused', () => {
  for (const text of [
    "select 'a;",
    'select "a',
    '/* a /* b */',
    'select $x$ a $y$;',
    'select (1',
    'begin atomic select 1;',
  ])
    expect(() => commandsOf(text)).toThrow(/does not end/)
})

test('every migration is sent as commands without a semicolon outside of strings and bodies', () => {
  const folder = join(import.meta.dirname, '../../src/db/migrations')
  const texts = readdirSync(folder).filter(name => name.endsWith('.sql'))
  const commands = texts.flatMap(name => commandsOf(readFileSync(join(folder, name), 'utf8')))
  expect(commands.length).toBeGreaterThan(200)
  const words =
    /^(?:\s|--[^\n]*\n)*(create|alter|drop|insert|update|delete|select|analyze|comment|do|grant|revoke|with|truncate|set)\b/i
  expect(commands.filter(each => !words.test(each))).toEqual([])
})
