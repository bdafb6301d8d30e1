import { observation, patient, raw, table } from './table.ts'

const absent = {
  extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'masked' }],
}
const bornOn = (birthDate: unknown) => patient({ birthDate })
const at = (effectiveDateTime: string) => observation({ effectiveDateTime })

table('primitives and their siblings', [
  [
    'a primitive of the wrong JSON type is refused',
    patient({ active: 'true', birthDate: 1973, name: [{ family: { a: 1 }, given: 'A' }] }),
    ['structure', 'Patient.active', '`active` must be a boolean, not a string'],
    ['structure', 'Patient.birthDate', '`birthDate` must be a string, not a number'],
    ['structure', 'Patient.name[0].family', '`family` must be a string, not an object'],
    ['structure', 'Patient.name[0].given', '`given` must be a list, not a string'],
  ],
  [
    'a primitive may have only extensions',
    patient({ _birthDate: { extension: [{ url: 'http://a', valueCode: 'unknown' }] } }),
  ],
  [
    'a required primitive may have only extensions',
    { resourceType: 'Observation', code: { text: 'a' }, _status: { extension: [{ url: 'http://a', valueCode: 'x' }] } },
  ],
  [
    'the sibling of a primitive has an id and extensions only',
    patient({ _birthDate: { id: 'a', value: '1973' } }),
    ['structure', 'Patient.birthDate.value', 'Element has no element `value`'],
  ],
  [
    'only primitives have siblings',
    patient({ _contact: [{ id: 'a' }], _id: { id: 'a' } }),
    [
      'structure',
      'Patient._contact',
      '`_contact` is not allowed: only a primitive has a sibling element with an id or extensions',
    ],
    [
      'structure',
      'Patient._id',
      '`_id` is not allowed: only a primitive has a sibling element with an id or extensions',
    ],
  ],
  ['nulls align a list with its siblings', patient({ name: [{ given: ['A', null], _given: [null, absent] }] })],
  ['a primitive that has a value may have an id', patient({ birthDate: '1973', _birthDate: { id: 'a' } })],
  [
    'one that has none needs more than an id',
    patient({ _birthDate: { id: 'a' }, name: [{ given: ['A', null], _given: [{ id: 'a' }, { id: 'b' }] }] }),
    ['invariant', 'Patient.birthDate', '`birthDate` has nothing but an id (ele-1)'],
    ['invariant', 'Patient.name[0].given[1]', '`given` has nothing but an id (ele-1)'],
  ],
  [
    'and so does any other element',
    patient({ name: [{ id: 'a' }], contact: [{ id: 'b', gender: 'female' }], maritalStatus: { id: 'c' } }),
    ['invariant', 'Patient.name[0]', '`name` has nothing but an id (ele-1)'],
    ['invariant', 'Patient.maritalStatus', '`maritalStatus` has nothing but an id (ele-1)'],
  ],
  [
    'a null that no sibling explains is refused',
    patient({ name: [{ given: ['A', null], _given: [{ id: 'a' }] }] }),
    ['structure', 'Patient.name[0].given[1]', '`given` has null without an extension that explains it'],
  ],
  [
    'a list of siblings stands alone but has no gaps',
    patient({ name: [{ _given: [absent, null] }] }),
    ['structure', 'Patient.name[0].given[1]', '`given` has neither value nor extension here'],
  ],
  [
    'a list of objects has no nulls',
    patient({ name: [null] }),
    ['structure', 'Patient.name[0]', '`name` must be an object, not null'],
  ],
  [
    'the 30th of February is no day',
    bornOn('1973-02-30'),
    ['value', 'Patient.birthDate', '`birthDate` is not a calendar date: "1973-02-30"'],
  ],
  ['the 29th of February is a day in a leap year', bornOn('2000-02-29')],
  [
    'nor is it in 1900',
    bornOn('1900-02-29'),
    ['value', 'Patient.birthDate', '`birthDate` is not a calendar date: "1900-02-29"'],
  ],
  ['a month is a date, and so is a year long ago', patient({ birthDate: '0962', deceasedDateTime: '1973-02' })],
  [
    'a date has no time',
    bornOn('1973-02-03T00:00:00Z'),
    ['value', 'Patient.birthDate', '`birthDate` is not a date (YYYY, YYYY-MM or YYYY-MM-DD): "1973-02-03T00:00:00Z"'],
  ],
  [
    'a time needs a zone',
    at('2020-01-01T10:00:00'),
    ['value', 'Observation.effective', '`effective` has a time but no time zone: "2020-01-01T10:00:00"'],
  ],
  [
    'a time needs seconds',
    at('2020-01-01T10:00Z'),
    ['value', 'Observation.effective', '`effective` has a time without seconds: "2020-01-01T10:00Z"'],
  ],
  ['a time with zone and fraction is fine', at('2020-01-01T10:00:00.123456+14:00')],
  [
    'an instant is complete',
    observation({ issued: '2020-01-01' }),
    ['value', 'Observation.issued', '`issued` is not an instant (YYYY-MM-DDThh:mm:ss.sss+zz:zz): "2020-01-01"'],
  ],
  [
    'an integer has 32 bits and no fraction',
    observation({ valueInteger: 2147483648, component: [{ code: { text: 'a' }, valueInteger: 1.5 }] }),
    ['value', 'Observation.value', '`value` is not an integer of 32 bits: 2147483648'],
    ['value', 'Observation.component[0].value', '`value` is not an integer of 32 bits: 1.5'],
  ],
  [
    'an integer is not written as 1.0',
    observation({ valueInteger: raw('1.0') }),
    ['value', 'Observation.value', '`value` is not an integer of 32 bits: 1.0'],
  ],
  [
    'a decimal keeps its digits, and is no string',
    observation({ valueQuantity: { value: raw('1.50') }, referenceRange: [{ low: { value: '1' } }] }),
    ['structure', 'Observation.referenceRange[0].low.value', '`value` must be a number, not a string'],
  ],
  [
    'zero is not positive, and nothing is below it',
    patient({ telecom: [{ rank: 0 }], photo: [{ size: -1 }] }),
    ['value', 'Patient.telecom[0].rank', '`rank` is not a whole number from 1 to 2147483647: 0'],
    ['value', 'Patient.photo[0].size', '`size` is not a whole number from 0 to 2147483647: -1'],
  ],
  [
    'ids, URIs and base64 have their shape',
    patient({ id: 'has space!!', implicitRules: 'a b', photo: [{ data: 'abc' }, { data: 'QUJD\n' }] }),
    ['value', 'Patient.id', '`id` is not an id: 1 to 64 letters, digits, dashes and dots: "has space!!"'],
    ['value', 'Patient.implicitRules', '`implicitRules` is not a URI: it has spaces: "a b"'],
    ['value', 'Patient.photo[0].data', '`data` is not base64'],
  ],
  [
    'text is not blank and has no control characters or half characters',
    patient({ name: [{ text: ' \t' }, { text: 'a\u0000' }, { text: 'tab\tand\r\nline' }, { text: '\ud800' }] }),
    ['value', 'Patient.name[0].text', '`text` has nothing but white space'],
    ['value', 'Patient.name[1].text', '`text` has a control character'],
    ['value', 'Patient.name[3].text', '`text` is not well-formed Unicode'],
  ],
])
