import { type Case, observation, patient, table } from './table.ts'

table('codes', [
  [
    'a code outside its required value set is refused',
    patient({ gender: 'm' }),
    ['code-invalid', 'Patient.gender', '`gender` cannot be "m"; it is one of male, female, other, unknown'],
  ],
  [
    'a coding outside a required value set is refused',
    { resourceType: 'Condition', subject: { display: 'A' }, clinicalStatus: { coding: [{ code: 'active' }] } },
    [
      'code-invalid',
      'Condition.clinicalStatus',
      '`clinicalStatus` has no coding of the value set http://hl7.org/fhir/ValueSet/condition-clinical; it is one of active, recurrence, relapse, inactive, remission, resolved',
    ],
  ],
  [
    'one coding of several is enough',
    {
      resourceType: 'Condition',
      subject: { display: 'A' },
      clinicalStatus: {
        coding: [
          { code: 'x', system: 'http://x' },
          { system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' },
        ],
      },
    },
  ],
])

const speaks = (code: string) => patient({ language: code })
const photo = (contentType: string) => patient({ photo: [{ contentType }] })
const invoice = (currency: string) => ({ resourceType: 'Invoice', status: 'draft', totalNet: { value: 1, currency } })

table('codes from outside FHIR', [
  ...[
    'fr',
    'fr-CM',
    'bkm',
    'zh-Hans-CN',
    'de-CH-1996',
    'en-US-u-hc-h12',
    'x-clinic',
    'i-default',
    'sgn-BE-FR',
    'es-419',
  ].map((code): Case => [`${code} is a language`, speaks(code)]),
  [
    'a language tag has the form of BCP 47',
    speaks('en_US'),
    ['code-invalid', 'Patient.language', '`language` is not a language tag such as fr-CM: "en_US"'],
  ],
  [
    'nor does it end within an extension',
    speaks('xx-notalang-1'),
    ['code-invalid', 'Patient.language', '`language` is not a language tag such as fr-CM: "xx-notalang-1"'],
  ],
  [
    'two letters are those of a language that exists',
    patient({ communication: [{ language: { coding: [{ system: 'urn:ietf:bcp:47', code: 'xx-CM' }] } }] }),
    [
      'code-invalid',
      'Patient.communication[0].language.coding[0].code',
      '`code` is not a language tag: there is no language "xx"',
    ],
  ],
  ...[
    'image/whatever',
    'application/fhir+json',
    'text/plain; charset=utf-8',
    'application/dicom; variant=DICOM STOW-RS',
    'application/vnd.ms-excel',
  ].map((type): Case => [`${type} is a media type`, photo(type)]),
  ...['foo', 'image/', 'a/b/c', '/png', 'xml'].map(
    (type): Case => [
      `${type} is no media type`,
      photo(type),
      [
        'code-invalid',
        'Patient.photo[0].contentType',
        `\`contentType\` is not a media type such as application/pdf: "${type}"`,
      ],
    ],
  ),
  [
    'a capability statement may name formats in short',
    {
      resourceType: 'CapabilityStatement',
      status: 'active',
      date: '2024',
      kind: 'instance',
      fhirVersion: '4.0.1',
      format: ['json', 'application/fhir+xml', 'yaml'],
    },
    ['code-invalid', 'CapabilityStatement.format[2]', '`format` is not a media type such as application/pdf: "yaml"'],
  ],
  ...['XAF', 'NGN', 'SLE', 'ZWG', 'EUR', 'DEM'].map((code): Case => [`${code} is a currency`, invoice(code)]),
  [
    'XXQ is none',
    invoice('XXQ'),
    ['code-invalid', 'Invoice.totalNet.currency', '`currency` is not a currency of ISO 4217 such as XAF: "XXQ"'],
  ],
])

table('references', [
  [
    'a reference points at the types of its element',
    observation({ subject: { reference: 'Practitioner/1' } }),
    ['value', 'Observation.subject.reference', '"Practitioner/1" is not one of Patient, Group, Device, Location'],
  ],
  [
    'a version, a URL, a URN and a bare identifier are fine',
    observation({
      subject: { reference: 'Patient/1/_history/2' },
      encounter: { reference: 'http://x/Foo/1' },
      specimen: { reference: 'urn:uuid:8d4b6c34-8d5b-4f5b-9c5e-0d3a0c5d2b11' },
      device: { identifier: { value: '1' } },
    }),
  ],
  [
    'a reference without a type is none',
    observation({
      subject: { reference: 'abc' },
      encounter: { reference: 'Visit/1' },
      device: { reference: 'Device/a b' },
    }),
    ['value', 'Observation.subject.reference', '"abc" is not a reference: Type/id, a URL, urn:… or #id'],
    ['value', 'Observation.encounter.reference', '"Visit/1" names Visit, which is not a resource type'],
    ['value', 'Observation.device.reference', '"Device/a b" is not a reference: Type/id, a URL, urn:… or #id'],
  ],
  [
    'a search stands for a reference only in a bundle',
    observation({ subject: { reference: 'Patient?identifier=1' } }),
    [
      'value',
      'Observation.subject.reference',
      '"Patient?identifier=1" is a conditional reference, which is allowed in a transaction only',
    ],
  ],
  [
    'a transaction has it',
    {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [{ resource: observation({ subject: { reference: 'Patient?identifier=1' } }) }],
    },
  ],
])

table('contained resources', [
  [
    'a contained resource is referred to',
    observation({ subject: { reference: '#p' }, contained: [patient({ id: 'p', active: true })] }),
  ],
  [
    'or refers to its container',
    observation({
      contained: [
        {
          resourceType: 'Provenance',
          id: 'v',
          target: [{ reference: '#' }],
          recorded: '2020-01-01T00:00:00Z',
          agent: [{ who: { display: 'A' } }],
        },
      ],
    }),
  ],
  [
    'one that stands alone is refused',
    observation({ contained: [patient({ id: 'p' })] }),
    ['invariant', 'Observation.contained[0]', 'nothing refers to the contained resource "p" (dom-3)'],
  ],
  [
    'a reference to nothing contained is refused',
    observation({ subject: { reference: '#q' } }),
    ['value', 'Observation.subject.reference', '"#q" is not among the contained resources'],
  ],
  [
    'it has an id, contains nothing and has no version, date or label',
    observation({ contained: [patient({ contained: [], meta: { versionId: '1', security: [{ code: 'R' }] } })] }),
    ['required', 'Observation.contained[0].id', 'a contained resource must have an `id`'],
    ['invariant', 'Observation.contained[0].contained', 'a contained resource must not contain resources (dom-2)'],
    [
      'invariant',
      'Observation.contained[0].meta.versionId',
      'a contained resource must not have `meta.versionId` (dom-4)',
    ],
    [
      'invariant',
      'Observation.contained[0].meta.security',
      'a contained resource must not have `meta.security` (dom-5)',
    ],
    ['structure', 'Observation.contained[0].contained', '`contained` is an empty list: omit it instead'],
  ],
  [
    'resources in a bundle and in parameters are checked where they are, each with its own contained ones',
    {
      resourceType: 'Bundle',
      type: 'collection',
      entry: [
        { resource: { resourceType: 'Parameters', parameter: [{ name: 'a', resource: patient({ gendr: 1 }) }] } },
        { resource: { resourceType: 'Nothing' } },
        { resource: observation({ subject: { reference: '#p' } }) },
      ],
    },
    [
      'structure',
      'Bundle.entry[0].resource.parameter[0].resource.gendr',
      'Patient has no element `gendr`; did you mean `gender`?',
    ],
    ['structure', 'Bundle.entry[1].resource', 'there is no resource type "Nothing"'],
    ['value', 'Bundle.entry[2].resource.subject.reference', '"#p" is not among the contained resources'],
  ],
])

table('extensions', [
  [
    'an extension has a url',
    patient({ extension: [{ valueString: 'a' }] }),
    ['required', 'Patient.extension[0].url', 'Extension must have `url`'],
  ],
  [
    'an extension has a value or extensions',
    patient({ extension: [{ url: 'http://a' }] }),
    [
      'extension',
      'Patient.extension[0]',
      'an extension has either a value or extensions, and this one has neither (ext-1)',
    ],
  ],
  [
    'and not both',
    patient({ extension: [{ url: 'http://a', valueString: 'a', extension: [{ url: 'b', valueString: 'c' }] }] }),
    ['extension', 'Patient.extension[0]', 'an extension has either a value or extensions, not both (ext-1)'],
  ],
  [
    'a value that is only an extension counts',
    patient({ extension: [{ url: 'http://a', _valueString: { extension: [{ url: 'http://b', valueCode: 'c' }] } }] }),
  ],
  [
    'its url is absolute',
    patient({
      extension: [{ url: 'nickname', valueString: 'a' }],
      _birthDate: { extension: [{ url: 'b', valueCode: 'c' }] },
    }),
    [
      'value',
      'Patient.extension[0].url',
      '`url` is not absolute: "nickname"; only extensions within an extension have relative ones',
    ],
    [
      'value',
      'Patient.birthDate.extension[0].url',
      '`url` is not absolute: "b"; only extensions within an extension have relative ones',
    ],
  ],
  ['a URN is absolute', patient({ extension: [{ url: 'urn:oid:1.2.3', valueString: 'a' }] })],
  [
    'the value of an extension has extensions of its own',
    patient({
      extension: [{ url: 'http://a', valueCoding: { code: 'b', extension: [{ url: 'c', valueString: 'd' }] } }],
    }),
    [
      'value',
      'Patient.extension[0].value.extension[0].url',
      '`url` is not absolute: "c"; only extensions within an extension have relative ones',
    ],
  ],
])

const bundle = (fullUrl: string) => ({
  resourceType: 'Bundle',
  type: 'collection',
  entry: [{ fullUrl, resource: patient({ active: true }) }],
})

table('entries of a Bundle', [
  ['a fullUrl is absolute', bundle('http://example.org/fhir/Patient/1')],
  ['or a URN', bundle('urn:uuid:8d4b6c34-8d5b-4f5b-9c5e-0d3a0c5d2b11')],
  [
    'and not relative',
    bundle('Patient/1'),
    ['value', 'Bundle.entry[0].fullUrl', '`fullUrl` is not an absolute URL: "Patient/1"'],
  ],
])
