// Bridge agents and their keys, as an administrator makes, changes and ends them.
import { beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { createAgent, findAgent, listAgents, revokeAgent, rotateKey } from '../../src/identity/agents.ts'
import { openTestDatabase } from '../support/database.ts'

let database: Database
beforeAll(async () => {
  database = await openTestDatabase()
})

const created = (name: string) =>
  createAgent(database, { name, facilityId: `facility-of-${name}`, organizationId: `organisation-of-${name}` })

test('an agent is who its id and its key prove', async () => {
  const [one, other] = [await created('one'), await created('other')]
  expect(one.agent).toEqual({
    ...{ id: expect.stringMatching(/^agt_[A-Za-z0-9]{20}$/), name: 'one', facilityId: 'facility-of-one' },
    organizationId: 'organisation-of-one',
    ...{ createdAt: expect.any(Date), rotatedAt: undefined, revokedAt: undefined },
  })
  expect(one.key).toMatch(/^bak_[A-Za-z0-9]{30,}$/)
  expect(await findAgent(database, one.agent.id, one.key)).toEqual(one.agent)
  for (const [id, key] of [
    [one.agent.id, other.key],
    [one.agent.id, ''],
    ['agt_nobody', one.key],
    [`${one.agent.id} `, one.key],
    [` ${one.agent.id}`, one.key],
    ['', one.key],
  ] as const)
    expect(await findAgent(database, id, key), id).toBeUndefined()
  expect((await listAgents(database)).map(({ name }) => name)).toEqual(['one', 'other'])
})

test('nobody is looked for whose id cannot be one', async () => {
  const asked: unknown[] = []
  const on = {
    query: async ({ values }: { values: unknown }) => {
      asked.push(values)
      return []
    },
  }
  const ids = ['x'.repeat(100), 'x'.repeat(101), 'agt x', 'agt\n', 'é', '']
  for (const id of ids) await findAgent(on as never, id, 'key')
  expect(asked).toEqual([['x'.repeat(100)]])
})

test('a new key works at once, the one before it for the overlap, and none before that', async () => {
  const { agent, key: first } = await created('turning')
  const second = await rotateKey(database, agent.id, 3600)
  const works = async (key: string) => (await findAgent(database, agent.id, key)) !== undefined
  expect([await works(first), await works(second)]).toEqual([true, true])
  const third = await rotateKey(database, agent.id, 3600)
  expect([await works(first), await works(second), await works(third)]).toEqual([false, true, true])
  const fourth = await rotateKey(database, agent.id, 0)
  expect([await works(third), await works(fourth)]).toEqual([false, true])
  expect((await findAgent(database, agent.id, fourth))!.rotatedAt).toEqual(expect.any(Date))
})

test('an agent that is revoked is so for good, and has no new key', async () => {
  const { agent, key } = await created('ended')
  await revokeAgent(database, agent.id)
  expect(await findAgent(database, agent.id, key)).toBeUndefined()
  const [at] = (await listAgents(database)).filter(({ id }) => id === agent.id).map(({ revokedAt }) => revokedAt)
  await revokeAgent(database, agent.id)
  expect((await listAgents(database)).find(({ id }) => id === agent.id)!.revokedAt).toEqual(at)
  await expect(rotateKey(database, agent.id, 0)).rejects.toMatchObject({
    ...{ code: 'NOT_FOUND', message: `There is no active agent ${agent.id}.` },
  })
})

test('what names no agent is told by its first hundred characters', async () => {
  const long = 'x'.repeat(200)
  await expect(revokeAgent(database, long)).rejects.toMatchObject({
    ...{ code: 'NOT_FOUND', message: `There is no agent ${'x'.repeat(100)}.` },
  })
  await expect(rotateKey(database, long, 0)).rejects.toMatchObject({
    ...{ code: 'NOT_FOUND', message: `There is no active agent ${'x'.repeat(100)}.` },
  })
})
