// The scripted server keeps to its own description, so that the client libraries are tested against what is written.
import { expect, test } from 'vitest'
import { onCleanup } from '../support/cleanup.ts'
import { startScriptedServer } from './support/scripted-server.ts'

const server = await startScriptedServer()
onCleanup(() => server.close())

/** Opens a scenario, or a script, and gives its address and what it received. */
async function open(script: string | object): Promise<{ url: string; received: () => Promise<{ path: string }[]> }> {
  const [path, body] = typeof script === 'string' ? [`scenarios/${script}`] : ['scripts', JSON.stringify(script)]
  const opened = await fetch(`${server.url}/${path}`, { method: 'POST', body })
  expect(opened.status).toBe(201)
  const { url, received } = (await opened.json()) as { url: string; received: string }
  return { url, received: async () => (await (await fetch(received)).json()) as { path: string }[] }
}

const tokenOf = async (url: string): Promise<string> => {
  const reply = await fetch(`${url}/api/v1/connect/auth/token`, { method: 'POST', body: '{}' })
  return ((await reply.json()) as { access_token: string }).access_token
}

test('replies come in order, the last one repeats, and what came is kept', async () => {
  const { url, received } = await open('unavailable')
  expect(await tokenOf(url)).toBe('token-1')
  expect(await tokenOf(url)).toBe('token-2')
  const statuses = []
  for (let call = 0; call < 3; call++) statuses.push((await fetch(`${url}/x?call=${call}`)).status)
  expect(statuses).toEqual([503, 200, 200])
  expect((await received()).map(({ path }) => path).slice(2)).toEqual(['/x', '/x', '/x'])
  expect((await received())[3]).toMatchObject({ method: 'GET', path: '/x', query: 'call=1', body: '' })
})

test('a scenario of its own tokens gives them first', async () => {
  const { url } = await open('token-unavailable')
  expect((await fetch(`${url}/api/v1/connect/auth/token`, { method: 'POST' })).status).toBe(503)
  expect(await tokenOf(url)).toBe('token-1')
})

test('a reply may follow from the token', async () => {
  const { url } = await open('expired-burst')
  const statuses = ['token-1', 'token-2'].map(
    async token => (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status,
  )
  expect(await Promise.all(statuses)).toEqual([401, 200])
})

test.each(['reset', 'reset-in-body'])('%s breaks the connection', async action => {
  const { url } = await open({ replies: [{ action }] })
  await expect(fetch(url).then(reply => reply.text())).rejects.toThrow()
})

test.each(['silent', 'stall'])('%s keeps a client waiting', async action => {
  const { url } = await open({ replies: [{ action }] })
  const signal = AbortSignal.timeout(100)
  await expect(fetch(url, { signal }).then(reply => reply.text())).rejects.toThrow('aborted due to timeout')
})

test('an unknown scenario is told', async () => {
  expect((await fetch(`${server.url}/scenarios/nothing`, { method: 'POST' })).status).toBe(404)
})
