// The table stock_level: it follows the Basic resources that hold a stock, as the map stock-to-fhir writes them.

import { textArray } from '../db/arrays.ts'
import type { Queryable } from '../db/statement.ts'
import { Decimal, toDecimal } from '../fhirpath/decimal.ts'
import { isObject, type JsonObject, objectsIn } from '../lib/json.ts'
import type { Base } from '../store/base.ts'
import { extension, extensions, lastDayIn, ownExtension, shortText } from '../store/elements.ts'
import { following } from '../store/following-table.ts'
import { gramsOf } from '../store/index/grams.ts'
import type { Projected, Projection } from '../store/projection.ts'
import { fold, idIn } from '../store/values.ts'
import { periodsOf, type Reported, type StockStatus } from './stock-periods.ts'

const inventoryCode = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-InventoryItem.code'
const systems: Readonly<Record<string, string>> = {
  'http://www.whocc.no/atc': 'ATC',
  'http://www.nlm.nih.gov/research/umls/rxnorm': 'RxNorm',
  'http://snomed.info/sct': 'SNOMED',
}
const statuses: ReadonlySet<unknown> = new Set<StockStatus>(['in_stock', 'low', 'out_of_stock'])
/** A stock of more batches is not listed: each makes a row. */
export const mostBatches = 500

/** @param base address of this server's FHIR endpoint */
export function stockTable(base: Base): Projection {
  return following({ type: 'Basic', table: 'stock_level', rowsOf: change => rowsOf(change, base), insert })
}

type Row = readonly string[]

async function insert(on: Queryable, rows: readonly Row[]): Promise<void> {
  await on.run({
    name: 'stock-level-insert',
    text: `insert into stock_level
        (facility, code_system, code, id, first_day, last_day, quantity, status, nearest_expiry, folded, grams)
      select facility, code_system, code, id, first_day::date, last_day::date, quantity::numeric, status,
        nullif(nearest, '')::date, folded, grams::integer[]
      from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
          $10::text[], $11::text[])
        as row(facility, code_system, code, id, first_day, last_day, quantity, status, nearest, folded, grams)`,
    values: rows[0]!.map((_, column) => textArray(rows.map(row => row[column]!))),
  })
}

function rowsOf({ id, resource }: Projected, base: Base): Row[] {
  if (!resource || !isInventory(resource)) return []
  const concept = extension(resource, inventoryCode, 'valueCodeableConcept')
  if (!isObject(concept)) return []
  const facility = idIn(resource['subject'], 'Organization|Location', base)
  const [coding] = objectsIn(concept['coding'])
  const code = shortText(coding?.['code'])
  const reported = reportedIn(resource)
  if (facility === undefined || code === undefined || reported === undefined) return []
  const system = systems[String(coding?.['system'])] ?? 'other'
  const folded = fold(String(concept['text'] ?? '')).replaceAll('\0', '')
  const grams = `{${gramsOf(folded).join()}}`
  return periodsOf(reported).map(({ firstDay, lastDay, quantity, status, nearestExpiry = '' }) => [
    ...[facility, system, code, id, firstDay, lastDay],
    ...[quantity.toString(), status, nearestExpiry, folded, grams],
  ])
}

/** The second one is what earlier versions wrote: HL7 defines it for R5 only. */
const kindSystems: ReadonlySet<unknown> = new Set([
  'https://health-interop.org/fhir/CodeSystem/basic-kind',
  'http://hl7.org/fhir/fhir-types',
])

function isInventory(resource: JsonObject): boolean {
  const code = resource['code']
  return (
    isObject(code) &&
    objectsIn(code['coding']).some(each => kindSystems.has(each['system']) && each['code'] === 'InventoryItem')
  )
}

function reportedIn(resource: JsonObject): Reported | undefined {
  const amount = (name: string): Decimal | undefined => {
    const quantity = extension(resource, ownExtension(name), 'valueQuantity')
    return isObject(quantity) ? toDecimal(quantity['value']) : undefined
  }
  const quantity = amount('stock-quantity-on-hand')
  const batches = extensions(resource, ownExtension('stock-batch'), 'extension').map(inner => ({ extension: inner }))
  if (quantity === undefined || batches.length > mostBatches) return undefined
  const status = extension(resource, ownExtension('stock-status'), 'valueCode')
  return {
    quantity,
    reorderLevel: amount('stock-reorder-level'),
    status: statuses.has(status) ? (status as StockStatus) : undefined,
    nearestExpiry: lastDayIn(extension(resource, ownExtension('stock-nearest-expiry'), 'valueDate')),
    batches: batches.map(batch => ({
      lastDay: lastDayIn(extension(batch, 'expiry_date', 'valueDate')),
      quantity: toDecimal(extension(batch, 'quantity', 'valueDecimal')) ?? none,
    })),
  }
}

const none = new Decimal(0n, 0)
