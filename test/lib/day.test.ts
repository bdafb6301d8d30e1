// Where days begin, by the clocks of a place.
import { expect, test } from 'vitest'
import { dayIn, isTimeZone, startOfDay } from '../../src/lib/day.ts'

test.each([
  ['UTC', '2026-03-14', '2026-03-14T00:00:00.000Z'],
  ['Africa/Douala', '2026-03-14', '2026-03-13T23:00:00.000Z'],
  ['Asia/Kathmandu', '2026-03-14', '2026-03-13T18:15:00.000Z'],
  ['America/New_York', '2026-03-08', '2026-03-08T05:00:00.000Z'],
  ['America/New_York', '2026-03-09', '2026-03-09T04:00:00.000Z'],
  ['Europe/Paris', '2026-10-25', '2026-10-24T22:00:00.000Z'],
  ['Europe/Paris', '2026-10-26', '2026-10-25T23:00:00.000Z'],
  ['Pacific/Kiritimati', '2026-01-01', '2025-12-31T10:00:00.000Z'],
])('in %s, %s begins at %s', (timeZone, day, begins) => {
  const at = startOfDay(timeZone, day)
  expect(at.toISOString()).toBe(begins)
  expect([dayIn(timeZone, at), dayIn(timeZone, new Date(at.getTime() - 1)) < day]).toEqual([day, true])
})

test('a time zone is a name of IANA, also an older one, and no offset', () => {
  const known = ['Africa/Douala', 'Europe/Berlin', 'UTC', 'Asia/Kolkata', 'Asia/Calcutta']
  expect(known.filter(name => !isTimeZone(name))).toEqual([])
  const unknown = ['', 'Africa/Doula', '+01:00', 'Etc/', '../UTC']
  expect(unknown.filter(isTimeZone)).toEqual([])
})
