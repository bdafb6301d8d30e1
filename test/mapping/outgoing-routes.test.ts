// `hl7v2/messages-out.json`: which resources become messages, and what `check` says of mistakes in it.
import { expect, test } from 'vitest'
import type { SourceFile } from '../../src/mapping/files.ts'
import { outgoingIn } from '../../src/mapping/outgoing-routes.ts'
import { deliveredSet } from '../support/maps.ts'

const { mappings, outgoing } = deliveredSet()

const read = (text: string) => {
  const file: SourceFile = { path: 'hl7v2/messages-out.json', name: 'hl7v2/messages-out.json', text }
  return outgoingIn([file], mappings)
}
const order = { resource: 'ServiceRequest', map: 'hl7v2/oml-o21-from-fhir', include: ['ServiceRequest:patient'] }
const faultOf = (...list: readonly unknown[]) => read(JSON.stringify(list)).problems.map(({ message }) => message)

test('four resources are sent as messages, and none where the folder has no such file', () => {
  expect([...outgoing.keys()]).toEqual(['Patient', 'ServiceRequest', 'DiagnosticReport', 'Appointment'])
  expect(outgoingIn([], mappings)).toEqual({ routes: new Map(), problems: [] })
})

test('a resource that includes no other needs no list', () => {
  const { include: _include, ...alone } = order
  expect(read(JSON.stringify([alone])).routes.get('ServiceRequest')).toEqual({ ...order, include: [] })
})

test.each<[unknown, string]>([
  [7, 'this is not an object'],
  [{ ...order, target: 'lab' }, 'there is no `target` here; a resource has resource, map, include'],
  [{ ...order, resource: 'Order' }, '`resource` is a type of R4: ServiceRequest'],
  [
    { ...order, map: 'hl7v2/oml-o21-from-fihr' },
    'there is no map hl7v2/oml-o21-from-fihr; did you mean hl7v2/oml-o21-from-fhir?',
  ],
  [
    { ...order, map: 'hl7v2/oru-r01-to-fhir' },
    'the map hl7v2/oru-r01-to-fhir does not convert ServiceRequest or Bundle to a message',
  ],
  [
    { ...order, map: 'hl7v2/adt-a08-from-fhir' },
    'the map hl7v2/adt-a08-from-fhir does not convert ServiceRequest or Bundle to a message',
  ],
  [{ ...order, include: 'ServiceRequest:patient' }, '`include` lists up to 20 references: ["ServiceRequest:patient"]'],
  [
    { ...order, include: ['ServiceRequest:pateint'] },
    '`include`: ServiceRequest:pateint is no reference that R4 can search by',
  ],
  [
    { ...order, include: ['ServiceRequest:status'] },
    '`include`: ServiceRequest:status is no reference that R4 can search by',
  ],
])('a mistake is reported with what is wrong: %j', (wrong, message) => {
  const [found, ...more] = faultOf(wrong)
  expect(found).toMatch(/^resource (1|\w+): /)
  expect(found).toContain(message)
  expect(more).toEqual([])
})

test('a resource that is listed twice, a file that is no list and one that is no JSON are reported', () => {
  expect(faultOf(order, order)).toEqual(['resource ServiceRequest: it is listed twice'])
  expect(read('{}').problems[0]!.message).toContain('the resources are a list')
  expect(read('[').problems).toHaveLength(1)
})
