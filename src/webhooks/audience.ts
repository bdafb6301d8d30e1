// Who is told of an event: whoever could see the resource that tells it, at the moment in which the statement runs; of consents, and
// of what else is between organisations, those that it names. Asked when it is decided who gets an event, and again whenever it is sent.
import { seenBy } from '../policy/consent/visibility.ts'

/**
 * Joins what decides about an event `e` and an endpoint `p`: the client `c` that the endpoint belongs to, and of the resource whose
 * it is; after a deletion, whose it was.
 */
export const audienceOf = `join client c on c.id = p.client_id
  left join lateral (
    select * from (
      select 1 as place, s.type, s.subject, s.author, s.about, s.tokens from resource r join search s using (key)
      where r.type = e.type and r.id = e.resource_id
      union all
      (select 2, h.type, h.subject, h.author, h.about, '{}'::bigint[] from history h
      where h.type = e.type and h.id = e.resource_id order by h.version desc limit 1)
    ) either order by place limit 1
  ) s on e.audience = '' and not c.consent_exempt`

/** The condition that the client may be told. */
export const mayBeTold = `(c.revoked_at is null and case
    when c.consent_exempt then true
    when e.audience <> '' then c.organization_id = any(string_to_array(e.audience, E'\\n'))
    else coalesce(${seenBy({ author: 'p.author', organization: 'p.organization' }, 's')}, false) end)`
