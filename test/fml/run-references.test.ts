// Transforms that name things, and those that compute. https://hl7.org/fhir/R4/valueset-map-transform.html

import { describe, expect, test } from 'vitest'
import { made, problemsOf, refusal } from './run-maps.ts'

const ids = () => {
  let last = 0
  return { uuid: () => `id-${++last}` }
}

describe('uuid, reference and pointer', () => {
  test('uuid gives another one each time', () => {
    expect(made('src -> tgt.text = uuid(), tgt.other = uuid();', {}, {}, ids())).toEqual({
      text: 'id-1',
      other: 'id-2',
    })
  })

  test('uuid can be named and used twice', () => {
    expect(made("src -> uuid() as u, tgt.text = u, tgt.other = append('urn:uuid:', u);", {}, {}, ids())).toEqual({
      text: 'id-1',
      other: 'urn:uuid:id-1',
    })
  })

  test('reference of a source that has an id is its address', () => {
    const source = { resourceType: 'Patient', id: '7' }
    expect(made('src -> tgt.text = reference(src);', source, { from: 'Patient' })).toEqual({ text: 'Patient/7' })
  })

  test('reference of what is being made gives it an id', () => {
    const rules = `src -> tgt.entry as e, e.resource = create('Patient') as p,
      tgt.entry as f, f.resource = create('Observation') as o, o.subject as s, s.reference = reference(p);`
    expect(made(rules, {}, { to: 'Bundle' }, ids())).toEqual({
      resourceType: 'Bundle',
      entry: [
        { resource: { resourceType: 'Patient', id: 'id-1' } },
        { resource: { resourceType: 'Observation', subject: { reference: 'Patient/id-1' } } },
      ],
    })
  })

  test('reference fills a Reference, which holds it', () => {
    const source = { resourceType: 'Patient', id: '7' }
    expect(made('src -> tgt.subject = reference(src);', source, { from: 'Patient', to: 'Observation' })).toEqual({
      resourceType: 'Observation',
      subject: { reference: 'Patient/7' },
    })
  })

  test('pointer is the reference by UUID', () => {
    const rules = "src -> tgt.entry as e, e.resource = create('Patient') as p, e.fullUrl = pointer(p);"
    expect(made(rules, {}, { to: 'Bundle' }, ids())).toEqual({
      resourceType: 'Bundle',
      entry: [{ fullUrl: 'urn:uuid:id-1', resource: { resourceType: 'Patient', id: 'id-1' } }],
    })
  })

  test('reference of a source without an id is an error', () => {
    const source = { resourceType: 'Patient' }
    expect(refusal('src -> tgt.text = reference(src);', source, { from: 'Patient' }).reason).toBe(
      'the resource has no id, so it cannot be referred to',
    )
  })

  test('reference of what is no resource is an error', () => {
    expect(refusal('src.item as i -> tgt.text = reference(i);', { item: { code: 'x' } }).reason).toBe(
      'a resource is needed here, not a In.item',
    )
  })
})

describe('evaluate', () => {
  const around = { from: 'Patient' }
  const source = { resourceType: 'Patient', name: [{ family: 'Lovelace', given: ['Ada', 'King'] }] }

  test('computes on its first parameter', () => {
    expect(made("src.name as n -> tgt.text = evaluate(n, family & ', ' & given.join(' '));", source, around)).toEqual({
      text: 'Lovelace, Ada King',
    })
  })

  test('takes a bare name for an element of its first parameter', () => {
    expect(made('src.name as n -> tgt.text = evaluate(n, family);', source, around)).toEqual({ text: 'Lovelace' })
    expect(made('src -> tgt.text = evaluate(src, name.family);', source, around)).toEqual({ text: 'Lovelace' })
  })

  test('knows the variables of the rule, which come first', () => {
    expect(made('src.name as n -> tgt.text = evaluate(src, n.family);', source, around)).toEqual({ text: 'Lovelace' })
  })

  test('gives several values to an element that repeats', () => {
    expect(made('src.name as n -> tgt.texts = evaluate(n, given);', source, around)).toEqual({ texts: ['Ada', 'King'] })
  })

  test('takes a text for that text', () => {
    expect(made("src.name as n -> tgt.text = evaluate(n, 'family');", source, around)).toEqual({ text: 'family' })
  })

  test('of an element that is not there is an error', () => {
    expect(problemsOf('src.name first as n -> tgt.text = evaluate(n, famly);', around)).toEqual([
      'HumanName has no element `famly`; did you mean `family`?',
    ])
  })
})
