// Checks whether this caller may write a resource that is about no patient. Runs for every write, once its rows are locked.

import { Failure } from '../../lib/failure.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Base } from '../base.ts'
import type { Principal } from '../principal.ts'
import { boundTo, service } from './party.ts'
import { isOwned, isOwnedUnlessPatient, type Named, ownersNamed } from './rules.ts'
import { type Created, entryFor, type Ground, type KnownParty, type Speaker, speakerFor } from './speaking.ts'
import { type Bodies, type Stored, storedAmong } from './stored.ts'

/** A proposed change. */
export interface ProposedChange {
  readonly type: string
  readonly id: string
  /** Absent: it is deleted. */
  readonly resource?: JsonObject
  /** Nothing can be stored under its id. */
  readonly fresh?: boolean
}

interface Claim {
  readonly change: ProposedChange
  readonly former: Stored | undefined
  /** The owners that the new content names. */
  readonly named: readonly Named[]
}

/**
 * @param current what is stored, or was until it was deleted
 * @throws Failure FORBIDDEN if the caller's organisation does not speak for the owner of something that is to be changed, or
 * for an owner that the new content names.
 */
export async function mustSpeakFor(
  session: Ground & { readonly principal: Principal },
  changes: readonly ProposedChange[],
  current: Bodies,
): Promise<void> {
  const organization = boundTo(session.principal.party)
  if (organization === undefined) return
  const asked = changes.filter(({ type }) => isOwned(type))
  if (asked.length === 0) return
  const stored = await storedAmong(session, asked, current)
  const claims = asked.map(
    (change): Claim => ({
      change,
      former: stored.get(`${change.type}/${change.id}`),
      named: change.resource ? ownersNamed(change.resource, change.type, session.base) : [],
    }),
  )
  const others = new Set(claims.flatMap(idsIn).filter(id => id !== organization))
  const speaker = await speakerFor(session, organization, others, createdBy(claims, organization, session.base))
  for (const claim of claims) {
    const failure = refusalOf(claim, speaker, organization)
    if (failure) throw failure
  }
}

const isEntry = ({ type }: ProposedChange): boolean => type === 'Organization' || type === 'Location'

/** All resources whose owners must be read. */
const idsIn = ({ change, former, named }: Claim): string[] => [
  ...[...named, ...(former?.named ?? [])].map(({ id }) => id),
  ...(former?.owner ? [former.owner] : []),
  ...(isEntry(change) && !change.fresh ? [change.id] : []),
]

/** Organisations and locations that come into being, since what else is written may name them. */
function createdBy(claims: readonly Claim[], organization: string, base: Base): Created {
  const created = new Map<string, Omit<KnownParty, 'isRegistered'>>()
  for (const { change, former } of claims)
    if (isEntry(change) && change.resource && !former)
      created.set(change.id, { ...created.get(change.id), ...entryFor(change.resource, organization, base) })
  return created
}

function refusalOf(claim: Claim, speaker: Speaker, own: string): Failure | undefined {
  const { change, former, named } = claim
  const isOver = !change.resource && (!former || former.isDeleted)
  if (isOver) return undefined
  const owner = ownerOf(claim, speaker, own)
  if (owner !== undefined) return belonging(`${change.type}/${change.id}`, owner)
  const other = named.find(each => !speaksFor(speaker, each))
  return other && naming(other, own, speaker)
}

const speaksFor = (speaker: Speaker, { kind, id }: Named): boolean => speaker[kind](id)

/** Returns the owner, as messages name it, if it is another one; undefined otherwise. */
function ownerOf({ change, former }: Claim, speaker: Speaker, own: string): string | undefined {
  const { type, id, fresh } = change
  if (isEntry(change) && !fresh && id !== own) {
    const other = otherUnder(change, former, speaker)
    if (other !== undefined) return other
    // An organisation that has clients owns itself, regardless of who recorded it.
    if (type === 'Organization' && speaker.known(id).isRegistered) return undefined
  }
  if (!former || (type === 'Organization' && id === own)) return undefined
  if (former.named.length > 0) {
    const named = former.named.find(each => !speaksFor(speaker, each))
    return named && called(named, speaker)
  }
  if (former.isPatients && isOwnedUnlessPatient(type)) return undefined
  if (former.owner === null) return 'consent-exempt clients'
  if (former.owner === service) return 'the service itself'
  return speaker.organization(former.owner) ? undefined : `Organization/${former.owner}`
}

/** The owner of what an id stands for already: a facility has one id, and one owner. */
function otherUnder({ type, id }: ProposedChange, former: Stored | undefined, speaker: Speaker): string | undefined {
  const { isRegistered, organization, location } = speaker.known(id)
  const isNew = !former || former.isDeleted
  if (type === 'Organization') {
    if (isRegistered && !speaker.organization(id)) return `Organization/${id}`
    return isNew && location && !speaker.location(id) ? `Location/${id}, which has this id,` : undefined
  }
  const isTaken = isRegistered || organization !== undefined
  return isNew && isTaken && !speaker.organization(id) ? `Organization/${id}` : undefined
}

/** A facility may be either; what is not stored is called as it would be reported. */
function called({ kind, id }: Named, speaker: Speaker): string {
  const { isRegistered, organization, location } = speaker.known(id)
  const isPlace = kind === 'facility' && location && !isRegistered && !organization
  return `${isPlace ? 'Location' : 'Organization'}/${id}`
}

function belonging(name: string, owner: string): Failure {
  return new Failure(
    'FORBIDDEN',
    `${name} belongs to ${owner}: only that owner and consent-exempt clients can change it.`,
  )
}

function naming(named: Named, own: string, speaker: Speaker): Failure {
  const { element } = named
  const message = `${element} names ${called(named, speaker)} as owner, which Organization/${own} does not represent: use Organization/${own}, an organisation that is part of it (Organization.partOf), or a Location that it manages.`
  return new Failure('FORBIDDEN', message, { details: [{ field: element, code: 'forbidden', message }] })
}
