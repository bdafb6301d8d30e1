// The servers that tests of failover and of read replicas start: that they do what those tests take for granted.
import { beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startPrimary, startStandby } from '../support/standby.ts'

let [one, two] = [] as unknown as [PostgresServer, PostgresServer]

beforeAll(async () => {
  one = await startPrimary()
  two = await startStandby(one)
  await one.query('create table kept (number int)')
})

const numbers = async (server: PostgresServer): Promise<unknown[]> =>
  (await server.query('select number from kept order by number')).map(row => row['number'])

test('a standby shows what the primary has written, and what is paused only later', async () => {
  await one.query('insert into kept values (1)')
  await two.catchUp(one)
  expect(await numbers(two)).toEqual([1])
  await expect(two.query('insert into kept values (0)')).rejects.toMatchObject({ code: '25006' })
  await two.pauseReplay()
  await one.query('insert into kept values (2)')
  expect(await numbers(two)).toEqual([1])
  await two.resumeReplay()
  await two.catchUp(one)
  expect(await numbers(two)).toEqual([1, 2])
})

test('a primary that is killed is replaced by its standby, and returns as the standby of that one', async () => {
  await one.set('synchronous_standby_names', 'two')
  await one.query('insert into kept values (3)')
  await one.kill()
  await expect(one.query('select')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  await two.promote()
  await two.query('insert into kept values (4)')
  await one.follow(two)
  await one.catchUp(two)
  expect(await numbers(one)).toEqual([1, 2, 3, 4])
})

test('a server that is frozen answers once it is thawed', async () => {
  await two.freeze()
  const asked = numbers(two)
  expect(await Promise.race([asked, numbers(one)])).toEqual([1, 2, 3, 4])
  two.thaw()
  expect(await asked).toEqual([1, 2, 3, 4])
})
