// HL7 v2's messages, segments and data types as logical models.

import { expect, test } from 'vitest'
import { modelFromStructureDefinition } from '../../src/fml/logical.ts'
import { structures } from '../../src/fml/structures.ts'
import { messageModels } from '../../src/hl7v2/models.ts'
import { modelResources } from '../../src/mapping/own-models.ts'

const models = messageModels()
const urls = new Map(models.map(({ type, url }) => [type, url]))

test('every type that they name exists', () => {
  const all = structures(models)
  expect(all.typeModel('PID')?.elements.get('PID_3')).toMatchObject({
    types: ['CX'],
    max: Number.POSITIVE_INFINITY,
    short: 'Patient Identifier List',
  })
  expect(all.typeModel('OBX')?.elements.get('OBX_5_CWE')?.types).toEqual(['CWE'])
  expect([...all.typeModel('ADT_A39.PATIENT')!.elements.keys()]).toEqual(['PID', 'PD1', 'MRG', 'PV1', 'PV2'])
})

test('as StructureDefinitions they are read as the same by any engine', () => {
  const resources = models.flatMap(model => modelResources(model, type => urls.get(type)))
  const again = structures(resources.map(modelFromStructureDefinition))
  const own = structures(models)
  for (const { types } of models)
    for (const { name, elements } of types)
      for (const [key, { types: inner, max, short }] of elements)
        expect([name, again.typeModel(name)?.elements.get(key)]).toMatchObject([
          name,
          { types: inner, max, ...(short && { short }) },
        ])
  expect(again.urls).toEqual(own.urls)
})
