// What resolve refuses: said field by field, always in the Error shape, and nothing is stored of it.
import { beforeAll, describe, expect, test } from 'vitest'
import { rounds } from '../../support/rounds.ts'
import { type Service, startService } from '../../support/service.ts'
import { connectCaller, patientsOf } from './support.ts'

let service: Service
const { resolve } = connectCaller(() => service)
const person = { first_name: 'Ada', last_name: 'Eze', date_of_birth: '1990-01-31' }

beforeAll(async () => {
  service = await startService()
})

describe('refused with the field, its kind and what to do', () => {
  test.each([
    [{}, ['first_name required', 'last_name required', 'date_of_birth required']],
    [{ first_name: 'Ada' }, ['last_name required', 'date_of_birth required']],
    [{ ...person, date_of_birth: '2023-02-29' }, ['date_of_birth format']],
    [{ ...person, date_of_birth: '31/01/1990' }, ['date_of_birth format']],
    [{ ...person, date_of_birth: '2999-01-01' }, ['date_of_birth future']],
    [{ ...person, date_of_birth: '1879-12-31' }, ['date_of_birth minimum']],
    [{ ...person, country_code: 'XX' }, ['country_code value']],
    [{ ...person, country_code: 'CMR' }, ['country_code maxLength']],
    [{ ...person, sex: 'f' }, ['sex enum']],
    [{ ...person, first_name: '   ' }, ['first_name minLength']],
    [{ ...person, first_name: '12345' }, ['first_name pattern']],
    [{ ...person, last_name: 'A\u0000B' }, ['last_name pattern']],
    [{ ...person, last_name: `A${'\ud800'}` }, ['last_name pattern']],
    [{ ...person, first_name: 'x'.repeat(201) }, ['first_name maxLength']],
    [{ ...person, phone_number: 'none' }, ['phone_number pattern']],
    [{ ...person, middle_name: 'B' }, ['middle_name unknown']],
    [{ ...person, first_name: ['Ada'] }, ['first_name type']],
    [{ ...person, external_reference: '' }, ['external_reference minLength']],
  ])('%j', async (body, expected) => {
    const answer = await resolve(body)
    expect([answer.status, answer.body.error_code]).toEqual([422, 'VALIDATION_FAILED'])
    expect(answer.body.details.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`)).toEqual(
      expected,
    )
  })

  test('a child of today is not in the future, wherever the day has begun', async () => {
    const today = new Date().toISOString().slice(0, 10)
    expect((await resolve({ ...person, first_name: 'Neonata', date_of_birth: today })).status).toBe(201)
  })
})

/** Numbers that look like chance and are the same in every run. */
function dice(seed: number): (below: number) => number {
  let state = seed
  return below => Math.floor(((state = (state * 48_271) % 2_147_483_647) / 2_147_483_647) * below)
}

const pieces = [
  '',
  ' ',
  'Ada',
  '٣',
  '李',
  "O'",
  '-',
  '\u0000',
  '\u202e',
  '\ud83d',
  '💉',
  'é',
  '%',
  '{',
  '\n',
  '0',
  'Ａ',
  '$1',
  "';--",
]
const whole: unknown[] = [null, true, 0, -1, 1e300, [], {}, ['x'], { a: 1 }, '1990-13-01', '0000-00-00', '1990-02-30']
const fields = [
  ...Object.keys(person),
  'health_id',
  'sex',
  'country_code',
  'phone_number',
  'purpose',
  'external_reference',
]

/** A body in which something is wrong: at least one field is none of what it may be, or is not known. */
function badBody(seed: number): unknown {
  const roll = dice(seed + 1)
  const text = (): string => Array.from({ length: roll(6) }, () => pieces[roll(pieces.length)]).join('')
  const body: Record<string, unknown> = roll(2) === 0 ? { ...person } : {}
  for (let changes = roll(4); changes >= 0; changes--)
    body[fields[roll(fields.length)]!] = roll(3) === 0 ? whole[roll(whole.length)] : text()
  const [kind, name] = [roll(4), fields[roll(fields.length)]!]
  if (kind === 0) return [whole[roll(whole.length)]]
  if (kind === 1) return { ...body, [`${text()}?`]: 1 }
  if (kind === 2) return { ...body, [name]: whole[roll(9)] }
  return { ...body, date_of_birth: whole[9 + roll(3)] }
}

test('whatever is sent, what is wrong is refused in the Error shape, and nobody is registered', async () => {
  const before = (await patientsOf(service)).length
  for (let seed = 0; seed < rounds(100, 400); seed++) {
    const body = badBody(seed)
    const answer = await resolve(body)
    expect([400, 422], `${JSON.stringify(body)}: ${answer.text}`).toContain(answer.status)
    expect(answer.body).toMatchObject({
      status: 'error',
      error_code: expect.stringMatching(/^(VALIDATION_FAILED|INVALID_HEALTH_ID|MALFORMED_REQUEST)$/),
      message: expect.any(String),
      request_id: expect.any(String),
      details: expect.any(Array),
    })
  }
  for (const text of ['', '{', 'null', '"x"', '[]', `{"health_id":"${'9'.repeat(5000)}"}`, `"${'x'.repeat(40_000)}"`]) {
    const answer = await resolve(text)
    expect([400, 413, 422], text.slice(0, 40)).toContain(answer.status)
    expect(answer.body.status).toBe('error')
  }
  expect(await patientsOf(service)).toHaveLength(before)
})
