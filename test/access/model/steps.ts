// What may happen in a history, and who does it.
import type { Random } from '../../support/random.ts'
import { named, termsBy } from './random-terms.ts'
import type { Terms } from './terms.ts'

/** Clients by the organisation of each; the keeper is the record-keeping system, whom consent does not filter. */
export const clients: Readonly<Record<string, string>> = {
  keeper: 'keeper',
  a1: 'clinic-a',
  a2: 'clinic-a',
  b1: 'clinic-b',
}
/** Those who see by consent. */
export const viewers = ['a1', 'a2', 'b1'] as const
const organizations = ['clinic-a', 'clinic-b'] as const

/** Who acts, as the rules know parties. */
export interface Acting {
  readonly name: string
  readonly party: string
  /** Empty: none. */
  readonly organization: string
  /** May end whatever it is. */
  readonly isExempt: boolean
}

export const actingAs = (name: string): Acting =>
  name === 'phone'
    ? { name, party: name, organization: '', isExempt: true }
    : { name, party: name, organization: clients[name]!, isExempt: name === 'keeper' }

/** How a FHIR request comes. */
export type Way = 'alone' | 'transaction' | 'batch' | 'conditional'

export type Step = { readonly by: string; readonly patient: number } & (
  | { readonly act: 'put'; readonly id: string; readonly terms: Terms; readonly way: Way }
  | { readonly act: 'patch' | 'delete'; readonly id: string; readonly way: Way }
  | { readonly act: 'request' | 'grant'; readonly type: string }
  | { readonly act: 'revoke' | 'deny' | 'merge' | 'unmerge' }
  | { readonly act: 'phone'; readonly answer: 'grant' | 'deny' | 'revoke'; readonly which: number }
)

const types = ['full_record', 'full_record', 'diagnoses', 'lab_results', 'emergency_only'] as const
const ways = ['alone', 'alone', 'transaction', 'batch', 'conditional'] as const

/** A history: consents have ids `c0`, `c1`, … or those that the service gives them. */
export const historyBy = (random: Random, length: number): Step[] => Array.from({ length }, () => stepBy(random))

function stepBy(random: Random): Step {
  const patient = random.chance(75) ? 0 : 1
  const by = random.pick(['keeper', 'keeper', ...viewers])
  const clinic = random.pick(viewers)
  const id = `c${random.below(3)}`
  const way = random.pick(ways)
  const kind = random.below(100)
  if (kind < 34) return { act: 'put', by, patient, id, way, terms: termsFor(random, by) }
  if (kind < 40) return { act: 'patch', by, patient, id, way: way === 'batch' ? 'alone' : way }
  if (kind < 46) return { act: 'delete', by, patient, id, way }
  if (kind < 61) return { act: 'grant', by: clinic, patient, type: random.pick(types) }
  if (kind < 75) return { act: 'revoke', by: clinic, patient }
  if (kind < 82) return { act: 'request', by: clinic, patient, type: random.pick(types) }
  if (kind < 84) return { act: 'deny', by: clinic, patient }
  if (kind < 93)
    return {
      act: 'phone',
      by: 'phone',
      patient: 0,
      answer: random.pick(['grant', 'grant', 'deny', 'revoke', 'revoke']),
      which: random.below(4),
    }
  return { act: random.chance(65) ? 'merge' : 'unmerge', by: 'keeper', patient: 0 }
}

/** Mostly what the client may write. */
function termsFor(random: Random, by: string): Terms {
  const isForeign = by === 'keeper' || random.chance(15)
  const about = isForeign ? organizations : [clients[by]!]
  return named(termsBy(random, about, !isForeign), about)
}
