// The consents of two patients as the model keeps them, and what each act of a history does to them and is answered.
import { isOpen, openers, type Recorded, type Rule, rulesIn, type Thing } from './decide.ts'
import type { Acting, Step } from './steps.ts'
import { clients } from './steps.ts'
import { type Terms, termsOfType } from './terms.ts'

/** A consent as it stands. */
export interface Kept {
  readonly patient: number
  /** The client that created it, and nobody else of its organisation. */
  readonly creator: string
  /** Who put its rules in force, and the organisation of that party; empty: none. */
  readonly party: string
  readonly organization: string
  readonly status: 'proposed' | 'active' | 'inactive' | 'rejected'
  readonly terms: Terms
  /** Of a consent that Connect wrote. */
  readonly type?: string
}

/** What is answered: one status, or one of several where the model does not say which. */
export interface Expected {
  readonly statuses: readonly number[]
  /** What the world is if the first, second, … of them is answered; `id` is what a reply names. */
  readonly after: readonly ((id: string | undefined) => World)[]
  /** Why a reply that names a consent is wrong; undefined if it is not. */
  readonly wrong?: (id: string) => string | undefined
}

export interface World {
  readonly consents: ReadonlyMap<string, Kept>
  readonly gone: ReadonlySet<string>
  /** The first patient was merged into the second. */
  readonly isMerged: boolean
}

export const beginning: World = { consents: new Map(), gone: new Set(), isMerged: false }

const samePerson = ({ isMerged }: World, one: number, other: number): boolean => isMerged || one === other

const inForce = ({ status, terms }: Kept): Rule[] =>
  status === 'active' ? rulesIn(terms).filter(({ time }) => time !== 'past') : []

/** What everybody recorded about the person. */
const recordedOf = (world: World, patient: number): Recorded[] =>
  [...world.consents.values()]
    .filter(each => samePerson(world, each.patient, patient))
    .flatMap(each => inForce(each).map(rule => ({ rule, party: each.party })))

/** True if a client sees something of a patient by consent. */
export const seesByConsent = (world: World, client: string, patient: number, thing: Thing): boolean =>
  isOpen(recordedOf(world, patient), clients[client]!, thing)

const answered = (status: number, world: World): Expected => ({ statuses: [status], after: [() => world] })

function put(world: World, id: string, kept: Kept): World {
  const gone = new Set(world.gone)
  gone.delete(id)
  return { ...world, gone, consents: new Map(world.consents).set(id, kept) }
}

function drop(world: World, id: string): World {
  const consents = new Map(world.consents)
  consents.delete(id)
  return { ...world, consents, gone: new Set(world.gone).add(id) }
}

const keysOf = (kept: Kept | undefined): Set<string> =>
  new Set(kept ? inForce(kept).map(rule => JSON.stringify([kept.patient, rule])) : [])

/** The consent after a write, with the party whose rules it holds; undefined if the writer may not write it so. */
function guarded(before: Kept | undefined, after: Kept | undefined, by: Acting): Kept | 'gone' | undefined {
  const [was, is] = [keysOf(before), keysOf(after)]
  const isOwn =
    was.size === 0 ||
    by.isExempt ||
    before!.party === by.party ||
    (by.organization !== '' && before!.organization === by.organization)
  const gains = [...is].some(key => !was.has(key))
  if (!isOwn) {
    const rules = inForce(before!)
    if (rules.some(({ effect }) => effect === 'deny') || gains) return undefined
    const lost = rules.filter(rule => !is.has(JSON.stringify([before!.patient, rule])))
    if (lost.some(({ organization }) => organization !== by.organization)) return undefined
  }
  if (!after) return 'gone'
  if (gains) return { ...after, party: by.party, organization: by.organization }
  return before ? { ...after, party: before.party, organization: before.organization } : after
}

const nobodys = { party: '', organization: '' }

/** A consent that a FHIR client writes, or deletes. */
function fhir(world: World, id: string, by: Acting, after: Kept | undefined): Expected {
  const before = world.consents.get(id)
  if (!before && !after) return answered(204, world)
  if (!by.isExempt && before && before.creator !== by.name) return answered(403, world)
  const isForeign = after && rulesIn(after.terms).some(({ organization }) => organization !== by.organization)
  if (!by.isExempt && after?.status === 'active' && isForeign) return answered(403, world)
  const kept = guarded(before, after && { ...after, creator: before?.creator ?? by.name }, by)
  if (kept === undefined) return answered(409, world)
  if (kept === 'gone') return answered(204, drop(world, id))
  return answered(before ? 200 : 201, put(world, id, kept))
}

const sameWords = (one: Kept | undefined, other: Kept): boolean =>
  one !== undefined &&
  one.type === undefined &&
  JSON.stringify([one.patient, one.status, one.terms]) === JSON.stringify([other.patient, other.status, other.terms])

function change(world: World, step: Extract<Step, { act: 'put' }>, by: Acting): Expected {
  const kept: Kept = { ...step, ...nobodys, creator: by.name, status: 'active' }
  const { patient, creator, status, terms } = kept
  const fresh: Kept = { patient, creator, status, terms, ...nobodys }
  const before = world.consents.get(step.id)
  const isAllowed = by.isExempt || before?.creator === by.name
  const isForeign = rulesIn(terms).some(({ organization }) => organization !== by.organization)
  // What is stored already is not written again.
  if (sameWords(before, fresh) && isAllowed && (by.isExempt || !isForeign)) return answered(200, world)
  return fhir(world, step.id, by, fresh)
}

function deactivate(world: World, id: string, by: Acting): Expected {
  const before = world.consents.get(id)
  if (!before) return answered(world.gone.has(id) ? 410 : 404, world)
  if (before.status === 'inactive' && (by.isExempt || before.creator === by.name)) return answered(200, world)
  const kept = fhir(world, id, by, { ...before, status: 'inactive' })
  return kept
}

/** Consents of the person, with their ids. */
const of = (world: World, patient: number): [string, Kept][] =>
  [...world.consents].filter(([, each]) => samePerson(world, each.patient, patient))

const isOver = ({ terms }: Kept): boolean => terms.time === 'past'
const permitsIn = ({ terms }: Kept, organization?: string): boolean =>
  rulesIn(terms).some(
    rule => rule.effect === 'permit' && (organization === undefined || rule.organization === organization),
  )
const isForAlone = ({ terms }: Kept, organization: string): boolean =>
  rulesIn(terms).every(rule => rule.effect === 'deny' || rule.organization === organization)
const isOwn = (kept: Kept, by: Acting): boolean => kept.party === by.party || kept.organization === by.organization

/** Whom a consent that Connect wrote is for. */
const recipient = ({ terms }: Kept): string | undefined => terms.organizations?.[0]

const holder = ({ isMerged }: World, patient: number): number => (isMerged ? 1 : patient)

function ask(world: World, patient: number, type: string, by: Acting): Expected {
  const asked = of(world, patient).filter(
    ([, each]) => each.status === 'proposed' && each.type === type && recipient(each) === by.organization,
  )
  const terms = termsOfType(type, by.organization)
  const kept: Kept = { patient: holder(world, patient), creator: by.name, status: 'proposed', terms, type, ...nobodys }
  return {
    statuses: [202],
    after: [id => (asked.some(([each]) => each === id) ? world : put(world, id!, kept))],
    wrong: id => {
      if (asked.length > 0) return asked.some(([each]) => each === id) ? undefined : 'it was asked for already'
      return world.consents.has(id) ? 'it takes the place of another consent' : undefined
    },
  }
}

/** Where a consent is given: in the place of one of these, or anew. */
function give(
  world: World,
  patient: number,
  id: string,
  type: string,
  by: Acting,
  organization: string,
): World | undefined {
  const before = world.consents.get(id)
  const terms = termsOfType(type, organization)
  const after: Kept = {
    ...{ patient: holder(world, patient), creator: before?.creator ?? by.name, status: 'active' as const },
    ...{ terms, type, ...nobodys },
  }
  const kept = guarded(before, after, by)
  if (kept === undefined || kept === 'gone') return undefined
  // Its time begins anew, so it is another rule than the one before.
  return put(world, id, { ...kept, party: by.party, organization: by.organization })
}

/**
 * True if something that can be seen is seen only with the other consents, by the party's own permission: what merely lifts an
 * older refusal of the party, so that the permission of another counts, opens nothing itself.
 */
function opensMore(world: World, wider: World, patient: number, by: Acting, things: readonly Thing[]): boolean {
  const sees = (where: World, thing: Thing): string[] => openers(recordedOf(where, patient), by.organization, thing)
  return things.some(thing => sees(wider, thing).includes(by.party) && sees(world, thing).length === 0)
}

function grant(world: World, patient: number, type: string, by: Acting, things: readonly Thing[]): Expected {
  const given = (id: string): World => give(world, patient, id, type, by, by.organization) ?? world
  const fresh = given('a new one')
  const isCertain = type === 'emergency_only' || opensMore(world, fresh, patient, by, things)
  return {
    statuses: isCertain ? [201] : [201, 409],
    after: [id => given(id!), () => world],
    wrong: id => {
      const before = world.consents.get(id)
      if (!before) return undefined
      if (!samePerson(world, before.patient, patient)) return 'it is about somebody else'
      if (!isForAlone(before, by.organization)) return 'it takes the place of a consent for others'
      if (before.status === 'active' && !isOwn(before, by)) return 'it takes the place of what another party recorded'
      if (before.type === type || before.type === 'emergency_only') return undefined
      // The whole record without exceptions is what Connect calls full_record.
      return before.type === undefined && type === 'full_record'
        ? undefined
        : 'it takes the place of a consent of another type'
    },
  }
}

/** The terms without an organisation; undefined if they cannot be said without it. */
function withoutOrganization(terms: Terms, organization: string): Terms | undefined {
  const keeps = (each: Terms, isOutermost: boolean): Terms[] | undefined => {
    const organizations = each.organizations?.filter(id => id !== organization)
    if (organizations?.length === 0) return isOutermost ? undefined : []
    const inner = each.exceptions.map(exception => keeps(exception, false))
    return [{ ...each, ...(organizations && { organizations }), exceptions: inner.flatMap(one => one ?? []) }]
  }
  const rest = keeps(terms, true)?.[0]
  if (!rest) return undefined
  const others = (all: Terms): string =>
    JSON.stringify(
      rulesIn(all)
        .filter(rule => rule.organization !== organization)
        .map(rule => JSON.stringify(rule))
        .sort(),
    )
  const permits = rulesIn(rest).some(rule => rule.effect === 'permit' && rule.organization === organization)
  return others(rest) === others(terms) && !permits ? rest : undefined
}

function revoke(world: World, patient: number, by: Acting): Expected {
  const all = of(world, patient).filter(
    ([, each]) => each.status === 'active' && !isOver(each) && permitsIn(each, by.organization),
  )
  if (all.length === 0) return answered(409, world)
  let after = world
  for (const [id, each] of all) {
    const rest = isForAlone(each, by.organization) ? undefined : withoutOrganization(each.terms, by.organization)
    if (!rest && !isForAlone(each, by.organization)) return answered(409, world)
    const kept = guarded(each, rest ? { ...each, terms: rest } : { ...each, status: 'inactive' }, by)
    if (kept === undefined || kept === 'gone') return answered(409, world)
    after = put(after, id, kept)
  }
  return answered(200, after)
}

function deny(world: World, patient: number, by: Acting): Expected {
  const all = of(world, patient).filter(
    ([, each]) => each.status === 'proposed' && permitsOrAsks(each, by.organization),
  )
  if (all.length === 0) return answered(409, world)
  const after = all.reduce((made, [id, each]) => put(made, id, { ...each, status: 'rejected' }), world)
  return answered(200, after)
}

const permitsOrAsks = (kept: Kept, organization: string): boolean =>
  permitsIn(kept, organization) || (kept.type !== undefined && recipient(kept) === organization)

/** What the patient answers by telephone to a consent. */
function phone(world: World, step: Extract<Step, { act: 'phone' }>, by: Acting, things: readonly Thing[]): Expected {
  const [id, kept] = of(world, step.patient)[step.which % Math.max(1, of(world, step.patient).length)] ?? []
  if (id === undefined || !kept) return answered(404, world)
  if (step.answer === 'deny')
    return kept.status === 'proposed'
      ? answered(200, put(world, id, { ...kept, status: 'rejected' }))
      : answered(409, world)
  if (step.answer === 'revoke') {
    const isShownActive =
      kept.status === 'active' && !isOver(kept) && (kept.type !== undefined || permitsSomehow(kept.terms))
    return isShownActive ? answered(200, put(world, id, { ...kept, status: 'inactive' })) : answered(409, world)
  }
  if (kept.status !== 'proposed') return answered(409, world)
  const organization = recipient(kept)!
  let cleared = world
  for (const [other, each] of of(world, step.patient))
    if (each.status === 'active' && each.type === 'emergency_only' && recipient(each) === organization)
      cleared = put(cleared, other, { ...each, status: 'inactive' })
  const given = give(cleared, step.patient, id, kept.type!, by, organization) ?? world
  const isCertain =
    kept.type === 'emergency_only' || opensMore(cleared, given, step.patient, { ...by, organization }, things)
  return { statuses: isCertain ? [200] : [200, 409], after: [() => given, () => world] }
}

/** Refusals without an exception are shown as such. */
const permitsSomehow = (terms: Terms): boolean =>
  terms.effect === 'permit' || terms.exceptions.some(each => permitsSomehow(each))

/** The id of the consent that a telephone answers. */
export const answeredBy = (world: World, patient: number, which: number): string =>
  of(world, patient)[which % Math.max(1, of(world, patient).length)]?.[0] ?? 'none'

/** What a step is answered, and what it makes of the world. */
export function expect(world: World, step: Step, by: Acting, things: readonly Thing[]): Expected {
  switch (step.act) {
    case 'put':
      return change(world, step, by)
    case 'patch':
      return deactivate(world, step.id, by)
    case 'delete':
      return fhir(world, step.id, by, undefined)
    case 'request':
      return ask(world, step.patient, step.type, by)
    case 'grant':
      return grant(world, step.patient, step.type, by, things)
    case 'revoke':
      return revoke(world, step.patient, by)
    case 'deny':
      return deny(world, step.patient, by)
    case 'phone':
      return phone(world, step, by, things)
    case 'merge':
      return world.isMerged ? answered(422, world) : answered(200, { ...world, isMerged: true })
    case 'unmerge':
      return answered(200, { ...world, isMerged: false })
  }
}
