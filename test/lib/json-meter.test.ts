// However the bytes of a text arrive, a meter counts the same, and refuses what is beyond its bounds.
import { expect, test } from 'vitest'
import { createJsonMeter, type JsonBounds } from '../../src/lib/json-meter.ts'

const text = String.raw`{"a":"[{,\"","b\\":["\\\\\"",{},[],"é\u0022,"],"c":{"d":"\\"},"e":-1.5}`

/** The values of the text, which arrives in parts that end at these places. */
function valuesOf(bytes: Buffer, places: readonly number[], bounds?: JsonBounds): number {
  const meter = createJsonMeter(bounds)
  let from = 0
  for (const place of [...places, bytes.length]) {
    meter.add(bytes.subarray(from, place))
    from = place
  }
  return meter.values()
}

test('parts of a text, empty ones too, are counted as the whole', () => {
  const bytes = Buffer.from(text)
  const whole = valuesOf(bytes, [])
  // One for the text, one for each comma between values, one for each object and list.
  expect(whole).toBe(1 + 6 + 5)
  for (let one = 0; one <= bytes.length; one++)
    for (let other = one; other <= bytes.length; other++) expect(valuesOf(bytes, [one, other])).toBe(whole)
})

test('depth and members are refused wherever the parts end', () => {
  const bytes = Buffer.from('{"[":"{{{","b":{"c":["\\"[["]},"d":1}')
  const bounds = { depth: 3, values: 100, members: 3 }
  for (let place = 0; place <= bytes.length; place++) {
    expect(() => valuesOf(bytes, [place], bounds)).not.toThrow()
    expect(() => valuesOf(bytes, [place], { ...bounds, depth: 2 })).toThrow('nested deeper than 2')
    expect(() => valuesOf(bytes, [place], { ...bounds, members: 2 })).toThrow('more than 2 members')
    expect(() => valuesOf(bytes, [place], { ...bounds, values: 3 })).toThrow('more than 3 values')
  }
})

const keepsDigits = (json: string): boolean => {
  const meter = createJsonMeter()
  meter.add(Buffer.from(json))
  return meter.keepsDigits()
}

const written = [
  ...['0', '7', '-7', '123456789012345', '0.5', '-1.25', '79.41275486523342', '0.000001', '1e+21', '1.5e-7'],
  ...['9007199254740991', '-0.0000012345678901234567', '5e-324', '1.7976931348623157e+308'],
]
const otherwise = [
  ...['-0', '-0.0', '0.0', '7.10', '1e3', '1E+21', '0.0000001', '12345678901234567890', '9007199254740993', '1e400'],
  ...['79.412754865233420', '0.1000000000000000055511151231257827', `1.5${'0'.repeat(40)}`, '-12345678901234567890'],
]

test.each([...written, ...otherwise])('%s is found to keep its digits if JSON.parse keeps them', digits => {
  const isKept = written.includes(digits)
  expect(JSON.stringify(JSON.parse(digits)) === digits).toBe(isKept)
  for (const json of [`[${digits}]`, `{"a":${digits},"b":1}`, `{"a":[1.5, ${digits} ]}`, `["1.0",${digits}\n,"-0"]`])
    expect(keepsDigits(json), json).toBe(isKept)
})

test('what looks like a number within a string is none', () => {
  expect(keepsDigits(String.raw`{"7.10":"1.0","a":"\\\",1.0","b":["-0","\\"],"c":[true,false,null,1]}`)).toBe(true)
  expect(keepsDigits(String.raw`{"a":"\\","b":[7.10]}`)).toBe(false)
})

test('a number that arrives in parts may lose digits, wherever the parts end', () => {
  const bytes = Buffer.from('{"a":[7.10],"b":1}')
  for (let place = 0; place <= bytes.length; place++) {
    const meter = createJsonMeter()
    meter.add(bytes.subarray(0, place))
    meter.add(bytes.subarray(place))
    expect(meter.keepsDigits()).toBe(false)
  }
})
