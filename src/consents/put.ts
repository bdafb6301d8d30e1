// Stores a new version of a Consent, with a Provenance of its recorder.

import { onBehalfOf } from '../access/caller.ts'
import { Failure } from '../lib/failure.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import type { FindParts } from './find.ts'
import { provenanceOf } from './provenance.ts'
import type { ConsentCall, Subject } from './service.ts'

/**
 * Stores the consent, and its recorder.
 * @param consent with the `meta` of the version that it is made from, if it must still be that one
 * @throws Failure CONFLICT if another client has changed it since, or recorded what it ends
 */
export async function put(
  parts: FindParts,
  request: ConsentCall,
  subject: Subject,
  consent: JsonObject,
  proof?: string,
): Promise<void> {
  const store = parts.storeFor(onBehalfOf(request.caller, { Consent: 'cu', Provenance: 'c' }))
  const from = isObject(consent['meta']) ? Number(consent['meta']['versionId']) : undefined
  const { id, version } = await store
    .update('Consent', String(consent['id']), consent, from === undefined ? {} : { ifMatch: from })
    .catch(error => {
      throw error instanceof Failure && error.code === 'PRECONDITION_FAILED' ? changed(error) : error
    })
  const target = `Consent/${id}/_history/${version}`
  await store.create('Provenance', provenanceOf(request, subject, target, parts.now(), proof))
}

const changed = (cause: Failure): Failure =>
  new Failure('CONFLICT', 'Another request changed the consent at the same time: try again.', { retryAfter: 1, cause })
