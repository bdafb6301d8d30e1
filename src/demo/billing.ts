// What demo patients owe: an account with invoices, the plan by which it is paid, and a claim to an insurer.
import type { JsonObject } from '../lib/json.ts'
import { at, type Clock, coding, organization, reference, terminology } from './fhir.ts'

const patient = 'grace-tchoumi'
const account = `${patient}-account`
const francs = (value: number): JsonObject => ({ value, currency: 'XAF' })
const hospital = reference('Organization', organization)

export function demoBilling(clock: Clock): JsonObject[] {
  return [
    {
      resourceType: 'Account',
      id: account,
      status: 'active',
      type: coding(`${terminology}/v3-ActCode`, 'PBILLACCT', 'patient billing account'),
      name: 'Grossesse 2026',
      subject: [reference('Patient', patient)],
      owner: hospital,
    },
    charge(),
    invoice(1, 'balanced', '2026-10-12'),
    invoice(2, 'issued', clock.day(-2)),
    plan(clock),
    ...claim(),
  ]
}

const charge = (): JsonObject => ({
  resourceType: 'ChargeItem',
  id: `${patient}-charge`,
  status: 'billed',
  code: { text: 'Obstetric ultrasound' },
  subject: reference('Patient', patient),
  occurrenceDateTime: at('2026-08-17'),
  priceOverride: francs(30000),
  account: [reference('Account', account)],
})

const invoice = (number: number, status: string, date: string): JsonObject => ({
  resourceType: 'Invoice',
  id: `${patient}-invoice-${number}`,
  identifier: [{ value: `INV-2026-${String(300 + number)}` }],
  status,
  subject: reference('Patient', patient),
  date,
  issuer: hospital,
  account: reference('Account', account),
  lineItem: [{ chargeItemReference: reference('ChargeItem', `${patient}-charge`) }],
  totalGross: francs(15000),
})

/** The agreement to pay the account in two instalments; each becomes an Invoice on its day. */
const plan = (clock: Clock): JsonObject => ({
  resourceType: 'Contract',
  id: `${patient}-payment-plan`,
  status: 'executed',
  issued: at('2026-10-01'),
  subject: [reference('Patient', patient)],
  authority: [hospital],
  title: 'Paiement en deux fois',
  topicReference: reference('Account', account),
  term: [
    {
      offer: { text: '30 000 XAF en deux fois' },
      asset: [
        {
          valuedItem: [
            { net: francs(15000), paymentDate: at('2026-10-12') },
            { net: francs(15000), paymentDate: at(clock.day(5)) },
          ],
        },
      ],
    },
  ],
})

function claim(): JsonObject[] {
  const common = {
    status: 'active',
    type: coding(`${terminology}/claim-type`, 'professional', 'Professional'),
    use: 'claim',
    patient: reference('Patient', 'amina-bello'),
    created: at('2026-09-03'),
    insurer: hospital,
  }
  const money = francs(12000)
  return [
    {
      resourceType: 'Claim',
      id: 'amina-bello-claim',
      ...common,
      provider: hospital,
      priority: coding(`${terminology}/processpriority`, 'normal', 'Normal'),
      insurance: [{ sequence: 1, focal: true, coverage: reference('Coverage', 'amina-bello-coverage') }],
      item: [{ sequence: 1, productOrService: { text: 'Consultation' }, net: money }],
      total: money,
    },
    {
      resourceType: 'ClaimResponse',
      id: 'amina-bello-claim-response',
      ...common,
      created: at('2026-09-10'),
      request: reference('Claim', 'amina-bello-claim'),
      outcome: 'complete',
      total: [{ category: coding(`${terminology}/adjudication`, 'benefit', 'Benefit Amount'), amount: francs(9600) }],
    },
  ]
}
