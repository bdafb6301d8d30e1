// Bounds the Consents that one client writes about one patient, in the transaction of every write and for every interface: the
// patient has to find the others among them, and each is read when another one changes.

import { int8Array } from '../../db/arrays.ts'
import type { Queryable } from '../../db/statement.ts'
import { Failure } from '../../lib/failure.ts'
import { hash64 } from '../../lib/hash.ts'
import { isObject } from '../../lib/json.ts'
import { authorHash } from '../../store/author.ts'
import type { Base } from '../../store/base.ts'
import type { Projected, Writer } from '../../store/projection.ts'
import { aboutPatient } from '../../store/relations.ts'
import { typeNumber } from '../../store/type-number.ts'
import { patientIn } from './rules.ts'

/** Most Consents of one client about one patient: requested or in force, and all of them. */
const most = { open: 100, all: 1000 }

/**
 * Checks the Consents that have just been created. The patient, exempt clients and the service itself have no bound, and what exists
 * can always be changed.
 * @throws Failure CONFLICT if the writer has too many about one patient
 */
export async function mustBeFew(
  on: Queryable,
  written: readonly Projected[],
  { author, party }: Writer,
  base: Base,
): Promise<void> {
  if (party.ends !== undefined) return
  const patients = new Set(written.filter(isCreated).flatMap(({ resource }) => patientIn(resource!, base) ?? []))
  if (patients.size === 0) return
  const rows = await on.query<{ open: number; all: number }>({
    name: 'consents-counted',
    text: `select max(of_patient.open)::integer as open, max(of_patient.all)::integer as all from (
        select count(*) as all, count(*) filter (where c.body::json ->> 'status' in ('draft', 'proposed', 'active')) as open
        from ${aboutPatient} c where c.patient = any($1::bigint[]) and c.type = ${typeNumber('Consent')} and c.author = ($2::bigint[])[1]
        group by c.patient) of_patient`,
    values: [int8Array([...patients].map(id => hash64(`Patient/${id}`))), int8Array([authorHash(author)])],
  })
  const { open, all } = rows[0]!
  if (open > most.open)
    throw tooMany(`${most.open} Consents of one patient that are requested or in force: end those that no longer apply`)
  if (all > most.all)
    throw tooMany(`${most.all} Consents of one patient: change one of them, or ask the record-keeping system`)
}

const isCreated = ({ resource }: Projected): boolean =>
  resource !== undefined && isObject(resource['meta']) && resource['meta']['versionId'] === '1'

const tooMany = (rest: string): Failure =>
  new Failure('CONFLICT', `A client can have at most ${rest}.`, { isFinal: true, issue: 'too-costly' })
