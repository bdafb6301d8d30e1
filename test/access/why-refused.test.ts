// Why data is not shown, as it is told: never asked, taken back, or run out, by the latest consent that is for the organisation.
import { beforeAll, expect, test } from 'vitest'
import { refusal } from '../../src/access/consent/refusal.ts'
import { hash64 } from '../../src/lib/hash.ts'
import { consentOf } from '../support/consents.ts'
import { fhirCaller } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
const call = fhirCaller(() => service)

beforeAll(async () => {
  service = await startService()
})

const inactive = (reason?: string) => ({
  status: 'inactive',
  ...(reason && {
    extension: [
      { url: 'https://example.org/other', valueCode: 'revoked' },
      { url: 'https://health-interop.org/fhir/StructureDefinition/consent-end-reason', valueCode: reason },
    ],
  }),
})
const actors = (...ids: string[]) => ({
  actor: ids.map(id => ({
    ...consentOf('', '', id).provision.actor[0],
    reference: { reference: `Organization/${id}` },
  })),
})
const addressed = () => ({
  actor: [{ ...actors('x').actor[0], reference: { reference: 'https://example.org/fhir/Organization/clinic' } }],
})
const over = { period: { end: '2020-01-01' } }
const exception = { actor: undefined, class: [{ code: 'Observation' }] }

let count = 0
/** What the clinic is told where these consents were stored one after the other. */
async function told(...consents: [provision: object, more?: object][]): Promise<string> {
  const patient = `ada-${count++}`
  expect((await call('PUT', `Patient/${patient}`, { body: { resourceType: 'Patient', id: patient } })).status).toBe(201)
  for (const [at, [provision, more]] of consents.entries()) {
    const body = consentOf(`${patient}-${at}`, patient, 'clinic', provision, more)
    const { status, text } = await call('PUT', `Consent/${body.id}`, { body })
    expect(status, text).toBe(201)
  }
  return (await refusal(service.application.database, hash64(`Patient/${patient}`), 'clinic')).code
}

test.each<[string, string, [object, object?][]]>([
  ['nobody has asked for', 'CONSENT_REQUIRED', []],
  ['was taken back', 'CONSENT_REVOKED', [[{}, inactive('revoked')]]],
  ['has ended', 'CONSENT_EXPIRED', [[{}, inactive('expired')]]],
  ['has ended for no reason that is told', 'CONSENT_REQUIRED', [[{}, inactive()]]],
  [
    'was refused, though something says that it was taken back',
    'CONSENT_REQUIRED',
    [[{}, { ...inactive('revoked'), status: 'rejected' }]],
  ],
  [
    'was refused, though something says that it has ended',
    'CONSENT_REQUIRED',
    [[{}, { ...inactive('expired'), status: 'rejected' }]],
  ],
  ['has run out', 'CONSENT_EXPIRED', [[over]]],
  ['was refused until a day that is over', 'CONSENT_REQUIRED', [[{ type: 'deny', ...over }]]],
  [
    'has run out in part',
    'CONSENT_REQUIRED',
    [
      [
        {
          type: 'deny',
          provision: [
            { type: 'permit', ...exception },
            { type: 'permit', ...exception, ...over },
          ],
        },
      ],
    ],
  ],
  ['was taken back, of several organisations', 'CONSENT_REVOKED', [[actors('other', 'clinic'), inactive('revoked')]]],
  [
    'was taken back, and names the organisation by its whole address',
    'CONSENT_REVOKED',
    [[addressed(), inactive('revoked')]],
  ],
  ['was taken back from another organisation', 'CONSENT_REQUIRED', [[actors('other'), inactive('revoked')]]],
  [
    'was taken back, and asked for again',
    'CONSENT_REQUIRED',
    [
      [{}, inactive('revoked')],
      [{}, { status: 'proposed' }],
    ],
  ],
  [
    'was asked for, and taken back then',
    'CONSENT_REVOKED',
    [
      [{}, { status: 'proposed' }],
      [{}, inactive('revoked')],
    ],
  ],
  [
    'was taken back before another organisation was allowed it',
    'CONSENT_REVOKED',
    [[{}, inactive('revoked')], [actors('other')]],
  ],
])('what %s is %s', async (_what, code, consents) => {
  expect(await told(...consents)).toBe(code)
})
