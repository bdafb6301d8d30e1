// To whom a Consent permits something, or would if it were in force: pure.
import type { JsonObject } from '../../lib/json.ts'
import type { Base } from '../../store/base.ts'
import { type Rule, rulesOf } from './rules.ts'

/** Returns the rules that a Consent has if it is in force; requested and ended ones count as if they were. */
export const rulesWhere = (consent: JsonObject, base: Base): Rule[] => rulesOf({ ...consent, status: 'active' }, base)

/** True for a rule that permits something to the organisation (id). */
export const isPermissionOf =
  (id: string) =>
  ({ effect, organization }: Rule): boolean =>
    effect === 'permit' && organization === `Organization/${id}`

/**
 * Returns true if the Consent permits, permitted or is to permit something to the organisation (id). @param base
 * address of this server's FHIR endpoint
 */
export const permits = (consent: JsonObject, organization: string, base: Base): boolean =>
  rulesWhere(consent, base).some(isPermissionOf(organization))
