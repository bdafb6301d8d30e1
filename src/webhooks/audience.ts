// The audience of an event: the clients that may see the version of the resource behind it, and the resource as it is
// now, when the statement runs; for consents and other events between organisations, the organisations named. It is
// checked when the deliveries of an event are created, and again before each one is sent.
import { anyGrant, seenBy } from '../access/consent/visibility.ts'
import { clients } from '../identity/relations.ts'
import { authorsOf, entriesOf, versionsOf } from '../store/relations.ts'

/** The audience of all clients that may see the resource; otherwise a JSON array names the organisations. */
export const readers = '*'

/**
 * Returns what is stored about events, as parts of a statement: `entry`, the current versions; `former`, the versions behind the events
 * that are not current; `registered`, the authors of the patients. It is fetched first: what decides about it joins it in ways that
 * only one server can.
 * @param events a relation with the columns type, resource_id and version
 */
export const storedAbout = (events: string): string => `entry as materialized (
    select * from ${entriesOf(`(select distinct type, resource_id as id from ${events} e)`)} entries
  ), former as materialized (
    select * from ${versionsOf(`(select distinct type, resource_id as id, version from ${events} e)`)} versions
  ), registered as materialized (
    select * from ${authorsOf('array(select subject from entry union select subject from former)')} authors
  )`

/**
 * Joins what decides about an event `e` and an endpoint `p`: the client `c` that the endpoint belongs to; the version
 * of the resource behind the event, after a deletion its mark, and for FHIR subscriptions the current version, since
 * that is sent; and the resource as it is `now`, if that is another version. For statements with the parts of `storedAbout`.
 */
export const audienceOf = `join ${clients} c on c.id = p.client_id
  left join lateral (
    select r.type, r.subject, r.author, r.about, r.tokens from entry r
    where r.type = e.type and r.id = e.resource_id and (r.version = e.version or e.event = '')
    union all
    select h.type, h.subject, h.author, h.about, h.tokens from former h
    where h.type = e.type and h.id = e.resource_id and h.version = e.version and e.event <> ''
  ) source on e.audience = '${readers}' and not c.consent_exempt
  left join lateral (
    select r.type, r.subject, r.author, r.about, r.tokens from entry r
    where r.type = e.type and r.id = e.resource_id and r.version <> e.version and e.event <> ''
  ) now on e.audience = '${readers}' and not c.consent_exempt`

const viewers = { author: 'p.author', organization: 'p.organization' }

/** The condition that the client may receive the event. */
export const mayReceive = `(c.is_active and (p.ends_at is null or p.ends_at > statement_timestamp()) and case
    when c.consent_exempt then true
    when e.audience <> '${readers}' then e.audience::jsonb ? c.organization_id
    else coalesce(${seenBy(viewers, 'source')}, false) and (now.type is null or ${seenBy(viewers, 'now')}) end)`

/**
 * The condition that the client may know the Health ID of the patient: it registered the patient, or the patient has
 * opened something to it.
 */
export const mayKnowPatient = `(c.consent_exempt or e.audience <> '${readers}' or e.patient = ''
    or exists (select 1 from registered t where t.self = source.subject and t.author = p.author) or ${anyGrant('p.organization', 'source.subject')})`
