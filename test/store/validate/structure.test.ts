import { observation, patient, raw, table } from './table.ts'

table('structure', [
  ['a patient may be nearly empty', patient({ active: true })],
  [
    'what is no object is no resource',
    'Patient',
    ['structure', 'Resource', '`Resource` must be a resource, not a string'],
  ],
  ['null is no resource', null, ['structure', 'Resource', '`Resource` must be a resource, not null']],
  ['a resource names its type', { id: 'a' }, ['structure', 'Resource', 'a resource must have a `resourceType`']],
  [
    'an unknown type is named, and the one meant',
    { resourceType: 'patient' },
    ['structure', 'patient', 'there is no resource type "patient"; did you mean Patient?'],
  ],
  [
    'an abstract type has no resources',
    { resourceType: 'DomainResource' },
    ['structure', 'DomainResource', 'there is no resource type "DomainResource"'],
  ],
  [
    'an unknown element is named, and the nearest known one',
    patient({ gendr: 'male' }),
    ['structure', 'Patient.gendr', 'Patient has no element `gendr`; did you mean `gender`?'],
  ],
  [
    'an unknown element inside another is found where it is',
    patient({ contact: [{ name: { text: 'A' } }, { nam: {} }] }),
    ['structure', 'Patient.contact[1].nam', 'Patient.contact has no element `nam`; did you mean `name`?'],
  ],
  [
    'a word like no element gets no suggestion',
    patient({ wwwwwwww: 1 }),
    ['structure', 'Patient.wwwwwwww', 'Patient has no element `wwwwwwww`'],
  ],
  [
    'the keys of every object are unknown elements like others',
    JSON.parse('{"resourceType":"Patient","__proto__":{"active":true},"constructor":1,"toString":2}'),
    ['structure', 'Patient.__proto__', 'Patient has no element `__proto__`'],
    ['structure', 'Patient.constructor', 'Patient has no element `constructor`'],
    ['structure', 'Patient.toString', 'Patient has no element `toString`'],
  ],
  [
    'a resource type inside a datatype is unknown',
    patient({ name: [{ resourceType: 'HumanName', text: 'A' }] }),
    ['structure', 'Patient.name[0].resourceType', 'HumanName has no element `resourceType`'],
  ],
  [
    'required elements are asked for',
    { resourceType: 'Observation', id: 'a' },
    ['required', 'Observation.status', 'Observation must have `status`'],
    ['required', 'Observation.code', 'Observation must have `code`'],
  ],
  [
    'a required choice is asked for with its keys',
    { resourceType: 'MedicationRequest', status: 'active', intent: 'order', subject: { display: 'A' } },
    [
      'required',
      'MedicationRequest.medication',
      'MedicationRequest must have `medication[x]`: medicationCodeableConcept, medicationReference',
    ],
  ],
  [
    'a list element must be a list',
    patient({ name: { text: 'A' } }),
    ['structure', 'Patient.name', '`name` must be a list, not an object'],
  ],
  [
    'a single element must not be a list',
    patient({ gender: ['male'] }),
    ['structure', 'Patient.gender', '`gender` must not be a list'],
  ],
  [
    'an object is wanted where a datatype stands',
    patient({ maritalStatus: 'M' }),
    ['structure', 'Patient.maritalStatus', '`maritalStatus` must be an object, not a string'],
  ],
  [
    'a raw number is no object',
    patient({ maritalStatus: raw('1.0') }),
    ['structure', 'Patient.maritalStatus', '`maritalStatus` must be an object, not a number'],
  ],
  [
    'null is nothing outside a list',
    patient({ birthDate: null, maritalStatus: null }),
    ['structure', 'Patient.birthDate', '`birthDate` must not be null: omit it instead'],
    ['structure', 'Patient.maritalStatus', '`maritalStatus` must be an object, not null'],
  ],
  [
    'empty objects, lists and strings are left out instead',
    patient({ name: [], maritalStatus: {}, contact: [{}], language: '' }),
    ['structure', 'Patient.name', '`name` is an empty list: omit it instead'],
    ['structure', 'Patient.maritalStatus', '`maritalStatus` is empty: omit it instead'],
    ['structure', 'Patient.contact[0]', '`contact` is empty: omit it instead'],
    ['value', 'Patient.language', '`language` is empty: omit it instead'],
  ],
  [
    'two values of one choice cannot both be given',
    observation({ valueString: 'a', valueInteger: 1 }),
    ['structure', 'Observation.value', 'only one of `valueString` and `valueInteger` can be given'],
  ],
  [
    'a choice is written with its type',
    observation({ value: 1, component: [{ code: { text: 'a' }, valueAddress: {} }] }),
    [
      'structure',
      'Observation.value',
      '`value` is written with its type: valueQuantity, valueCodeableConcept, valueString, valueBoolean, valueInteger, valueRange, valueRatio, valueSampledData, valueTime, valueDateTime, valuePeriod',
    ],
    [
      'structure',
      'Observation.component[0].valueAddress',
      '`value` of Observation.component cannot be of type Address; possible are valueQuantity, valueCodeableConcept, valueString, valueBoolean, valueInteger, valueRange, valueRatio, valueSampledData, valueTime, valueDateTime, valuePeriod',
    ],
  ],
  [
    'a content reference is checked as what it refers to',
    observation({ component: [{ code: { text: 'a' }, referenceRange: [{ lo: {} }] }] }),
    [
      'structure',
      'Observation.component[0].referenceRange[0].lo',
      'Observation.referenceRange has no element `lo`; did you mean `low`?',
    ],
  ],
])
