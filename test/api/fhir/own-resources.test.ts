// What the service itself is made of, read and found as FHIR resources. https://hl7.org/fhir/R4/conformance-module.html

import { beforeAll, describe, expect, test } from 'vitest'
import { extensionsIn } from '../../../src/mapping/own-extensions.ts'
import { fhirPathInvariants } from '../../../src/store/validate/fhirpath-invariants.ts'
import { createValidator } from '../../../src/store/validate.ts'
import { fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const own = 'https://health-interop.org/fhir'

beforeAll(async () => {
  service = await startService()
})

const found = async (query: string) => {
  const { status, body } = await call('GET', query)
  expect(status, JSON.stringify(body)).toBe(200)
  return (body.entry ?? []).map((each: { resource: { url: string } }) => each.resource)
}

describe('what is our own', () => {
  test.each([
    ['a map', 'StructureMap', `${own}/StructureMap/allergy-to-fhir`],
    ['a record', 'StructureDefinition', `${own}/StructureDefinition/AllergyRecord`],
    ['a segment of HL7 v2', 'StructureDefinition', `${own}/hl7v2/StructureDefinition/PID`],
    ['a message of HL7 v2', 'StructureDefinition', `${own}/hl7v2/StructureDefinition/ORU_R01`],
    ['an extension', 'StructureDefinition', `${own}/StructureDefinition/allergy-severity`],
    ['a code system', 'CodeSystem', `${own}/CodeSystem/allergy-severity`],
  ])('is found by its URL, read by its id, and valid: %s', async (_what, type, url) => {
    const { body } = await call('GET', `${type}?url=${url}&_total=accurate`)
    expect(body.total).toBe(1)
    const [{ resource, search }] = body.entry
    expect([resource.resourceType, resource.url, search.mode]).toEqual([type, url, 'match'])
    const read = await call('GET', `${type}/${resource.id}`)
    expect([read.status, read.body]).toEqual([200, resource])
    const validate = createValidator({ invariants: fhirPathInvariants })
    expect(validate(resource).filter(each => each.severity === 'error')).toEqual([])
  })

  test('is valid throughout', async () => {
    const validate = createValidator({ invariants: fhirPathInvariants })
    for (const type of ['StructureMap', 'StructureDefinition', 'ValueSet', 'CodeSystem'])
      for (const resource of await found(`${type}?url:below=${own}&_count=200`))
        expect(
          validate(resource).filter(each => each.severity === 'error'),
          resource.url,
        ).toEqual([])
  })

  test('tells from examples where an extension stands, and what it holds', () => {
    const to = {
      resourceType: 'AllergyIntolerance',
      extension: [{ url: `${own}/StructureDefinition/x`, valueCode: 'a' }],
    }
    expect(extensionsIn([[{ to }]])).toMatchObject([
      {
        type: 'Extension',
        context: [{ type: 'element', expression: 'AllergyIntolerance' }],
        differential: { element: [{}, {}, { min: 1, type: [{ code: 'code' }] }] },
      },
    ])
  })

  test('is not counted where other things are asked for, and only counted where counts are', async () => {
    expect(await found('StructureMap?url=http://maps.example/none')).toEqual([])
    expect(await found('StructureMap')).toEqual([])
    const { body } = await call('GET', `StructureMap?url=${own}/StructureMap/allergy-to-fhir&_summary=count`)
    expect([body.total, body.entry]).toEqual([1, undefined])
  })

  test('needs the scope for its type, and other ids are not found', async () => {
    const token = await service.application.identity.tokens.mint(
      { clientId: 'demo', organizationId: 'demo', consentExempt: true },
      ['system/Patient.rs'],
    )
    expect((await call('GET', 'StructureMap/allergy-to-fhir', { token })).status).toBe(403)
    expect((await call('GET', `StructureMap?url=${own}/StructureMap/allergy-to-fhir`, { token })).status).toBe(403)
    expect((await call('GET', 'StructureMap/allergy-to-fihr')).status).toBe(404)
  })
})
