// Why a client may not see a patient's data: consent was never requested, was refused or revoked, or has expired.
import type { Queryable } from '../../db/statement.ts'
import { Failure } from '../../lib/failure.ts'
import { isObject, type JsonObject, parseJson } from '../../lib/json.ts'
import { nowhere } from '../../store/base.ts'
import { aboutPatient } from '../../store/relations.ts'
import { typeNumber } from '../../store/type-number.ts'
import { objects } from '../../store/values.ts'
import { rulesOf } from './rules.ts'

const endReason = 'https://health-interop.org/fhir/StructureDefinition/consent-end-reason'

/** Returns the failure for a client to which the patient's consents do not open the data. @param subject hash of the patient */
export async function refusal(on: Queryable, subject: bigint, organizationId: string): Promise<Failure> {
  const consents = await on.query<{ body: string }>({
    name: 'consent-why',
    text: `select c.body from ${aboutPatient} c
      where c.patient = $1::bigint and c.type = ${typeNumber('Consent')} order by c.updated_at desc limit 100`,
    values: [subject],
  })
  const own = consents
    .map(({ body }) => parseJson(body) as JsonObject)
    .filter(consent => isFor(consent, `Organization/${organizationId}`))
  const [latest] = own
  return latest === undefined ? required() : failureOf(latest)
}

const isFor = (consent: JsonObject, organization: string): boolean =>
  objects(isObject(consent['provision']) && consent['provision']['actor']).some(
    ({ reference }) => isObject(reference) && String(reference['reference']).endsWith(organization),
  )

const remedy = "request the patient's consent, or declare an emergency if the patient's life depends on it"

const required = (): Failure =>
  new Failure('CONSENT_REQUIRED', `The patient has not consented to access by this organisation: ${remedy}.`)

function failureOf(consent: JsonObject): Failure {
  const reason = objects(consent['extension']).find(({ url }) => url === endReason)?.['valueCode']
  if (consent['status'] === 'inactive' && reason === 'revoked')
    return new Failure('CONSENT_REVOKED', `The patient has revoked the consent: ${remedy}.`)
  if ((consent['status'] === 'inactive' && reason === 'expired') || isOver(consent))
    return new Failure('CONSENT_EXPIRED', `The consent has expired: ${remedy}.`)
  return required()
}

function isOver(consent: JsonObject): boolean {
  const permits = rulesOf(consent, nowhere).filter(({ effect }) => effect === 'permit')
  return permits.length > 0 && permits.every(({ until }) => until <= Date.now())
}
