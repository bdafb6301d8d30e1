// Headers that nobody should send, each with values that it should not have.
import { pick, type Roll } from './values.ts'
import type { CallerKind, World } from './world.ts'

export function oddHeader(roll: Roll, { proofs, pool }: World): Record<string, string> {
  const other = (kind: CallerKind) => proofs[kind]['authorization'] ?? 'Bearer'
  const schemes = [
    'Bearer',
    'Bearer x',
    'Bearer pat_',
    `Bearer ${'x'.repeat(9000)}`,
    'Basic',
    'Basic %%%',
    'Basic Og==',
    'Digest a="b"',
    '\u00e9',
    other('patient'),
    other('secret'),
  ]
  const named: Record<string, readonly string[]> = {
    authorization: schemes,
    cookie: [
      'service_session=',
      'service_session=x',
      ';;=;',
      'service_session=a; service_session=b',
      proofs.user['cookie'] ?? '',
    ],
    'idempotency-key': ['', ' ', 'a', 'a', 'b', '\u00e9', 'x'.repeat(256), "' or 1=1"],
    'x-request-id': [
      '',
      'short',
      'x'.repeat(129),
      'has space in it',
      '\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9',
      'a-good-request-id',
    ],
    'x-purpose-of-use': ['', 'TREAT', 'treatment', 'x', '\u00e9', '__proto__', 'constructor', 'BTG', 'TREAT, TREAT'],
    'x-emergency-access': ['true', 'TRUE', '1', '', 'maybe', 'true, true'],
    'x-emergency-reason': ['', 'short', 'unconscious after an accident', 'x'.repeat(501), '\u00e9'.repeat(20)],
    accept: [
      '',
      '*/*',
      'text/html',
      'application/xml',
      'application/fhir+xml',
      'application/json',
      ';q=0',
      'application/fhir+json;q=x',
      '\u00e9',
      'a/b, */*;q=0',
    ],
    'accept-encoding': ['gzip', 'gzip;q=0', 'x'],
    'content-encoding': ['gzip', 'br', 'identity', 'gzip, gzip', 'x'],
    'if-match': ['W/"1"', '"1"', '1', 'W/"', '*', 'W/"99999999999999999999"', 'W/"-1"', '\u00e9', ''],
    'if-none-match': ['*', 'W/"1"', '"', 'x'],
    'if-none-exist': ['', '_id=x', 'identifier=a|b', 'x', '%', '_id=%00', 'name:x=1', '\u00e9', '_count=-1'],
    'if-modified-since': ['yesterday', 'Sat, 01 Jan 2000 00:00:00 GMT', '99999', ''],
    prefer: [
      'return=minimal',
      'return=x',
      'respond-async',
      'handling=strict',
      ',;=',
      'handling=lenient; return=OperationOutcome',
    ],
    origin: ['null', 'http://evil.example', '\u00e9'],
    'sec-fetch-site': ['cross-site', 'same-origin', 'x'],
    'x-forwarded-for': ['1.2.3.4', 'x', '\u00e9', '::1, , ,'],
    'x-forwarded-proto': ['https', 'javascript'],
    'x-client-id': ['', 'demo-client', 'x\u00e9', ...(pool.get('client_id') ?? [])],
    'x-client-secret': ['', 'x', 'x'.repeat(5000)],
    expect: ['100-continue', 'nonsense'],
    upgrade: ['websocket', 'h2c'],
    host: ['', 'a b', 'evil.example', '[::1', 'x:99999', "'"],
    range: ['bytes=0-1', 'x'],
  }
  const name = pick(roll, Object.keys(named))
  if (name === 'x-emergency-reason') return { 'x-emergency-access': 'true', [name]: pick(roll, named[name]!) }
  return { [name]: pick(roll, named[name]!) }
}
