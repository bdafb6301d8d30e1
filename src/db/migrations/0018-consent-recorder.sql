-- Whose the rules of a Consent are: the party that put them in force, which may be another than the client that created it.
create table consent_recorder (
  consent text collate "C" primary key,  -- id of the Consent
  party bigint not null,                 -- hash of the client or patient, as `author` holds it; 0: the service itself
  organization bigint not null           -- hash of 'Organization/id' of the client; 0: not known, or none
);

-- What was recorded before belongs to whoever created it. 64-bit hashes are the first eight bytes of SHA-256.
insert into consent_recorder (consent, party, organization)
select r.id, s.author, coalesce(c.organization, 0)
from resource r join search s using (key)
left join (
  select ('x' || left(encode(sha256(convert_to('author ' || id, 'UTF8')), 'hex'), 16))::bit(64)::bigint as author,
    ('x' || left(encode(sha256(convert_to('Organization/' || organization_id, 'UTF8')), 'hex'), 16))::bit(64)::bigint as organization
  from client
) c using (author)
where r.type = 29;  -- Consent
