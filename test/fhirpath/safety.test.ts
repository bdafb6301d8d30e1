// What neither hostile data nor an expression from outside can do.

import { describe, expect, test } from 'vitest'
import { typeModel } from '../../src/definitions/r4.ts'
import { type CompileOptions, compile, compileTyped } from '../../src/fhirpath/compile.ts'
import { TooCostly } from '../../src/fhirpath/errors.ts'

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
    expect(() => slow({ resourceType: 'Patient', name: names })).toThrow('evaluates too many values')
    expect(compile("name.where(given = 'a').count()", untrusted)({ resourceType: 'Patient', name: names })).toEqual([
      2000,
    ])
  })

  describe('whatever an expression does is counted, so that a bound on steps ends it', () => {
    const div = `<div xmlns="http://www.w3.org/1999/xhtml">${'a'.repeat(20_000)}</div>`
    const list = <T>(make: (index: number) => T): T[] => Array.from({ length: 40 }, (_, index) => make(index))
    const patient = {
      resourceType: 'Patient',
      id: 'p',
      birthDate: '2020-01-01',
      name: list(i => ({ family: `f${i}`, given: [`g${i}`, 'x'], period: { start: `20${i + 10}-01-01` } })),
      text: { status: 'generated', div },
      extension: list(i => ({ url: `http://x/${i}`, valueQuantity: { value: i + 0.5, code: 'mm[Hg]' } })),
      contained: list(i => ({ resourceType: 'Organization', id: `c${i}`, name: `n${i}` })),
      link: list(i => ({ other: { reference: `#c${i}` }, type: 'seealso' })),
    }
    const many = (part: string, by: string): string => Array(100).fill(part).join(by)
    test.each([
      ['conditions within conditions', "%resource.name.where(%resource.name.where(given = 'q').exists()).exists()"],
      ['paths that lead nowhere', '%resource.contained.where(%resource.contained.partOf.exists()).exists()'],
      ['all that a resource holds', '%resource.descendants().where($this = 5).exists()'],
      ['unions', '(%resource.name | %resource.extension | %resource.name).count() > 999'],
      ['what is distinct, of dates', '%resource.name.period.start.distinct().count() > 999'],
      ['what is distinct, of quantities', '%resource.extension.value.distinct().count() > 999'],
      ['equivalence without order', '%resource.descendants() ~ %resource.descendants()'],
      ['texts in texts', `%resource.name.given.where(%resource.text.div.contains('${'a'.repeat(50)}b')).exists()`],
      ['texts that are joined', '(%resource.text.div & %resource.text.div).upper().length() < 5'],
      ['characters', '%resource.text.div.toChars().count() < 5'],
      ['escapes', "%resource.text.div.escape('html').escape('html').length() < 5"],
      ['narratives', '%resource.name.where(%resource.text.div.htmlChecks()).empty()'],
      ['order', '%resource.name.sort(family).sort(-family).count() > 999'],
      ['units', "%resource.extension.where(value > 30 'cm[H2O]').count() > 999"],
      ['references', "%resource.link.other.resolve().where(name = 'q').exists()"],
      ['subsets', '%resource.name.subsetOf(%resource.name).not()'],
      ['membership', '%resource.name.exists(family in %resource.name.given)'],
      ['calendars', '%resource.name.period.start.where($this + 5 days > @2090-01-01).exists()'],
      ['many operators', many('(1.5 * 2.5 > 1)', ' and ')],
    ])('%s', (_what, condition) => {
      const run = compileTyped(`name.where(${condition}).where(${condition})`, {
        ...options('Patient'),
        untrusted: true,
      })
      const steps = { budget: 2000 }
      expect(() => run(patient, { resource: patient }, steps)).toThrow(TooCostly)
      expect(steps.budget).toBeLessThan(0)
    })

    test('a text is counted before it is joined, since making it would take the memory', () => {
      const run = compile(`%resource.name.given.join('${'x'.repeat(8_000_000)}').length() > 5`, {
        ...options('Patient'),
        untrusted: true,
      })
      expect(() => run(patient, { resource: patient })).toThrow(TooCostly)
    })

    test('numbers do not grow without end', () => {
      expect(() => compile(many('9999999999999999999999999999.1', ' * '), { model })({})).toThrow('too many digits')
      expect(compile('1.5 * 2.5 * 1.5', { model })({})).toEqual([5.625])
    })
  })

  test("dom-3 takes steps in proportion to the resource's size", () => {
    const dom3 = typeModel('List')!.constraints.find(({ key }) => key === 'dom-3')!
    const run = compileTyped(dom3.expression, options('List'))
    const stepsFor = (length: number): number => {
      const ids = Array.from({ length }, (_, i) => `p${i}`)
      const list = {
        resourceType: 'List',
        contained: ids.map(id => ({ resourceType: 'Patient', id })),
        entry: ids.map(id => ({ item: { reference: `#${id}` } })),
      }
      const most = 1_000_000_000
      const steps = { budget: most }
      expect(run(list, {}, steps)).toMatchObject([{ value: true }])
      return most - steps.budget
    }
    expect(stepsFor(2000)).toBeLessThan(12 * stepsFor(200))
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
