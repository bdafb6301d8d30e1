// What is stored and shown, counted or computed with has to be what it says it is: narrative, URLs, units, languages.
import { beforeAll } from 'vitest'
import { actorOf, scenario } from '../../support/scenario.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const clinic = actorOf(() => service, 'clinic', 'system/*.cruds')

beforeAll(async () => {
  service = await startService()
})

const basic = (rest: object) => ({ resourceType: 'Basic', code: { text: 'a' }, ...rest })
const refused = (expression: string, code: string, diagnostics: string) => ({
  resourceType: 'OperationOutcome',
  issue: [{ severity: 'error', code, diagnostics, expression: [expression] }],
})

const cases: [name: string, resource: object, body: object][] = [
  [
    'a narrative with an entity of HTML is refused',
    basic({ text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">3&nbsp;mg</div>' } }),
    refused(
      'Basic.text.div',
      'value',
      '`div` has the entity &nbsp;, which is not defined in XML: write the character itself or a numeric reference such as &#160;',
    ),
  ],
  [
    'an extension with a relative URL is refused',
    basic({ extension: [{ url: 'nickname', valueString: 'Bih' }] }),
    refused(
      'Basic.extension[0].url',
      'value',
      '`url` is not absolute: "nickname"; only extensions within an extension have relative ones',
    ),
  ],
  [
    'an amount of money in a currency that does not exist is refused',
    basic({ extension: [{ url: 'http://example.org/fee', valueMoney: { value: 1, currency: 'XXQ' } }] }),
    refused(
      'Basic.extension[0].value.currency',
      'code-invalid',
      '`currency` is not a currency of ISO 4217 such as XAF: "XXQ"',
    ),
  ],
  [
    'an element with an id alone is refused',
    basic({ _created: { id: 'a' } }),
    refused('Basic.created', 'invariant', '`created` has nothing but an id (ele-1)'),
  ],
]

for (const [name, resource, body] of cases)
  scenario(name, {
    as: clinic,
    request: ['POST', 'Basic', { body: resource }],
    status: 400,
    body,
    events: [],
    audit: ['create Basic (refused)'],
  })
