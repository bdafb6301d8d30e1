// Who counts as one sender, and how many failures one has.
import { describe, expect, test } from 'vitest'
import { createThrottle, senderOf, tried } from '../../src/identity/throttle.ts'

describe('a sender is', () => {
  test.each([
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::FFFF:10.0.0.1', '10.0.0.1'],
    ['::ffff:192.168.100.200', '192.168.100.200'],
    ['1::ffff:10.0.0.1', '1:0:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8::3:4:5:6', '2001:db8:0:0::/64'],
    ['1:2:3::5:6:7:8', '1:2:3:0::/64'],
    ['1::4:5:6:7:8', '1:0:0:4::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('of %s: %s', (address, sender) => expect(senderOf(address)).toBe(sender))
})

/** How many attempts are let through of so many. */
function passed(take: () => void, of: number): number {
  let count = 0
  for (let time = 0; time < of; time++)
    try {
      take()
      count++
    } catch {}
  return count
}

test('a client has ten failures at an address at once, and then one each six seconds', () => {
  let clock = 0
  const attempts = createThrottle(() => clock)('ada', '10.0.0.1')
  expect(passed(attempts.take, 12)).toBe(10)
  expect(attempts.take).toThrow(
    expect.objectContaining({
      code: 'AUTH_THROTTLED',
      options: { retryAfter: 6 },
      message: expect.stringContaining('Retry after 6 s'),
    }),
  )
  clock = 5_999
  expect(passed(attempts.take, 2)).toBe(0)
  clock = 6_000
  expect(passed(attempts.take, 2)).toBe(1)
  clock = 600_000
  expect(passed(attempts.take, 12)).toBe(10)
})

test('an address has a hundred failures, whatever the clients; those of one network share them', () => {
  const throttle = createThrottle(() => 0)
  let client = 0
  const next = (address: string) => () => throttle(`client-${client++}`, address).take()
  expect(passed(next('2001:db8::1'), 60) + passed(next('2001:db8::2'), 60)).toBe(100)
  expect(passed(next('2001:db8:0:1::1'), 1)).toBe(1)
})

test('of an id so much counts as anybody may have, and of senders so many as there is room for', () => {
  const throttle = createThrottle(() => 0)
  const long = 'x'.repeat(200)
  expect(passed(throttle(`${long}a`, '10.0.0.1').take, 12) + passed(throttle(`${long}b`, '10.0.0.1').take, 12)).toBe(10)
  const others = (from: number, to: number): void => {
    for (let at = from; at < to; at++) throttle('ada', `10.0.${at >> 8}.${at}`).count()
  }
  const first = throttle('ada', 'first')
  expect(passed(first.take, 12)).toBe(10)
  // What was no failure takes no room.
  const passing = throttle('ada', 'passing')
  passing.take()
  passing.giveBack()
  others(0, 49_999)
  expect(passed(first.take, 1)).toBe(0)
  others(49_999, 50_000)
  expect(passed(first.take, 1)).toBe(1)
})

test('what was no failure is given back, also if it threw', async () => {
  const attempts = createThrottle(() => 0)('ada', '10.0.0.1')
  for (let time = 0; time < 20; time++) expect(await tried(attempts, async () => 'fine')).toBe('fine')
  const broken = async () => {
    throw new Error('the database is gone')
  }
  for (let time = 0; time < 20; time++) await expect(tried(attempts, broken)).rejects.toThrow('the database is gone')
  for (let time = 0; time < 10; time++) expect(await tried(attempts, async () => undefined)).toBeUndefined()
  await expect(tried(attempts, async () => 'fine')).rejects.toMatchObject({ code: 'AUTH_THROTTLED' })
})
