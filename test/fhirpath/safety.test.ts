// What neither hostile data nor an expression from outside can do.

import { describe, expect, test } from 'vitest'
import { typeModel } from '../../src/definitions/r4.ts'
import { type CompileOptions, compile, compileBoolean } from '../../src/fhirpath/compile.ts'

const model = { typeModel }

describe('nothing but the data can be reached', () => {
  test.each(['constructor', '`__proto__`', 'valueOf', 'constructor.name', '`__proto__`.constructor'])('%s', name => {
    expect(compile(name, { model })({ a: 1 })).toEqual([])
    expect(compile(name, { model, strict: false })('text')).toEqual([])
    expect(() => compile(`a.${name}()`, { model })).toThrow()
    expect(() => compile(`%${name.split('.')[0]}`, { model })).toThrow('there is no variable')
  })

  test('deep data costs no stack', () => {
    let deep: object = {}
    for (let i = 0; i < 50_000; i++) deep = { a: deep }
    expect(compile('descendants().count()', { model })(deep)).toEqual([50_000])
    expect(compile('a = a', { model })({ a: deep })).toEqual([true])
    expect(compile('a = b', { model })({ a: deep, b: { a: {} } })).toEqual([false])
  })

  test('an expression that comes with a request cannot keep the server busy', () => {
    const untrusted = { ...options('Patient'), untrusted: true }
    for (const call of [
      "name.family.matches('(a+)+')",
      'repeat(name)',
      'name.aggregate($total)',
      'name.select($this)',
    ]) {
      expect(() => compile(call, untrusted)).toThrow('is not allowed in this expression')
    }
    const names = Array.from({ length: 2000 }, () => ({ given: ['a'] }))
    const slow = compile('name.where(%resource.name.exists($this.given = 5))', untrusted)
    expect(() => slow({ resourceType: 'Patient', name: names })).toThrow('looks at too many values')
    expect(compile("name.where(given = 'a').count()", untrusted)({ resourceType: 'Patient', name: names })).toEqual([
      2000,
    ])
  })

  test("dom-3 takes time in proportion to the resource's size", () => {
    const dom3 = typeModel('List')!.constraints.find(({ key }) => key === 'dom-3')!
    const ids = Array.from({ length: 3000 }, (_, i) => `p${i}`)
    const list = {
      resourceType: 'List',
      contained: ids.map(id => ({ resourceType: 'Patient', id })),
      entry: ids.map(id => ({ item: { reference: `#${id}` } })),
    }
    const started = process.cpuUsage().user
    expect(compileBoolean(dom3.expression, options('List'))(list)).toBe(true)
    expect(process.cpuUsage().user - started).toBeLessThan(2_000_000)
  })
})

describe('narratives', () => {
  test.each([
    ['<div xmlns="http://www.w3.org/1999/xhtml"><p class="a">x &lt; <br/><a href="http://x">y</a></p></div>', true],
    ['<div><script>x</script></div>', false],
    ['<div onclick="x">y</div>', false],
    ['<div><a href=" javascript:x">y</a></div>', false],
    ['<div><p>y</div></p>', false],
    ['<p>y</p>', false],
    ['y', false],
  ])('%s', (div, safe) => {
    expect(compile('text.div.htmlChecks()', options('Patient'))({ resourceType: 'Patient', text: { div } })).toEqual([
      safe,
    ])
  })
})

function options(type: string): CompileOptions {
  return { model, type }
}
