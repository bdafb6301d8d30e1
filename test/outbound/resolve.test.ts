import { describe, expect, test } from 'vitest'
import { type ResolveOptions, resolving } from '../../src/outbound/resolve.ts'

const answering =
  (...addresses: string[]): ResolveOptions['resolve4'] =>
  (_name, done) =>
    done(null, addresses)
const failing =
  (code: string): ResolveOptions['resolve4'] =>
  (_name, done) =>
    done(Object.assign(new Error(code), { code }), [])

const ask = (name: string, options: Partial<ResolveOptions>): Promise<unknown> =>
  new Promise(resolve =>
    resolving({
      resolve4: failing('ENOTFOUND'),
      resolve6: failing('ENOTFOUND'),
      system: (_name, _options, done) => done(null, [{ address: '192.0.2.99', family: 4 }]),
      ...options,
    })(name, { all: true }, (error, found) => resolve(error ? error.code : found)),
  )

describe('a name', () => {
  test('has all addresses that name servers give', async () => {
    const found = await ask('receiver.example', {
      resolve4: answering('192.0.2.1', '192.0.2.2'),
      resolve6: answering('2001:db8::1'),
    })
    expect(found).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ])
  })

  test('is found though one kind of address has no answer', async () => {
    const found = await ask('receiver.example', { resolve4: answering('192.0.2.1'), resolve6: failing('ETIMEOUT') })
    expect(found).toEqual([{ address: '192.0.2.1', family: 4 }])
  })

  test('for which no name server answers is named', async () => {
    const error = await new Promise(resolve =>
      resolving({ resolve4: failing('ETIMEOUT'), resolve6: failing('ETIMEOUT'), system: () => expect.unreachable() })(
        'receiver.example',
        { all: true },
        resolve,
      ),
    )
    expect(error).toMatchObject({ code: 'EAI_AGAIN', message: 'No DNS server responds for receiver.example.' })
  })

  test('of this machine is found without any name server', async () => {
    const found = await new Promise(resolve =>
      resolving()('localhost', { all: true }, (error, addresses) => resolve(error ?? addresses)),
    )
    expect(found).toContainEqual(expect.objectContaining({ address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/) }))
  })

  test('for which no name server answers does not take a thread of the process', async () => {
    const system: ResolveOptions['system'] = () => expect.unreachable()
    expect(await ask('receiver.example', { resolve4: failing('ETIMEOUT'), system })).toBe('EAI_AGAIN')
  })

  test('that name servers do not know is looked up as the system does, such as those of the hosts file', async () => {
    expect(await ask('in-the-hosts-file', {})).toEqual([{ address: '192.0.2.99', family: 4 }])
    for (const name of ['localhost', 'app.localhost'])
      expect(await ask(name, { resolve4: answering('192.0.2.1') })).toEqual([{ address: '192.0.2.99', family: 4 }])
  })
})
