// What the examination of a signature finds in deliveries that are right, and in those that something happened to.
import { expect, test } from 'vitest'
import { examine } from '../../src/outbound/examine.ts'
import { newWebhookSecret, signatureHeaders, signingKey } from '../../src/outbound/signature.ts'

const secret = newWebhookSecret()
const now = 1_780_000_000_000
const seconds = now / 1000
const body = '{"id":"evt_1","type":"encounter.created","data":{"dose":1.50,"name":"Ngo Bassé"}}'

const headersOf = (more: Record<string, string> = {}, keys = [secret], at = seconds): string =>
  Object.entries({ ...signatureHeaders(keys.map(signingKey), 'evt_1', at, body), ...more })
    .map(([name, value]) => `${name}: ${value}`)
    .join('\r\n')

const verdicts = (more: Partial<Parameters<typeof examine>[0]> = {}) =>
  examine({ headers: headersOf(), body, secret, now, ...more }).map(({ verdict }) => verdict)

test('a delivery as it was sent is right by both signatures', () => {
  expect(examine({ headers: headersOf(), body, secret, now: now + 7000 })).toEqual([
    { scheme: 'service', verdict: 'valid', place: 1, count: 1, age: 7 },
    { scheme: 'standard', verdict: 'valid', place: 1, count: 1, age: 7 },
  ])
})

test('of two signatures, while a secret replaces another, the one that matches is named', () => {
  const headers = headersOf({}, [newWebhookSecret(), secret])
  expect(examine({ headers, body, secret, now })).toMatchObject([
    { verdict: 'valid', place: 2, count: 2 },
    { verdict: 'valid', place: 2, count: 2 },
  ])
})

test('headers are read as programs print them', () => {
  const [ours] = headersOf().split('\r\n')
  for (const headers of [
    `< ${ours}`,
    ours!.toLowerCase(),
    `  "x-service-signature": "${ours!.slice(ours!.indexOf(' ') + 1)}",`,
  ])
    expect(verdicts({ headers })[0]).toBe('valid')
})

test.each([
  ['valid', [body, body]],
  ['body-end', [`${body}\n`, `${body}\r\n`, ` ${body} `]],
  ['body-format', [JSON.stringify(JSON.parse(body.replace('1.50', '"@"')), null, 2).replace('"@"', '1.50')]],
  ['wrong', [body.replace('1.50', '1.5'), body.replace('Bassé', 'Basse'), '', '{']],
] as const)('the body: %s', (verdict, bodies) => {
  for (const each of bodies) expect([each, verdicts({ body: each })]).toEqual([each, [verdict, verdict]])
})

test('the secret: with spaces, without its prefix, of another subscription', () => {
  expect(verdicts({ secret: ` ${secret}\n` })).toEqual(['secret-spaces', 'secret-spaces'])
  // Standard Webhooks sign with what follows the prefix.
  expect(verdicts({ secret: secret.slice('whsec_'.length) })).toEqual(['secret-prefix', 'valid'])
  for (const other of [newWebhookSecret(), 'whsec_', 'x', ''])
    expect([other, verdicts({ secret: other })]).toEqual([other, ['wrong', 'wrong']])
})

test('the time: too old, in the future, not as signed', () => {
  expect(verdicts({ now: now + 300_000 })).toEqual(['valid', 'valid'])
  expect(verdicts({ now: now + 301_000 })).toEqual(['too-old', 'too-old'])
  expect(verdicts({ now: now - 301_000 })).toEqual(['in-the-future', 'in-the-future'])
  expect(verdicts({ headers: headersOf({ 'webhook-timestamp': String(seconds + 60) }) })).toEqual([
    'valid',
    'time-changed',
  ])
})

test('the id: of another event', () => {
  expect(verdicts({ headers: headersOf({ 'webhook-id': 'evt_2' }) })).toEqual(['valid', 'id-changed'])
})

test('headers: missing, or not in their form', () => {
  expect(verdicts({ headers: '' })).toEqual(['missing', 'missing'])
  expect(verdicts({ headers: headersOf({ 'X-Service-Signature': 'v1=00', 'webhook-timestamp': 'now' }) })).toEqual([
    'malformed',
    'malformed',
  ])
  expect(verdicts({ headers: headersOf({ 'webhook-signature': 'v1,short' }) })).toEqual(['valid', 'malformed'])
})
