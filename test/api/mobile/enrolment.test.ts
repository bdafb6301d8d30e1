// A telephone is enrolled with a one-time code and holds a token from then on; whatever else is tried comes to nothing.
import { beforeAll, describe, expect, test } from 'vitest'
import { issueCode } from '../../../src/identity/enrolment.ts'
import { mint } from '../../../src/lib/health-id.ts'
import { type Answer, type Process, post, startProcess, useToken } from '../../support/identity.ts'

let service: Process
/** Those that nobody answers for any more, and one that its patient had before being merged into another. */
const [former, current] = [mint('CM'), mint('CM')]
const gone = new Set<string>()
beforeAll(async () => {
  service = await startProcess({
    async holderOf(healthId) {
      if (gone.has(healthId)) return undefined
      const now = healthId === former ? current : healthId
      return { patient: now.toLowerCase(), current: now, isMerged: false }
    },
  })
})

/** A patient of his own for one test, with a code. */
async function patient(): Promise<{ healthId: string; code: string }> {
  const healthId = mint('CM')
  return { healthId, code: await codeFor(healthId) }
}

const codeFor = async (healthId: string): Promise<string> =>
  (await issueCode(service.database, healthId.toLowerCase(), service.now())).code

const enrol = (healthId: string, code: string): Promise<Answer> =>
  post(service, '/api/v1/mobile/enrol', { health_id: healthId, code })

const revoke = (token: string): Promise<Answer> =>
  post(service, '/api/v1/mobile/revoke', '', { authorization: `Bearer ${token}` })

const day = 86_400
const wrongCode = '0000-0000-0000'

describe('a code', () => {
  test('gives a token of 180 days, of which only a hash is kept, as of the code', async () => {
    const { healthId, code } = await patient()
    expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}$/)
    const { status, body, headers } = await enrol(healthId, code)
    expect({ status, ...body }).toEqual({
      status: 201,
      token: expect.stringMatching(/^pat_[0-9A-Za-z]{43}$/),
      token_type: 'Bearer',
      expires_at: new Date(service.now() + 180 * day * 1000).toISOString(),
      health_id: healthId,
    })
    expect(headers.get('cache-control')).toBe('no-store')
    const rows = await service.database.query<{ row: string }>({
      text: 'select to_jsonb(t)::text as row from patient_token t where health_id = $1',
      values: [healthId],
    })
    expect(rows).toHaveLength(1)
    expect(rows[0]!.row).not.toContain(body.token.slice(4))
  })

  test('may be typed in small letters, without dashes, with O for 0; so may the Health ID', async () => {
    const { healthId, code } = await patient()
    const sloppy = (text: string) => ` ${text.replaceAll('-', '').toLowerCase()} `
    const answer = await enrol(sloppy(healthId), sloppy(code).replaceAll('0', 'o').replaceAll('1', 'l'))
    expect(answer.status).toBe(201)
    expect(answer.body.health_id).toBe(healthId)
  })

  test('works once, also for two who send it at the same time', async () => {
    const { healthId, code } = await patient()
    const answers = await Promise.all([enrol(healthId, code), enrol(healthId, code)])
    expect(answers.map(each => each.status).sort()).toEqual([201, 401])
    expect((await enrol(healthId, code)).status).toBe(401)
  })

  test('ends when a new one is made', async () => {
    const { healthId, code } = await patient()
    const second = await codeFor(healthId)
    expect((await enrol(healthId, code)).status).toBe(401)
    expect((await enrol(healthId, second)).status).toBe(201)
  })

  test('works until 72 hours have passed, and no longer', async () => {
    const [early, late] = [await patient(), await patient()]
    service.advance(3 * day - 1)
    expect((await enrol(early.healthId, early.code)).status).toBe(201)
    service.advance(1)
    expect((await enrol(late.healthId, late.code)).status).toBe(401)
  })

  test('survives four wrong tries and ends with the fifth', async () => {
    const [four, five] = [await patient(), await patient()]
    for (let tries = 0; tries < 4; tries++) expect((await enrol(four.healthId, wrongCode)).status).toBe(401)
    expect((await enrol(four.healthId, four.code)).status).toBe(201)
    for (let tries = 0; tries < 5; tries++) expect((await enrol(five.healthId, wrongCode)).status).toBe(401)
    expect((await enrol(five.healthId, five.code)).status).toBe(401)
  })

  test('is nobody else’s', async () => {
    const [one, other] = [await patient(), await patient()]
    expect((await enrol(other.healthId, one.code)).status).toBe(401)
    expect((await enrol(one.healthId, one.code)).status).toBe(201)
  })

  test('is taken with a former Health ID as well; the token is that of the current one', async () => {
    const code = await codeFor(current)
    expect((await enrol(former, code)).body).toMatchObject({ health_id: current })
  })

  test('gives nothing once the patient does not have the Health ID any more', async () => {
    const { healthId, code } = await patient()
    gone.add(healthId)
    expect((await enrol(healthId, code)).status).toBe(401)
  })
})

test('a wrong code, a Health ID without one, an unknown one and no Health ID at all are answered alike', async () => {
  const { healthId } = await patient()
  const answers = await Promise.all([
    enrol(healthId, wrongCode),
    enrol(mint('CM'), wrongCode),
    enrol('CM-0000-0000-0000', wrongCode),
    enrol('me', wrongCode),
  ])
  const told = answers.map(({ status, body }) => ({ status, code: body.error_code, message: body.message }))
  expect(new Set(told.map(each => JSON.stringify(each))).size).toBe(1)
  expect(told[0]).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' })
})

test('whoever fails too often is throttled: 429 with Retry-After for the right code too, never a false 401', async () => {
  const { healthId } = await patient()
  for (let tries = 0; tries < 10; tries++) expect((await enrol(healthId, wrongCode)).status).toBe(401)
  const fresh = await codeFor(healthId)
  const answer = await enrol(healthId, fresh)
  expect(answer.status).toBe(429)
  expect(answer.body).toMatchObject({
    error_code: 'AUTH_THROTTLED',
    retry_after: Number(answer.headers.get('retry-after')),
  })
  const other = await patient()
  expect((await enrol(other.healthId, other.code)).status).toBe(201)
  service.advance(7)
  expect((await enrol(healthId, fresh)).status).toBe(201)
})

test('what is no such request is refused with what is wrong', async () => {
  const answer = await post(service, '/api/v1/mobile/enrol', { health_id: 'CM', pin: 1 })
  expect(answer.status).toBe(422)
  expect(answer.body.details.map((each: { field: string }) => each.field).sort()).toEqual(['code', 'pin'])
})

describe('a token', () => {
  const token = async (): Promise<string> => {
    const { healthId, code } = await patient()
    return (await enrol(healthId, code)).body.token
  }

  test('is ended by whoever holds it: 204, and it proves nobody any more', async () => {
    const held = await token()
    expect(await revoke(held)).toMatchObject({ status: 204, body: undefined })
    const again = await revoke(held)
    expect(again.status).toBe(401)
    expect(again.body).toMatchObject({ error_code: 'TOKEN_INVALID' })
    expect(again.headers.get('www-authenticate')).toContain('error="invalid_token"')
  })

  test('proves nobody once nobody answers for its Health ID', async () => {
    const { healthId, code } = await patient()
    const { token: held } = (await enrol(healthId, code)).body
    gone.add(healthId)
    const { status, body } = await revoke(held)
    expect([status, body.error_code]).toEqual([401, 'TOKEN_INVALID'])
  })

  test('expires after 180 days', async () => {
    const held = await token()
    service.advance(180 * day)
    expect((await revoke(held)).body.error_code).toBe('TOKEN_EXPIRED')
  })

  test('is no access token, and an access token is none of a patient: both are told what to send', async () => {
    const asClient = await useToken(service, await token())
    expect(asClient.status).toBe(401)
    expect(asClient.body.message).toContain('not a patient token')
    const asPatient = await revoke('eyJhbGciOiJSUzI1NiJ9.e30.x')
    expect(asPatient.status).toBe(401)
    expect(asPatient.body.message).toContain('POST /api/v1/mobile/enrol')
    const none = await post(service, '/api/v1/mobile/revoke', '')
    expect(none.body).toMatchObject({ error_code: 'UNAUTHENTICATED' })
    expect(none.body.message).toContain('Authorization: Bearer pat_')
    expect((await revoke(`pat_${'x'.repeat(43)}`)).body.error_code).toBe('TOKEN_INVALID')
  })
})
