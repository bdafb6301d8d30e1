// The properties of a focus without which an expression finds nothing: what the index skips.
import { expect, test } from 'vitest'
import { resourceTypes, searchParams, typeModel } from '../../src/definitions/r4.ts'
import { demoResources } from '../../src/demo/resources.ts'
import { compileTyped } from '../../src/fhirpath/compile.ts'
import { isObject, type JsonObject } from '../../src/lib/json.ts'

const model = { typeModel }

test.each([
  ['Observation', 'Observation.code', ['code']],
  ['Observation', 'Observation.component.code', ['component']],
  ['Observation', 'Observation.status', ['status', '_status']],
  ['Observation', '(Observation.value as Quantity)', ['valueQuantity']],
  ['Observation', 'Observation.value.ofType(dateTime)', ['valueDateTime', '_valueDateTime']],
  ['Observation', 'Observation.subject.where(resolve() is Patient)', ['subject']],
  ['Patient', 'Patient.name.given | Patient.birthDate', ['name', 'birthDate', '_birthDate']],
  ['Patient', "Patient.telecom.where(system = 'phone')", ['telecom']],
  ['Patient', '(Patient.name | Patient.contact.name).family', ['name', 'contact']],
  ['Patient', 'Patient.where(active).name', undefined],
  ['Patient', 'Patient.deceased.exists()', undefined],
  ['Patient', 'Patient.name.count()', undefined],
  ['Patient', 'Patient.active.not() | Patient.name', undefined],
  ['Patient', 'Patient', undefined],
])('of %s, %s reads %j', (type, expression, reads) => {
  expect(compileTyped(expression, { model, type }).reads).toEqual(reads)
})

test('every type of a choice is read', () => {
  const { reads } = compileTyped('Patient.deceased', { model, type: 'Patient' })
  expect(reads).toEqual(['deceasedBoolean', '_deceasedBoolean', 'deceasedDateTime', '_deceasedDateTime'])
})

/** The resource, and all that is left of it when one of its properties is taken away, each with the texts of primitives moved into extensions. */
function* variants(resource: JsonObject): Generator<JsonObject> {
  yield resource
  for (const name of Object.keys(resource)) {
    const { [name]: taken, ...rest } = resource
    yield rest
    if (typeof taken === 'string')
      yield { ...rest, [`_${name}`]: { extension: [{ url: 'http://example.org/why', valueString: 'unknown' }] } }
    if (isObject(taken)) yield { ...rest, [name]: { id: 'only' } }
  }
}

test('a search parameter of R4 finds nothing in a resource that has none of the properties that it reads', () => {
  const resources = demoResources({ healthId: 'http://example.org/health-id', below: 'http://example.org' }, new Date())
  let [found, skipped] = [0, 0]
  for (const type of resourceTypes) {
    const own = resources.filter(each => each['resourceType'] === type).flatMap(each => [...variants(each)])
    if (own.length === 0) continue
    for (const { code, expression } of searchParams(type).values()) {
      if (!expression) continue
      const run = compileTyped(expression, { model, type })
      if (!run.reads) continue
      for (const resource of own) {
        const values = run(resource, { resource })
        const mayFind = run.reads.some(name => name in resource)
        if (mayFind) found += values.length
        else skipped++
        if (!mayFind) expect([type, code, values]).toEqual([type, code, []])
      }
    }
  }
  expect(Math.min(found, skipped)).toBeGreaterThan(1000)
})
