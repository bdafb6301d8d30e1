// resolve(), %resource and %rootResource in maps. https://hl7.org/fhir/R4/fhirpath.html#functions

import { describe, expect, test } from 'vitest'
import type { RunOptions } from '../../src/fml/run/frame.ts'
import { made, mapText, runText } from './run-maps.ts'

const request = (id: string, drug: string, more: object = {}) => ({
  resourceType: 'MedicationRequest',
  id,
  contained: [{ resourceType: 'Medication', id: 'drug', code: { text: drug } }],
  medicationReference: { reference: '#drug' },
  ...more,
})

const prescription = { from: 'MedicationRequest' }
const drug = 'src.medication as m -> tgt.text = (%m.resolve().ofType(Medication).code.text);'

const document = {
  resourceType: 'Bundle',
  type: 'document',
  entry: [
    {
      fullUrl: 'urn:uuid:c',
      resource: { resourceType: 'Composition', author: [{ reference: 'urn:uuid:n' }, { reference: 'Practitioner/n' }] },
    },
    { fullUrl: 'urn:uuid:n', resource: { resourceType: 'Practitioner', id: 'n', name: [{ family: 'Noor' }] } },
    {
      fullUrl: 'https://a.example/fhir/MedicationRequest/1',
      resource: request('1', 'aspirin', { subject: { reference: 'Patient/7' } }),
    },
    {
      fullUrl: 'https://b.example/fhir/MedicationRequest/1',
      resource: request('1', 'ibuprofen', { subject: { reference: 'Patient/7' } }),
    },
    {
      fullUrl: 'https://a.example/fhir/Patient/7',
      resource: { resourceType: 'Patient', id: '7', name: [{ family: 'Adeyemi' }] },
    },
    {
      fullUrl: 'https://b.example/fhir/Patient/7',
      resource: { resourceType: 'Patient', id: '7', name: [{ family: 'Bello' }] },
    },
  ],
}
const bundle = { from: 'Bundle' }

describe('resolve() finds', () => {
  test('what the source contains', () => {
    expect(made(drug, request('1', 'aspirin'), prescription)).toEqual({ text: 'aspirin' })
  })

  test('the container, by `#`', () => {
    const source = request('1', 'x', {
      contained: [{ resourceType: 'Provenance', id: 'drug', target: [{ reference: '#' }] }],
    })
    const rules =
      'src.contained as c -> tgt.text = (%c.ofType(Provenance).target.resolve().ofType(MedicationRequest).id);'
    expect(made(rules, source, prescription)).toEqual({ text: '1' })
  })

  test('one contained resource from another', () => {
    const source = request('1', 'x', {
      contained: [
        { resourceType: 'Medication', id: 'drug', manufacturer: { reference: '#maker' } },
        { resourceType: 'Organization', id: 'maker', name: 'Pharmacie' },
      ],
    })
    const rules = 'src.medication as m -> tgt.text = (%m.resolve().manufacturer.resolve().name);'
    expect(made(rules, source, prescription)).toEqual({ text: 'Pharmacie' })
  })

  test('an entry of the Bundle, by its fullUrl and, where entries have no server, by type and id', () => {
    const rules =
      'src.entry as e, e.resource : Composition as c, c.author as a -> tgt.texts = (%a.resolve().ofType(Practitioner).name.family);'
    expect(made(rules, document, bundle)).toEqual({ texts: ['Noor', 'Noor'] })
  })

  test('the entry of the same server where two servers use one id', () => {
    const rules =
      'src.entry as e, e.resource : MedicationRequest as m, m.subject as s -> tgt.texts = (%s.resolve().ofType(Patient).name.family);'
    expect(made(rules, document, bundle)).toEqual({ texts: ['Adeyemi', 'Bello'] })
  })

  test('what the entry contains, and not what another entry contains under the same id', () => {
    const rules =
      'src.entry as e, e.resource : MedicationRequest as m, m.medication as d -> tgt.texts = (%d.resolve().ofType(Medication).code.text);'
    expect(made(rules, document, bundle)).toEqual({ texts: ['aspirin', 'ibuprofen'] })
  })

  test('the version that a reference asks for', () => {
    const entry = [1, 2].map(n => ({
      fullUrl: 'https://a.example/fhir/Patient/7',
      resource: { resourceType: 'Patient', id: '7', meta: { versionId: `${n}` }, gender: n === 1 ? 'male' : 'female' },
    }))
    const reference = 'https://a.example/fhir/Patient/7/_history/2'
    const source = {
      resourceType: 'Bundle',
      entry: [...entry, { resource: { resourceType: 'Flag', subject: { reference } } }],
    }
    const rules =
      'src.entry as e, e.resource : Flag as f, f.subject as s -> tgt.text = (%s.resolve().ofType(Patient).gender);'
    expect(made(rules, source, bundle)).toEqual({ text: 'female' })
  })

  test('references in a condition, in a group, and in a constant', () => {
    const whole = mapText(
      "src.entry as e where (resource.ofType(MedicationRequest).medication.resolve().exists()) -> tgt.texts = 'condition', tgt.text = (%count.toString()) then { e.resource : MedicationRequest as m -> tgt then Drug(m, tgt); };",
      {
        ...bundle,
        before: 'let count = %resource.entry.count();',
        after:
          'group Drug(source m : MedicationRequest, target t : Out) { m -> t.texts = (%m.medication.resolve().code.text); }',
      },
    )
    expect(runText(whole, document, bundle)).toEqual({
      texts: ['condition', 'aspirin', 'condition', 'ibuprofen'],
      text: '6',
    })
  })

  test('canonicals and other texts where the value stands that the rule runs for', () => {
    const rules = "src.entry as e, e.resource : MedicationRequest as m -> tgt.texts = ('#drug'.resolve().code.text);"
    expect(made(rules, document, bundle)).toEqual({ texts: ['aspirin', 'ibuprofen'] })
  })

  test('what is being made, from a reference that is being made', () => {
    const rules = `src.text as name -> tgt.contained = create('Medication') as d, d.id = 'drug', d.code = cc(name),
      tgt.medication = create('Reference') as m, m.reference = '#drug', tgt.note as n, n.text = (%m.resolve().ofType(Medication).code.text);`
    expect(made(rules, { text: 'aspirin' }, { to: 'MedicationRequest' })).toMatchObject({ note: [{ text: 'aspirin' }] })
  })
})

describe('resolve() finds nothing', () => {
  const remarks = (rules: string, source: unknown, around: object): string[] => {
    const said: string[] = []
    const options: RunOptions = { remark: (message, { span }) => void said.push(`${span.line}: ${message}`) }
    made(rules, source, around, options)
    return said
  }

  test('where a reference leads out of the data, and says so once for the rule', () => {
    const rules = 'src.author as a -> tgt.texts = (%a.resolve().ofType(Practitioner).name.family);'
    const source = {
      resourceType: 'Composition',
      author: [{ reference: 'Practitioner/1' }, { reference: 'Practitioner/2' }],
    }
    expect(remarks(rules, source, { from: 'Composition' })).toEqual([
      '9: resolve() finds only what is contained in the source or is an entry of the same Bundle; a reference points elsewhere',
    ])
  })

  test('where several entries could be meant', () => {
    const entry = ['https://a.example/fhir', 'https://b.example/fhir'].map(base => ({
      fullUrl: `${base}/Patient/7`,
      resource: { resourceType: 'Patient', id: '7', gender: 'male' },
    }))
    const source = {
      resourceType: 'Bundle',
      entry: [
        ...entry,
        { fullUrl: 'urn:uuid:f', resource: { resourceType: 'Flag', subject: { reference: 'Patient/7' } } },
      ],
    }
    const rules =
      'src.entry as e, e.resource : Flag as f, f.subject as s -> tgt.text = (%s.resolve().ofType(Patient).gender);'
    expect(made(rules, source, bundle)).toEqual({})
    expect(remarks(rules, source, bundle)).toHaveLength(1)
  })
})

describe('the resource around a value', () => {
  test('is its own in a Bundle, and its container where it is contained', () => {
    const rules = `src.entry as e, e.resource : MedicationRequest as m, m.contained as c ->
      tgt.texts = (%c.iif(true, %resource.id & ' in ' & %rootResource.id));`
    expect(made(rules, document, bundle)).toEqual({ texts: ['drug in 1', 'drug in 1'] })
  })

  test('is the source for conditions on its elements', () => {
    const source = request('1', 'x', { status: 'active', note: [{ text: 'yes' }] })
    const rules = "src.note as n where (%resource.status = 'active') -> tgt.text = (%n.text);"
    expect(made(rules, source, prescription)).toEqual({ text: 'yes' })
  })
})
