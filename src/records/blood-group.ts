// A patient's blood group from laboratory results (LOINC 882-1, or 883-9 with 10331-7).
import type { Caller } from '../access/caller.ts'
import { BloodGroup } from '../shapes/blood-group.ts'
import type { Demographics } from '../shapes/demographics.ts'
import type { Filled } from '../shapes/filled.ts'
import type { RecordsParts, RecordsRequest } from './records.ts'

type Group = Filled<typeof Demographics>['blood_group']

/** ABO and Rh(D) together, ABO, Rh(D). */
const tests = ['882-1', '883-9', '10331-7'].map(code => `http://loinc.org|${code}`).join(',')

/** Statuses of a result that a laboratory has released. */
const released = 'final,amended,corrected'

/** How many results are read: laboratories repeat the test before each transfusion. */
const newest = 20

/**
 * Returns the blood group by the newest results: ABO by the newest that states it, Rh(D) likewise. What no result states is taken from
 * the register, if the register agrees with what is tested; null otherwise.
 * @param registered the group recorded at registration
 */
export async function bloodGroupOf(
  { storeFor, translator }: RecordsParts,
  request: RecordsRequest,
  same: readonly string[],
  registered: Group,
): Promise<Group> {
  const opens = (type: string, interaction: string): boolean => type === 'Observation' && interaction === 's'
  const store = storeFor({ ...request.caller, may: opens } satisfies Caller)
  const query: [string, string][] = [
    ['patient', same.join(',')],
    ['code', tests],
    ['status', released],
    ['_sort', '-date'],
    ['_count', String(newest)],
  ]
  const { matches } = await store.search(store.parse(['Observation'], query, true))
  const context = translator.contextOf(request)
  const results = matches.flatMap(({ body }) => {
    const { record } = translator.fromStored('blood-group-from-fhir', BloodGroup, String(body), context)
    return record ?? []
  })
  const stated = <Name extends keyof BloodGroup>(name: Name) => results.find(each => each[name] !== null)?.[name] ?? ''
  const [abo, rh] = [stated('abo'), stated('rh')]
  if (abo && rh) return `${abo}${rh}` as Group
  const agrees = registered !== null && (abo === '' || registered.slice(0, -1) === abo) && registered.endsWith(rh)
  return agrees ? registered : null
}
