// What a text must have for an expression to find anything in it.
import { expect, test } from 'vitest'
import { resourceTypes, searchParams, typeModel } from '../../../src/definitions/r4.ts'
import { demoResources } from '../../../src/demo/resources.ts'
import { compileTyped } from '../../../src/fhirpath/compile.ts'
import { parse } from '../../../src/fhirpath/parser.ts'
import { expressionFor } from '../../../src/store/search-params/expression.ts'
import { needed } from '../../../src/store/search-params/needed.ts'

test.each([
  ['Observation.issued', ['issued']],
  ['Patient.name.given', ['given']],
  ['Patient.contact.id', ['contact']],
  ['(Observation.value as Quantity)', undefined],
  ['Observation.value.ofType(Quantity)', ['value']],
  ['Patient.name.given | Patient.name.family', ['given', 'family']],
  ['(Patient.name | Patient.contact.name).family', ['family']],
  ["Patient.extension('https://example.org/trial').value", ['https://example.org/trial']],
  ["Patient.extension('urn:é').value", ['extension']],
  ["Patient.telecom.where(system = 'phone').first()", ['telecom']],
  ['Patient.name[0].family', ['family']],
  ['Patient.deceased.exists()', undefined],
  ['Patient.active = true', undefined],
  ['Patient.name.given | Patient.active.not()', undefined],
  ['Observation', undefined],
])('for %s it is %j', (expression, texts) => {
  expect(needed(parse(expression))).toEqual(texts)
})

test('every resource in which a parameter of R4 finds something has one of these texts', () => {
  const resources = demoResources({ healthId: 'http://example.org/health-id', below: 'http://example.org' }, new Date())
  let found = 0
  for (const type of resourceTypes)
    for (const { code, expression } of searchParams(type).values()) {
      const tree = expression ? expressionFor(type, parse(expression)) : undefined
      const texts = tree && needed(tree)
      if (!texts) continue
      const run = compileTyped(tree, { model: { typeModel }, type })
      for (const resource of resources.filter(each => each['resourceType'] === type)) {
        if (run(resource, { resource }).length === 0) continue
        found++
        const body = JSON.stringify(resource)
        expect([type, code, texts.some(text => body.includes(text))]).toEqual([type, code, true])
      }
    }
  expect(found).toBeGreaterThan(100)
})
