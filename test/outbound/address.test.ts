import { describe, expect, test } from 'vitest'
import { Failure } from '../../src/lib/failure.ts'
import { networks } from '../../src/lib/networks.ts'
import { isPublic, mayReach, mustBeCallable, type Reach, reachOf } from '../../src/outbound/address.ts'

const production: Reach = { allowed: networks(''), isLocal: false }
const local: Reach = { allowed: networks(''), isLocal: true }
const inside: Reach = { allowed: networks('10.20.0.0/16,fd00:20::/32'), isLocal: false }

describe('which addresses are public', () => {
  test.for([
    ['an address of the internet', '8.8.8.8'],
    ['the last before 10.0.0.0/8', '9.255.255.255'],
    ['the first after it', '11.0.0.0'],
    ['the first after the network of this host', '1.0.0.0'],
    ['the last before shared addresses', '100.63.255.255'],
    ['the first after them', '100.128.0.0'],
    ['the last before 172.16.0.0/12', '172.15.255.255'],
    ['the first after it', '172.32.0.0'],
    ['the first after 192.168.0.0/16', '192.169.0.0'],
    ['the first after benchmarks', '198.20.0.0'],
    ['the last before multicast', '223.255.255.255'],
    ['an IPv6 address', '2606:4700:4700::1111'],
    ['the first of 2000::/3', '2000::'],
    ['the first after protocol assignments', '2001:200::'],
    ['the first after 6to4', '2003::'],
    ['the last before documentation', '3ffe:ffff::'],
    ['a public address mapped into IPv6', '::ffff:8.8.8.8'],
    ['the same in hexadecimal', '::ffff:808:808'],
  ])('%s: %s', ([, address]) => {
    expect(isPublic(address!)).toBe(true)
  })

  test.for([
    ['this network', '0.0.0.0', '0.255.255.255'],
    ['private', '10.0.0.0', '10.255.255.255'],
    ['shared by customers of a provider', '100.64.0.0', '100.127.255.255'],
    ['loopback', '127.0.0.1', '127.255.255.255'],
    ['link local', '169.254.0.0', '169.254.169.254'],
    ['private', '172.16.0.0', '172.31.255.255'],
    ['protocol assignments', '192.0.0.0', '192.0.0.255'],
    ['documentation', '192.0.2.0', '192.0.2.255'],
    ['AS112', '192.31.196.0', '192.31.196.255'],
    ['multicast tunnels', '192.52.193.0', '192.52.193.255'],
    ['6to4 relays', '192.88.99.0', '192.88.99.255'],
    ['private', '192.168.0.0', '192.168.255.255'],
    ['AS112', '192.175.48.0', '192.175.48.255'],
    ['benchmarks', '198.18.0.0', '198.19.255.255'],
    ['documentation', '198.51.100.0', '198.51.100.255'],
    ['documentation', '203.0.113.0', '203.0.113.255'],
    ['multicast', '224.0.0.0', '239.255.255.255'],
    ['reserved', '240.0.0.0', '255.255.255.254'],
    ['broadcast', '255.255.255.255', '255.255.255.255'],
    ['unspecified and loopback', '::', '::1'],
    ['IPv4-compatible', '::127.0.0.1', '::8.8.8.8'],
    ['private, mapped into IPv6', '::ffff:10.0.0.1', '::ffff:7f00:1'],
    ['NAT64', '64:ff9b::', '64:ff9b::8.8.8.8'],
    ['NAT64 of a network of its own', '64:ff9b:1::', '64:ff9b:1:ffff::10.0.0.1'],
    ['discard only', '100::', '100::ffff:ffff:ffff:ffff'],
    ['protocol assignments and Teredo', '2001::', '2001:1ff:ffff::'],
    ['documentation', '2001:db8::', '2001:db8:ffff::'],
    ['6to4', '2002::', '2002:7f00:1::'],
    ['AS112', '2620:4f:8000::', '2620:4f:8000:ffff::'],
    ['documentation', '3fff::', '3fff:fff::'],
    ['segment routing', '5f00::', '5f00:ffff::'],
    ['not assigned', '4000::', 'e000::'],
    ['unique local', 'fc00::', 'fdff::'],
    ['link local', 'fe80::', 'febf::'],
    ['site local', 'fec0::', 'feff::'],
    ['multicast', 'ff00::', 'ff02::1'],
    ['scoped', 'fe80::1%eth0', '2606:4700::1%eth0'],
    ['no address', 'example.org', ''],
    ['no address as it is written on the wire', '127.1', '2130706433'],
  ])('not %s: %s to %s', ([, first, last]) => {
    expect([isPublic(first!), isPublic(last!)]).toEqual([false, false])
  })
})

describe('what may be reached', () => {
  test('private networks that the operator permits, and no others', () => {
    const reached = [
      '10.20.3.4',
      '::ffff:10.20.3.4',
      'fd00:20::1',
      'fd00:20::1%eth0',
      '10.21.0.1',
      '127.0.0.1',
      '8.8.8.8',
    ]
    expect(reached.map(each => mayReach(each, inside))).toEqual([true, true, true, true, false, false, true])
  })

  test('loopback in the local environment, and nothing else that is private', () => {
    const reached = [
      '127.0.0.1',
      '127.9.9.9',
      '::1',
      '::ffff:127.0.0.1',
      '10.0.0.1',
      '169.254.169.254',
      '0.0.0.0',
      '::',
    ]
    expect(reached.map(each => mayReach(each, local))).toEqual([true, true, true, true, false, false, false, false])
  })
})

test('the settings say what may be reached: this machine in the local environment, and networks that are permitted', () => {
  const { allowed: webhookNetworks } = inside
  expect(reachOf({ webhookNetworks, environment: 'local' })).toEqual({ allowed: webhookNetworks, isLocal: true })
  expect(reachOf({ webhookNetworks, environment: 'production' })).toEqual({ allowed: webhookNetworks, isLocal: false })
})

describe('a callback URL', () => {
  test.for([
    ['https://example.org/webhooks?a=b', 'https://example.org/webhooks?a=b', production],
    ['HTTPS://Example.ORG:443', 'https://example.org/', production],
    ['https://bücher.example/ü', 'https://xn--bcher-kva.example/%C3%BC', production],
    ['https://8.8.8.8:8443/x', 'https://8.8.8.8:8443/x', production],
    ['https://[2606:4700:4700::1111]/', 'https://[2606:4700:4700::1111]/', production],
    ['https://example.org./', 'https://example.org./', production],
    ['https://shop.local.example.org/', 'https://shop.local.example.org/', production],
    ['https://10.20.0.9/', 'https://10.20.0.9/', inside],
    ['https://hospital/', 'https://hospital/', inside],
    ['https://lab.internal/', 'https://lab.internal/', inside],
    ['http://localhost:9000', 'http://localhost:9000/', local],
    ['http://127.0.0.1:9000/x', 'http://127.0.0.1:9000/x', local],
    ['http://[::1]:9000/x', 'http://[::1]:9000/x', local],
    ['https://localhost/', 'https://localhost/', local],
    [`https://example.org/${'a'.repeat(1980)}`, `https://example.org/${'a'.repeat(1980)}`, production],
  ] as const)('%s is called as %s', ([text, normal, reach]) => {
    expect(mustBeCallable(text, reach, 'callback_url')).toBe(normal)
  })

  test.for([
    ['', 'format', production],
    ['example.org/webhooks', 'format', production],
    ['https://', 'format', production],
    ['https://[fe80::1%25eth0]/', 'format', production],
    [`https://example.org/${'a'.repeat(1981)}`, 'maxLength', production],
    ['http://example.org/', 'scheme', production],
    ['http://example.org/', 'scheme', local],
    ['http://localhost:9000', 'scheme', production],
    ['http://10.20.0.9/', 'scheme', inside],
    ['ftp://example.org/', 'scheme', production],
    ['ftp://localhost/', 'scheme', local],
    ['file:///etc/passwd', 'scheme', local],
    ['javascript:alert(1)', 'scheme', local],
    ['https://user:secret@example.org/', 'credentials', production],
    ['https://user@example.org/', 'credentials', production],
    ['http://user:secret@localhost/', 'credentials', local],
    ['https://example.org/#part', 'fragment', production],
    ['https://example.org/#', 'fragment', production],
    ['https://localhost/', 'private', production],
    ['https://localhost./', 'private', inside],
    ['https://x.localhost/', 'private', production],
    ['https://hospital/', 'private', production],
    ['https://printer.local/', 'private', production],
    ['https://metadata.google.internal/', 'private', production],
    ['https://metadata.google.internal./', 'private', local],
    ['https://127.0.0.1/', 'private', production],
    ['https://127.0.0.1./', 'private', production],
    ['https://10.0.0.1/', 'private', local],
    ['https://10.21.0.1/', 'private', inside],
    ['https://169.254.169.254/latest/meta-data', 'private', production],
    ['https://2130706433/', 'private', production],
    ['https://0x7f.1/', 'private', production],
    ['https://017700000001/', 'private', production],
    ['https://127.1/', 'private', production],
    ['https://①②⑦.0.0.1/', 'private', production],
    ['https://%31%32%37.0.0.1/', 'private', production],
    ['https://[::1]/', 'private', production],
    ['https://[::]/', 'private', local],
    ['https://[::ffff:10.0.0.1]/', 'private', production],
    ['https://[::127.0.0.1]/', 'private', local],
    ['https://[64:ff9b::a00:1]/', 'private', production],
  ] as const)('%s is refused: %s', ([text, code, reach]) => {
    expect(problemOf(text, reach)).toMatchObject([{ field: 'callback_url', code }])
  })

  test('a refusal says what to write, and does not repeat a password', () => {
    const message = (text: string, reach: Reach) => problemOf(text, reach)[0]!.message
    expect(message('http://example.org/', production)).toBe('must start with https://')
    expect(message('http://example.org/', local)).toBe(
      'must start with https://; http is allowed only for localhost or 127.0.0.1',
    )
    expect(message('https://127.1/', production)).toBe(
      'must resolve to a public address: 127.0.0.1 is private or reserved',
    )
    expect(message('https://user:secret@example.org/', production)).not.toContain('secret')
  })
})

function problemOf(text: string, reach: Reach) {
  try {
    mustBeCallable(text, reach, 'callback_url')
  } catch (error) {
    if (error instanceof Failure && error.code === 'VALIDATION_FAILED') return error.options.details ?? []
    throw error
  }
  return []
}
