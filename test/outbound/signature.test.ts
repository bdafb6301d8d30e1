import { Webhook as StandardWebhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import { describe, expect, test } from 'vitest'
import {
  newWebhookSecret,
  SignatureError,
  signatureHeaders,
  signingKey,
  verifySignature,
} from '../../src/outbound/signature.ts'

const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
const older = 'whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA='
const id = 'evt_01JB2Q8Y6V3W5N7R9T1X3Z5B7D'
const body = '{"id":"evt_01JB2Q8Y6V3W5N7R9T1X3Z5B7D","type":"patient.created","data":{"name":"Amélie Ñandú"}}'
const seconds = 1_767_225_600

const { webhooks } = new Stripe('sk_test_none')
const present = (): number => Math.floor(Date.now() / 1000)

/** How a receiver with the library and this secret takes it; they throw at what they reject. */
const libraries = {
  stripe: (headers: Record<string, string>, text: string, key: string) =>
    webhooks.constructEvent(text, headers['X-Service-Signature']!, key),
  standardwebhooks: (headers: Record<string, string>, text: string, key: string) =>
    new StandardWebhook(key).verify(text, headers),
  svix: (headers: Record<string, string>, text: string, key: string) => new SvixWebhook(key).verify(text, headers),
}

describe.for(Object.entries(libraries))('%s', ([, verify]) => {
  test('accepts what we sign', () => {
    const headers = signatureHeaders([signingKey(secret)], id, present(), body)
    expect(() => verify(headers, body, secret)).not.toThrow()
  })

  test('accepts it with the new secret and with the old one while one replaces the other', () => {
    const headers = signatureHeaders([signingKey(secret), signingKey(older)], id, present(), body)
    for (const key of [secret, older]) expect(() => verify(headers, body, key)).not.toThrow()
  })

  test('rejects another body, another secret, and a time too long ago', () => {
    const headers = signatureHeaders([signingKey(secret)], id, present(), body)
    expect(() => verify(headers, body.replace('created', 'updated'), secret)).toThrow()
    expect(() => verify(headers, body, older)).toThrow()
    expect(() => verify(signatureHeaders([signingKey(secret)], id, present() - 310, body), body, secret)).toThrow()
  })
})

test('the headers of a known delivery are these', () => {
  expect(signatureHeaders([signingKey(secret), signingKey(older)], id, seconds, body)).toEqual({
    'X-Service-Signature':
      't=1767225600,v1=08b291bd4fd43967607aaeba1aa6e4330f1af396a841b9933c43bdac870b5724,v1=8ed3a585ea2dd1a19436d1ab43d9386b0fed252ee4736b21d19e18d75331bb98',
    'webhook-id': id,
    'webhook-timestamp': '1767225600',
    'webhook-signature':
      'v1,XDJlMKUCwLpqPb5OAX1JgzIE3qV+1tONm1AfM05Q9NY= v1,MC09CmvZZAHp0UdIf+igYDpSZE5KWcMzIJjruCRChtQ=',
  })
})

test('a new secret is 32 random bytes in base64 behind whsec_', () => {
  const [one, other] = [newWebhookSecret(), newWebhookSecret()]
  expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(one).not.toBe(other)
})

describe('our own verification', () => {
  const header = signatureHeaders([signingKey(secret), signingKey(older)], id, seconds, body)['X-Service-Signature']!
  const now = seconds * 1000

  test('accepts either secret, and the body as text or bytes, up to five minutes early or late', () => {
    for (const key of [secret, older]) verifySignature({ header, body, secret: key, now })
    for (const late of [-300_000, 300_999])
      verifySignature({ header, body: Buffer.from(body), secret, now: now + late })
  })

  test.for([
    ['missing', { header: undefined }],
    ['missing', { header: '' }],
    ['malformed', { header: 'v1=abc' }],
    ['malformed', { header: `t=${seconds}` }],
    ['malformed', { header: `t=soon,v1=${'0'.repeat(64)}` }],
    ['malformed', { header: `t=${seconds},v1=${'0'.repeat(62)}` }],
    ['malformed', { header: header.replace(',', '0000000,') }],
    ['malformed', { header: header.replace('t=', 'xt=') }],
    ['malformed', { header: header.replace(',', 's,') }],
    ['malformed', { header: header.slice(header.indexOf(',') + 1) }],
    ['malformed', { header: `t=${seconds},v1=${'0'.repeat(65)}` }],
    ['malformed', { header: `t=${seconds},v11=${'0'.repeat(64)},xv1=${'0'.repeat(64)}` }],
    ['malformed', { header: `t=${seconds},v1=${'g'.repeat(64)}` }],
    ['too-old', { now: now + 301_000 }],
    ['too-old', { now: now + 11_000, tolerance: 10 }],
    ['in-the-future', { now: now - 301_000 }],
    ['wrong', { body: `${body}\n` }],
    ['wrong', { secret: newWebhookSecret() }],
    ['wrong', { header: header.replace('1767225600', '1767225601') }],
    ['wrong', { header: `t=${seconds},v1=${'0'.repeat(64)}` }],
  ] as const)('says that a signature is %s: %o', ([problem, change]) => {
    let caught: unknown
    try {
      verifySignature({ header, body, secret, now, ...change })
    } catch (error) {
      caught = error
    }
    expect(caught).toBeInstanceOf(SignatureError)
    expect(caught).toMatchObject({ name: 'SignatureError', problem })
  })

  test('takes the parts of a header in any order, and passes over those it does not know', () => {
    const [time, first, second] = header.split(',')
    for (const each of [`${second}, ${first} ,${time}`, `v0=1,${header},x`])
      verifySignature({ header: each, body, secret, now })
  })

  test('goes by the present time', () => {
    const signedAt = (at: number) => signatureHeaders([signingKey(secret)], id, at, body)['X-Service-Signature']
    verifySignature({ header: signedAt(present()), body, secret })
    expect(() => verifySignature({ header: signedAt(present() - 400), body, secret })).toThrow('seconds old')
  })

  test.for([
    [{ header: undefined }, 'The X-Service-Signature header is missing.'],
    [{ header: 'x' }, 'X-Service-Signature must have the form t=<seconds>,v1=<64 hexadecimal digits>.'],
    [
      { now: now + 400_000 },
      'The signature is 400 seconds old, more than 300: the request is a replay, or a clock is wrong.',
    ],
    [{ now: now - 400_000 }, 'The signature is 400 seconds in the future: a clock is wrong.'],
  ] as const)('says what is the matter: %o', ([change, message]) => {
    expect(() => verifySignature({ header, body, secret, now, ...change })).toThrow(message)
  })

  test('hints at what is usually wrong', () => {
    expect(() =>
      verifySignature({ header, body: JSON.stringify({ ...JSON.parse(body) }, null, 1), secret, now }),
    ).toThrow(/raw bytes.*webhook_secret/)
  })
})
