// The pharmacy, the blood bank and the till of the demo hospital. Batches and units expire a fixed number of days after
// the demo set was loaded, so that some always have and some always will; `POST /api/demo/reset` starts over.
import type { JsonObject } from '../lib/json.ts'
import { own as project, r5 } from './fhir.ts'

const own = `${project}/StructureDefinition`

/** Whose it is, by its id as an Organization. */
export interface Owners {
  readonly hospital: string
  /** Who is paid. */
  readonly organization: string
}

interface Stock {
  readonly code: string
  readonly name: string
  readonly form: string
  readonly strength: string
  readonly quantity: number
  readonly reorderLevel: number
  /** Lot number, days until it expires, quantity. */
  readonly batches: readonly (readonly [lot: string, days: number, quantity: number])[]
}

/** Enough; a batch that is about to expire; little; a batch that has expired; nothing. */
const stocks: readonly Stock[] = [
  {
    ...{ code: 'J01CA04', name: 'Amoxicilline', form: 'capsule', strength: '500 mg' },
    ...{ quantity: 2400, reorderLevel: 500, batches: [['AMX-118', 610, 2400]] },
  },
  {
    ...{ code: 'P01BF01', name: 'Artéméther + luméfantrine', form: 'tablet', strength: '20 mg / 120 mg' },
    ...{ quantity: 960, reorderLevel: 300 },
    batches: [
      ['ALU-204', 14, 240],
      ['ALU-231', 420, 720],
    ],
  },
  {
    ...{ code: 'P01BE03', name: 'Artésunate injectable', form: 'vial', strength: '60 mg' },
    ...{ quantity: 38, reorderLevel: 50, batches: [['AS-0917', 300, 38]] },
  },
  {
    ...{ code: 'A10AB01', name: 'Insuline humaine rapide', form: 'vial', strength: '100 UI/ml' },
    ...{ quantity: 60, reorderLevel: 20 },
    batches: [
      ['INS-071', -3, 24],
      ['INS-083', 150, 36],
    ],
  },
  {
    ...{ code: 'H01BB02', name: 'Oxytocine', form: 'ampoule', strength: '10 UI/ml' },
    ...{ quantity: 0, reorderLevel: 40, batches: [] },
  },
]

type Unit = readonly [number: string, group: string, component: string, days: number, status: string]

const units: readonly Unit[] = [
  ['C00262600110100', 'O+', 'whole_blood', 20, 'available'],
  ['C00262600110200', 'O+', 'packed_red_cells', 30, 'available'],
  ['C00262600110300', 'O+', 'packed_red_cells', 12, 'available'],
  ['C00262600110400', 'O+', 'packed_red_cells', 25, 'reserved'],
  ['C00262600110500', 'O-', 'packed_red_cells', 9, 'available'],
  ['C00262600110600', 'O-', 'packed_red_cells', -2, 'available'],
  ['C00262600110700', 'A+', 'platelets', 3, 'available'],
  ['C00262600110800', 'A+', 'platelets', -1, 'available'],
  ['C00262600110900', 'B-', 'fresh_frozen_plasma', 300, 'available'],
  ['C00262600111000', 'AB+', 'packed_red_cells', 28, 'quarantined'],
]

type Payment = readonly [time: string, provider: string, amount: number, fee: number, outcome: string]

/** The day whose payments are in the demo set. */
const paymentDay = '2026-02-10'

const payments: readonly Payment[] = [
  ['08:12:40', 'MTN MoMo', 15000, 150, 'complete'],
  ['09:47:05', 'Orange Money', 7500, 75, 'complete'],
  ['11:30:18', 'MTN MoMo', 42000, 420, 'error'],
  ['15:02:51', 'Orange Money', 3000, 30, 'partial'],
]

/**
 * What is in stock, in the blood bank and in the books.
 * @param systems address below which the naming systems of the service are
 */
export function demoInventory(systems: string, { hospital, organization }: Owners, now: Date): JsonObject[] {
  const after = (days: number): Date => new Date(now.getTime() + days * 86_400_000)
  return [
    ...stocks.map(stock => basic(stock, systems, hospital, after)),
    ...units.map(unit => product(unit, hospital, after)),
    ...payments.map((payment, index) => reconciliation(payment, index, organization)),
  ]
}

const reference = (id: string): JsonObject => ({ reference: `Organization/${id}` })
const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10)

function basic(
  { code, name, form, strength, quantity, reorderLevel, batches }: Stock,
  systems: string,
  hospital: string,
  after: (days: number) => Date,
): JsonObject {
  return {
    resourceType: 'Basic',
    id: `stock-${code.toLowerCase()}`,
    identifier: [{ system: `${systems}/stock-item`, value: `${hospital}|ATC|${code}` }],
    code: { coding: [{ system: 'https://health-interop.org/fhir/CodeSystem/basic-kind', code: 'InventoryItem' }] },
    subject: reference(hospital),
    author: reference(hospital),
    extension: [
      { url: `${own}/stock-updated-at`, valueDateTime: `${paymentDay}T07:00:00+01:00` },
      {
        url: `${r5}/extension-InventoryItem.code`,
        valueCodeableConcept: { coding: [{ system: 'http://www.whocc.no/atc', code }], text: name },
      },
      { url: `${r5}/extension-InventoryItem.baseUnit`, valueCodeableConcept: { text: form } },
      { url: `${own}/stock-form`, valueString: form },
      { url: `${own}/stock-strength`, valueString: strength },
      { url: `${own}/stock-quantity-on-hand`, valueQuantity: { value: quantity, unit: form } },
      { url: `${own}/stock-reorder-level`, valueQuantity: { value: reorderLevel, unit: form } },
      ...batches.map(([lot, days, left]) => ({
        url: `${own}/stock-batch`,
        extension: [
          { url: 'lot_number', valueString: lot },
          { url: 'expiry_date', valueDate: dayOf(after(days)) },
          { url: 'quantity', valueDecimal: left },
        ],
      })),
    ],
  }
}

function product(
  [number, group, component, days, status]: Unit,
  hospital: string,
  after: (days: number) => Date,
): JsonObject {
  const isAvailable = status === 'available'
  return {
    resourceType: 'BiologicallyDerivedProduct',
    id: `blood-${number.toLowerCase()}`,
    identifier: [{ system: 'https://www.isbt128.org/uri/DonationIdentificationNumber', value: number }],
    productCategory: component === 'whole_blood' || component === 'fresh_frozen_plasma' ? 'fluid' : 'cells',
    productCode: { text: component },
    status: isAvailable ? 'available' : 'unavailable',
    quantity: 1,
    extension: [
      {
        url: `${r5}/extension-BiologicallyDerivedProduct.expirationDate`,
        valueDateTime: `${dayOf(after(days))}T23:59:59+01:00`,
      },
      { url: `${own}/blood-group`, valueCode: group },
      { url: `${own}/facility`, valueReference: reference(hospital) },
      ...(isAvailable ? [] : [{ url: `${own}/blood-unit-status`, valueCode: status }]),
      { url: `${own}/blood-unit-updated-at`, valueDateTime: `${paymentDay}T06:30:00+01:00` },
    ],
  }
}

function reconciliation(
  [time, provider, amount, fee, outcome]: Payment,
  index: number,
  organization: string,
): JsonObject {
  const money = (value: number): JsonObject => ({ value, currency: 'XAF' })
  const invoice = { type: 'Invoice', identifier: { value: `INV-2026-${String(index + 201)}` } }
  return {
    resourceType: 'PaymentReconciliation',
    id: `payment-${index + 1}`,
    extension: [{ url: `${own}/paid-at`, valueDateTime: `${paymentDay}T${time}+01:00` }],
    status: 'active',
    created: `${paymentDay}T20:00:00+01:00`,
    paymentIssuer: { display: provider },
    requestor: reference(organization),
    outcome,
    paymentDate: paymentDay,
    paymentAmount: money(amount),
    paymentIdentifier: { value: `TX-${paymentDay.replaceAll('-', '')}-${index + 1}` },
    detail: [
      {
        type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/payment-type', code: 'payment' }] },
        amount: money(amount),
        ...(outcome === 'partial' ? {} : { request: invoice }),
      },
      {
        type: { coding: [{ system: 'https://health-interop.org/fhir/CodeSystem/payment-detail', code: 'fee' }] },
        amount: money(fee),
      },
    ],
  }
}
