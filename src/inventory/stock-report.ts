// A pharmacy reports its stock: each report replaces the one before of the same facility, code system and code.

import { type Caller, onBehalfOf } from '../access/caller.ts'
import { Failure, type FailureDetail } from '../lib/failure.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Translator } from '../mapping/translator.ts'
import type { Context } from '../shapes/context.ts'
import { createPause } from '../store/pause.ts'
import type { Store } from '../store/store.ts'
import { type Acting, inUnitOfWork } from '../store/unit-of-work.ts'
import { type Facilities, type FacilityParts, ownFacilities } from './facilities.ts'
import { itemsIn, type Sent, type StockItemSent } from './stock-body.ts'
import { lockItems, type StoredStock, storedItems } from './stock-stored.ts'

/** What reporting works with. */
export interface ReportParts extends Acting, FacilityParts {
  readonly translator: Translator
  readonly now: () => Date
}

export interface StockOutcome {
  readonly facility_id: string
  readonly code_system: string
  readonly medication_code: string
  /** stale: what is stored is newer, and stays. */
  readonly status: 'accepted' | 'unchanged' | 'stale'
}

interface Report {
  readonly item: StockItemSent
  /** The value of its identifier. */
  readonly value: string
  readonly resource: JsonObject
}

/**
 * Stores the reports of a body, all or none.
 * @throws Failure VALIDATION_FAILED with the place of everything that is wrong, FORBIDDEN for facilities of others.
 */
export async function reportStock(
  parts: ReportParts,
  request: { readonly body: unknown; readonly caller: Caller; readonly requestId: string },
): Promise<StockOutcome[]> {
  const { caller } = request
  const sent = itemsIn(request.body, parts.now())
  const facilities = await ownFacilities(
    parts,
    caller,
    sent.items.map(item => item.facility_id),
  )
  mustBeOwn(sent.items, sent.place, facilities)
  const context = parts.translator.contextOf(request)
  const store = parts.storeFor(onBehalfOf(caller, { Basic: 'crus' }))
  const reports = await reportsOf({ translator: parts.translator, store, context, facilities }, sent)
  return inUnitOfWork(parts.unitOfWork, caller, within => write(parts, within, reports))
}

function mustBeOwn(items: readonly StockItemSent[], place: (index: number) => string, own: Facilities): void {
  const details = items.flatMap(({ facility_id }, index): FailureDetail[] =>
    own.has(facility_id)
      ? []
      : [{ field: `${place(index)}facility_id`, code: 'forbidden', message: 'is not a facility of your organisation' }],
  )
  if (details.length === 0) return
  throw new Failure(
    'FORBIDDEN',
    `${details[0]!.field} is not a facility of your organisation: report for your organisation, for organisations that are part of it (Organization.partOf), or for locations it manages (Location.managingOrganization).`,
    { details },
  )
}

/** @throws Failure VALIDATION_FAILED naming every item that cannot be written as FHIR. */
async function reportsOf(ground: Ground, { items, place }: Sent): Promise<Report[]> {
  const [reports, details]: [Report[], FailureDetail[]] = [[], []]
  const pause = createPause()
  for (const [index, item] of items.entries()) {
    const made = reportOf(ground, item, place(index))
    if ('resource' in made) reports.push(made)
    else details.push(...made)
    await pause.after(item)
  }
  if (details.length === 0) return reports
  const { field, message } = details[0]!
  throw new Failure('VALIDATION_FAILED', `${field || 'The item'} cannot be converted to FHIR: ${message}.`, { details })
}

/** What it takes to write an item as FHIR. */
interface Ground {
  readonly translator: Translator
  readonly store: Store
  readonly context: Context
  readonly facilities: Facilities
}

/** Returns what is wrong with an item that cannot be written as FHIR. @param place before the name of a field of it */
function reportOf(
  { translator, store, context, facilities }: Ground,
  item: StockItemSent,
  place: string,
): Report | FailureDetail[] {
  const { facility_id, code_system, medication_code } = item
  try {
    const made = translator.toFhir('stock-to-fhir', item as unknown as JsonObject, context)
    const resource = { ...made, subject: { reference: `${facilities.get(facility_id)}/${facility_id}` } }
    const errors = store.validate('Basic', resource).filter(issue => issue.severity === 'error')
    if (errors.length === 0) return { item, value: `${facility_id}|${code_system}|${medication_code}`, resource }
    const field = place.replace(/\.$/, '')
    return errors.map(({ code, diagnostics }) => ({ field, code, message: diagnostics }))
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { details: found = [] } = error.options
    return found.map(each => ({ ...each, field: place + (each.field ?? '') }))
  }
}

async function write(parts: ReportParts, caller: Caller, reports: readonly Report[]): Promise<StockOutcome[]> {
  const system = parts.addresses.base.naming('stock-item')
  const values = reports.map(({ value }) => value)
  await lockItems(caller.within!, system, values)
  const stored = await storedItems(parts, caller, system, values)
  const isStale = reports.map(({ item, value }) => isOlder(item, stored.get(value)))
  const store = parts.storeFor(onBehalfOf(caller, { Basic: 'crus' }))
  const fresh = reports.filter((_, index) => !isStale[index])
  const entries = fresh.map(({ value, resource }) => {
    const id = stored.get(value)?.id
    const about = { fullUrl: undefined, type: 'Basic', query: undefined }
    return id === undefined
      ? { ...about, method: 'POST' as const, id, resource }
      : { ...about, method: 'PUT' as const, id, resource: { ...resource, id } }
  })
  const results = entries.length > 0 ? await store.transaction(entries, async () => undefined) : []
  return reports.map((report, index) => {
    const { facility_id, code_system, medication_code } = report.item
    const result = results[fresh.indexOf(report)]
    const isSame = result !== undefined && 'written' in result && result.written?.outcome === 'unchanged'
    const status = isStale[index] ? 'stale' : isSame ? 'unchanged' : 'accepted'
    return { facility_id, code_system, medication_code, status }
  })
}

const isOlder = (item: StockItemSent, stored: StoredStock | undefined): boolean =>
  stored?.updatedAt !== undefined && Date.parse(item.updated_at) < stored.updatedAt
