// The one proof that a request carries of its client, whichever way it is sent.
import { describe, expect, test } from 'vitest'
import { assertionType, presented } from '../../src/identity/credentials.ts'

const form = (...pairs: [string, string][]) => ({ headers: {}, body: new URLSearchParams(pairs) })
const json = (body: unknown) => ({ headers: {}, body })
const basic = (text: string, body?: unknown) => ({
  headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` },
  body,
})
const byHeaders = (more: Record<string, string> = {}) => ({
  headers: { 'x-client-id': 'ada', 'x-client-secret': 's', ...more },
  body: undefined,
})
const signed = { client_assertion_type: assertionType, client_assertion: 'a.b.c' }
const ada = { clientId: 'ada', secret: 's' }

describe('a proof', () => {
  test.each<[string, Parameters<typeof presented>[0], object]>([
    ['in a form', form(['client_id', 'ada'], ['client_secret', 's']), ada],
    ['in JSON', json({ client_id: 'ada', client_secret: 's' }), ada],
    ['by HTTP Basic', basic('ada:s'), ada],
    ['by HTTP Basic in small letters', { ...basic('ada:s'), headers: { authorization: 'basic YWRhOnM=' } }, ada],
    ['by HTTP Basic, after several spaces', { headers: { authorization: 'Basic   YWRhOnM=' }, body: undefined }, ada],
    ['beside an empty Authorization', byHeaders({ authorization: '' }), ada],
    ['by HTTP Basic, beside the same client_id', basic('ada:s', { client_id: 'ada' }), ada],
    ['by HTTP Basic, form-encoded', basic('a%3Ab:s+%2B%25'), { clientId: 'a:b', secret: 's +%' }],
    ['by HTTP Basic, not form-encoded', basic('ada:100%'), { clientId: 'ada', secret: '100%' }],
    ['by HTTP Basic, with a colon in the secret', basic('ada:s:t'), { clientId: 'ada', secret: 's:t' }],
    ["by HTTP Basic, with an id that is empty and nobody's", basic(':s'), { clientId: '', secret: 's' }],
    ['by headers of the interface', byHeaders(), ada],
    ['by an assertion', json(signed), { clientId: undefined, assertion: 'a.b.c' }],
    [
      'by an assertion, beside a client_id',
      json({ ...signed, client_id: 'ada' }),
      { clientId: 'ada', assertion: 'a.b.c' },
    ],
    [
      'beside an empty parameter, which counts as left out',
      json({ ...signed, client_secret: '' }),
      {
        clientId: undefined,
        assertion: 'a.b.c',
      },
    ],
  ])('%s', (_name, sent, expected) => expect(presented(sent)).toEqual(expected))
})

describe('no proof is', () => {
  test.each<[string, Parameters<typeof presented>[0], string, RegExp]>([
    ['nothing', json(undefined), 'INVALID_CLIENT', /^Send the client id and secret/],
    ['an id alone', json({ client_id: 'ada' }), 'INVALID_CLIENT', /^Send the client id and secret/],
    ['an id header alone', { headers: { 'x-client-id': 'ada' }, body: undefined }, 'INVALID_CLIENT', /^Send/],
    ['a secret header alone', { headers: { 'x-client-secret': 's' }, body: undefined }, 'INVALID_CLIENT', /^Send/],
    ['a secret without an id', json({ client_secret: 's' }), 'INVALID_CLIENT', /client_secret requires client_id/],
    ['another scheme', { headers: { authorization: 'Bearer x' }, body: undefined }, 'INVALID_CLIENT', /HTTP Basic/],
    [
      'a scheme that ends like it',
      { headers: { authorization: 'xBasic YWRhOnM=' }, body: undefined },
      'INVALID_CLIENT',
      /must use HTTP Basic/,
    ],
    [
      'a scheme that begins like it',
      { headers: { authorization: 'Basics YWRhOnM=' }, body: undefined },
      'INVALID_CLIENT',
      /must use HTTP Basic/,
    ],
    [
      'HTTP Basic and nothing',
      { headers: { authorization: 'Basic' }, body: undefined },
      'INVALID_CLIENT',
      /must contain a client id/,
    ],
    ['HTTP Basic without a colon', basic('ada'), 'INVALID_CLIENT', /must contain a client id/],
    ['two ways', byHeaders({ authorization: basic('ada:s').headers.authorization }), 'MALFORMED_REQUEST', /one method/],
    ['a secret beside an assertion', basic('ada:s', signed), 'MALFORMED_REQUEST', /one method/],
    ['another client_id', basic('ada:s', { client_id: 'ben' }), 'MALFORMED_REQUEST', /differs from the client/],
    [
      'an assertion of another type',
      json({ ...signed, client_assertion_type: 'x' }),
      'MALFORMED_REQUEST',
      /must be urn/,
    ],
    ['an assertion without a type', json({ client_assertion: 'a.b.c' }), 'MALFORMED_REQUEST', /must be urn/],
    ['a type without an assertion', json({ client_assertion_type: assertionType }), 'MALFORMED_REQUEST', /is missing/],
    [
      'a parameter twice',
      form(['client_id', 'ada'], ['client_id', 'ben']),
      'MALFORMED_REQUEST',
      /must not be repeated/,
    ],
    ['a parameter that is no text', json({ client_id: 7 }), 'MALFORMED_REQUEST', /must be a string/],
  ])('%s', (_name, sent, code, message) => {
    expect(() => presented(sent)).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }))
  })
})
