// docs/sdk.md: the calls of one row are the same request, whether curl or a library makes them.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { ServiceClient } from '../../clients/typescript/src/client.ts'
import { onCleanup } from '../support/cleanup.ts'
import { findPython, pythonLibrary } from './support/python.ts'
import { startScriptedServer } from './support/scripted-server.ts'
import { clientOf, contract } from './support/typescript.ts'

const text = readFileSync(resolve(import.meta.dirname, '../../docs/sdk.md'), 'utf8')
const healthId = 'CM-TQYE-6SRK-YQ6S'
const run = promisify(execFile)

const server = await startScriptedServer()
onCleanup(() => server.close())

const section = (title: string): string => text.split(/^## /m).find(each => each.startsWith(title)) ?? ''

/** The rows of the table of calls: the task, and the call of each column. */
const [heads = [], , ...rows] = [...section('The same calls').matchAll(/^\|(.*)\|$/gm)].map(([, row]) =>
  row!.split('|').map(cell => cell.trim()),
)

/** The code of a cell. */
const codeIn = (row: readonly string[], column: string): string => row[heads.indexOf(column)]!.slice(1, -1)

interface Opened {
  readonly url: string
  readonly received: string
}

async function open(): Promise<Opened> {
  const body = '{"replies":[{"status":200,"body":{}}]}'
  return (await (await fetch(`${server.url}/scripts`, { method: 'POST', body })).json()) as Opened
}

/** The requests, but those for a token, that come while this is done. */
async function requestsOf(work: (url: string) => Promise<unknown>): Promise<unknown[]> {
  const opened = await open()
  await work(opened.url)
  return requestsAt(opened)
}

async function requestsAt({ received }: Opened): Promise<unknown[]> {
  const requests = (await (await fetch(received)).json()) as Record<'method' | 'path' | 'query' | 'body', string>[]
  const calls = requests.filter(({ path }) => !path.endsWith('/auth/token'))
  return calls.map(({ method, path, query, body }) => ({ method, path, query, body: body && JSON.parse(body) }))
}

function curl(row: readonly string[], url: string): Promise<unknown> {
  const env = { ...process.env, API: `${url}/api`, AUTH: 'Authorization: Bearer x', HEALTH_ID: healthId }
  return run('sh', ['-c', codeIn(row, 'curl').replace('curl', 'curl -s')], { env })
}

const typescript = (code: string, client: ServiceClient): Promise<unknown> =>
  new Function('client', 'HEALTH_ID', `return ${code}`)(client, healthId)

describe('the same calls', () => {
  test('are those of the table', () => {
    expect(heads.slice(0, 4)).toEqual(['to', 'curl', 'TypeScript', 'Python'])
    expect(rows.length).toBeGreaterThan(15)
  })

  test('of Python are those of curl', async ({ skip }) => {
    const python = await findPython()
    skip(python === undefined && !process.env['CI'], 'there is no Python 3.9')
    const calls = await Promise.all(rows.map(async row => ({ code: codeIn(row, 'Python'), opened: await open() })))
    const given = JSON.stringify(calls.map(({ code, opened }) => ({ code, url: opened.url })))
    const env = { ...process.env, PYTHONPATH: 'src', CALLS: given, HEALTH_ID: healthId }
    await run(python!, ['-m', 'tests.calls'], { cwd: pythonLibrary, env })
    const byCurl = await Promise.all(rows.map(row => requestsOf(url => curl(row, url))))
    expect(await Promise.all(calls.map(({ opened }) => requestsAt(opened)))).toEqual(byCurl)
  })

  test.for(rows)('%s', async row => {
    const byCurl = await requestsOf(url => curl(row, url))
    expect(byCurl.length).toBe(1)
    expect(await requestsOf(async url => typescript(codeIn(row, 'TypeScript'), await clientOf(url)))).toEqual(byCurl)
  })
})

test('the table of errors names all of the contract', () => {
  const named = [...section('Errors').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name!)
  expect(named.toSorted()).toEqual(contract.errors.classes.map(({ name }) => name).toSorted())
})
