// What callers of compiled expressions rely on: types, places, references, primitives, variables, hooks, safety.

import { describe, expect, test } from 'vitest'
import { typeModel } from '../../src/definitions/r4.ts'
import { type CompileOptions, compile, compileBoolean, compileTyped, type Env } from '../../src/fhirpath/compile.ts'

const model = { typeModel }

const observation = {
  resourceType: 'Observation',
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '8480-6' }] },
  subject: { reference: 'http://example.org/fhir/Patient/1/_history/2' },
  focus: [{ reference: 'Device/7' }, { reference: '#p' }, { reference: 'urn:uuid:1', type: 'Location' }],
  contained: [{ resourceType: 'Practitioner', id: 'p', name: [{ family: 'Moeti' }] }],
  effectivePeriod: { start: '2024-05-01' },
  valueQuantity: { value: 1.5, unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' },
  component: [
    { code: { text: 'a' }, valueQuantity: { value: 2 } },
    { code: { text: 'b' }, valueString: 'high' },
  ],
}

const patient = {
  resourceType: 'Patient',
  birthDate: '1974-12-25',
  _birthDate: { id: 'b', extension: [{ url: 'http://example.org/time', valueDateTime: '1974-12-25T14:35:45-05:00' }] },
  _gender: { extension: [{ url: 'http://example.org/unknown', valueBoolean: true }] },
  name: [{ given: ['Neo', null], _given: [null, { extension: [{ url: 'x', valueCode: 'y' }] }] }, { family: 'Moeti' }],
}

describe('types', () => {
  test.each([
    ['Observation.status', ['code']],
    ['Observation.code', ['CodeableConcept']],
    ['Observation.code.coding', ['Coding']],
    ['Observation.value', ['Quantity']],
    ['Observation.effective', ['Period']],
    ['(Observation.component.value as Quantity) | (Observation.component.value as string)', ['Quantity', 'string']],
    ['Observation.component', ['Observation.component', 'Observation.component']],
    ['Observation.contained', ['Practitioner']],
    ['Observation.component.count()', ['System.Integer']],
    ["Observation.code.text & 'x'", ['System.String']],
  ])('%s', (expression, types) => {
    expect(typed(expression, observation).map(({ type }) => type)).toEqual(types)
  })
})

test('places are told when asked for', () => {
  const places = compileTyped('name.given | birthDate | name.where(family.exists())', {
    model,
    type: 'Patient',
    paths: true,
  })(patient).map(({ path }) => path)
  expect(places).toEqual(['Patient.name[0].given[0]', 'Patient.birthDate', 'Patient.name[1]'])
})

describe('the type of a reference is told from its text, without fetching', () => {
  test.each([
    ['subject.where(resolve() is Patient)', 1],
    ['subject.where(resolve() is Device)', 0],
    ['focus.where(resolve() is Device)', 1],
    ['focus.where(resolve() is Practitioner)', 1],
    ['focus.where(resolve() is Location)', 1],
    ['focus.resolve().ofType(Device).id', 1],
    ['focus.resolve().ofType(Practitioner).name.family', 1],
    ['subject.resolve().is(DomainResource)', 1],
  ])('%s', (expression, count) => {
    expect(run(expression, observation)).toHaveLength(count)
  })

  test('a resource that is elsewhere is asked of the caller', () => {
    const env: Env = { resolve: ref => (ref === 'Device/7' ? { resourceType: 'Device', lotNumber: 'L' } : undefined) }
    expect(run('focus.resolve().ofType(Device).lotNumber', observation, env)).toEqual(['L'])
  })

  test('entries of the same Bundle are found', () => {
    const bundle = {
      resourceType: 'Bundle',
      entry: [{ fullUrl: 'urn:uuid:1', resource: { resourceType: 'Location' } }],
    }
    const env: Env = { rootResource: bundle }
    expect(run("'urn:uuid:1'.resolve() is Location", observation, env)).toEqual([true])
  })
})

describe('primitives', () => {
  test.each([
    ["birthDate.extension('http://example.org/time').value", ['1974-12-25T14:35:45-05:00']],
    ['birthDate.id', ['b']],
    ['birthDate.hasValue()', [true]],
    ['gender.exists()', [true]],
    ['gender.hasValue()', [false]],
    ['gender', []],
    ['name.given', ['Neo']],
    ['name.given.extension.value', ['y']],
    ['birthDate + 1 month', ['1975-01-25']],
    ['Patient.descendants().ofType(dateTime)', ['1974-12-25T14:35:45-05:00']],
  ])('%s', (expression, values) => {
    expect(run(expression, patient)).toEqual(values)
  })
})

describe('what computed values look like outside', () => {
  test.each([
    ['1.50', 1.5],
    ['0.1 + 0.2', 0.3],
    ["4 'mg'", { value: 4, unit: 'mg', system: 'http://unitsofmeasure.org', code: 'mg' }],
    ['2 days', { value: 2, unit: 'day' }],
    ['@2014-01-25T14:30', '2014-01-25T14:30'],
    ['@T14:30', '14:30'],
  ])('%s', (expression, value) => {
    expect(compile(expression, { model })(undefined)).toEqual([value])
  })
})

test('numbers may come as raw JSON text, so that 1.50 keeps its zero', () => {
  const raw = { resourceType: 'Observation', valueQuantity: { value: { rawJSON: '1.50' } } }
  expect(run('value.value.hasValue() and value.value = 1.5 and value.value > 1', raw)).toEqual([true])
  expect(run('value.value.toString() | value.value.precision()', raw)).toEqual(['1.50', 2])
  expect(run('value.value', raw)).toEqual([{ rawJSON: '1.50' }])
})

describe('a focus of unknown type', () => {
  test('a resource says what it is', () => {
    expect(compile('value.unit | Observation.status', { model })(observation)).toEqual(['kg', 'final'])
    expect(compile('Patient.id', { model })(observation)).toEqual([])
  })

  test('other objects are read as they are', () => {
    const given = { a: [{ b: 1 }, { b: 2 }], valueString: 'x' }
    expect(compile('a.b | value', { model })(given)).toEqual([1, 2, 'x'])
  })
})

describe('conditions', () => {
  test.each([
    ['name.exists()', true],
    ['name.family', true],
    ['deceased', undefined],
    ["name.family = 'x'", false],
    ['deceased and true', undefined],
  ])('%s', (expression, answer) => {
    expect(compileBoolean(expression, options('Patient'))(patient)).toBe(answer)
  })

  test('several values are no answer', () => {
    expect(() => compileBoolean('name', options('Patient'))(patient)).toThrow('expected one value, found 2')
  })
})

describe('what the caller provides', () => {
  test('variables, the clock, value sets, profiles, the trace', () => {
    const seen: unknown[] = []
    const env: Env = {
      level: [1, 2],
      resource: { resourceType: 'Bundle', type: 'batch' },
      now: () => new Date('2024-02-29T10:00:00Z'),
      memberOf: (value, type, url) => value === 'final' && type === 'code' && url === 'urn:vs',
      conformsTo: (_resource, profile) => profile === 'urn:p',
      trace: (name, values) => seen.push([name, values]),
    }
    const outcome = compile(
      "%level | %resource.type | today() | status.memberOf('urn:vs') | conformsTo('urn:q') | status.trace('s')",
      { model, type: 'Observation', variables: { level: 'integer' } },
    )
    expect(outcome(observation, env)).toEqual([1, 2, 'batch', '2024-02-29', true, false, 'final'])
    expect(seen).toEqual([['s', ['final']]])
  })

  test('variables defined on the way', () => {
    expect(run("name.defineVariable('n').given.select(%n.count())", patient)).toEqual([2, 2])
    expect(() => run("name.select(defineVariable('n')) | %n", patient)).toThrow('there is no variable `n`')
  })

  test.each(['context', 'resource', 'rootResource', 'ucum', 'sct', 'loinc', 'vs-a', 'ext-a'])(
    'defineVariable() does not take the name %s',
    name => {
      expect(() => run(`name.defineVariable('${name}', 1)`, patient)).toThrow(`%${name} is predefined`)
    },
  )
})

describe('mistakes are found when compiling', () => {
  test.each([
    ['Patient.nmae', 'Patient has no element `nmae`; did you mean `name`?'],
    ['name.where(familly.exists())', 'HumanName has no element `familly`; did you mean `family`?'],
    ['Observation.status', 'the expression is evaluated on Patient, not on Observation'],
    ['name.foo()', 'there is no function foo()'],
    ['name.first(1)', 'first() takes 0 arguments, not 1'],
    ['name.where()', 'where() takes 1 argument, not 0'],
    ['%nothing', 'there is no variable `nothing`'],
    ['name is Nobody', 'there is no type Nobody'],
    ["name.startsWith('a')", 'startsWith() cannot be used on HumanName'],
    ['birthDate + 7', '+ on a date needs a quantity such as 7 days'],
    ['children().first()', 'first() needs an order'],
    ['@2015-02-30', '@2015-02-30 is not a valid date'],
  ])('%s', (expression, message) => {
    expect(() => compile(expression, options('Patient'))).toThrow(message)
  })

  test('unless the caller is lenient about elements', () => {
    expect(compile('nmae.given', { model, type: 'Patient', strict: false })(patient)).toEqual([])
  })
})

function options(type: string): CompileOptions {
  return { model, type }
}

function typed(expression: string, focus: { resourceType: string }, env?: Env) {
  return compileTyped(expression, options(focus.resourceType))(focus, env)
}

function run(expression: string, focus: { resourceType: string }, env?: Env): unknown[] {
  return compile(expression, options(focus.resourceType))(focus, env)
}

describe('expressions of requests', () => {
  test.each([
    [
      "status.memberOf('http://hl7.org/fhir/ValueSet/observation-status')",
      'memberOf() is not supported here, because no value sets are available',
    ],
    [
      "conformsTo('http://a.example/profile')",
      'conformsTo() supports only the types of R4 here, not the profile http://a.example/profile',
    ],
  ])('that ask for what is not there are refused: %s', (expression, message) => {
    expect(() => compile(expression, { model, type: 'Observation', untrusted: true })).toThrow(message)
  })
})
