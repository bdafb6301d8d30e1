// What a consent opens, by its type and the requested scopes: the input of the map that writes it as FHIR.

import { resourceTypes } from '../../definitions/r4.ts'
import type { ConsentTypes } from '../../shapes/consent-types.ts'
import { typesOpenedBy } from '../scopes.ts'

/** Members of a map's context. */
export interface Opening {
  readonly consent_opens: 'everything' | 'parts' | 'nothing' | 'emergencies'
  readonly resource_types?: string[]
  readonly observation_categories?: string[]
}

/**
 * Returns what a consent opens. Scopes narrow a type that opens everything; scopes without read access open nothing. A
 * type that is unknown, or no longer known, opens nothing; no type stands for the whole record.
 */
export function opens(types: ConsentTypes, consentType: string | undefined, scopes: readonly string[]): Opening {
  const type = consentType === undefined ? undefined : types.types.get(consentType)
  if (type?.isForEmergencies) return { consent_opens: 'emergencies' }
  if (consentType !== undefined && !type) return { consent_opens: 'nothing' }
  const named = typesOpenedBy(scopes)
  const narrowed = scopes.length > 0 && named.length < resourceTypes.length ? named : undefined
  const opened = type?.resourceTypes ?? narrowed
  if (opened === undefined) return { consent_opens: 'everything' }
  if (opened.length === 0 || narrowed?.length === 0) return { consent_opens: 'nothing' }
  const categories = type?.categories ?? []
  return {
    consent_opens: 'parts',
    resource_types: [...opened],
    ...(categories.length > 0 && { observation_categories: [...categories] }),
  }
}
