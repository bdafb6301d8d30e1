// What a patient was before a merge, as the history has it.
import { type JsonObject, parseJson } from '../lib/json.ts'
import type { HistoryPlace } from '../store/history.ts'
import type { Store } from '../store/store.ts'
import { typeNumber } from '../store/type-number.ts'

/** Versions of a page. */
const page = 20

/**
 * Returns the last version of a Patient before its last merge: an empty object if the first version is of after that already, and the
 * Patient itself if there was none.
 * @param isMerged whether a version is of after the merge
 */
export async function beforeMerge(
  service: Store,
  patient: JsonObject,
  isMerged: (version: JsonObject) => boolean,
): Promise<JsonObject> {
  const id = String(patient['id'])
  let wasMerged = false
  for (let after: HistoryPlace | undefined; ; ) {
    const { versions } = await service.history({ type: 'Patient', id, count: page, ...(after ? { after } : {}) })
    for (const { body } of versions.slice(0, page)) {
      if (body === null) continue
      const version = parseJson(body) as JsonObject
      const isAfter = isMerged(version)
      if (wasMerged && !isAfter) return version
      wasMerged ||= isAfter
    }
    if (versions.length <= page) return wasMerged ? {} : patient
    const { updatedAt, version } = versions[page - 1]!
    after = { time: updatedAt.getTime(), type: typeNumber('Patient'), id, version }
  }
}
