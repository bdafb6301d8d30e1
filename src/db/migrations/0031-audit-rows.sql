-- Rows of the audit trail in a third of the bytes (docs/decisions/0081-audit-rows.md). A row holds numbers, and ids in their shortest
-- form; what repeats is said once for a chain. The view audit_event shows every row as it was hashed.
alter table audit_event rename to audit_former;

-- Who asked. The number is the sequence of the first row of the chain that names it.
create table audit_source (
  chain integer not null,
  number integer not null,
  client_id text collate "C" not null,
  organization_id text collate "C" not null,
  token_id text collate "C" not null, -- jti of the access token
  address text collate "C" not null, -- network address of the client
  purpose text collate "C" not null, -- purpose of use, a code of v3-ActReason; else empty, as below
  primary key (chain, number)
);

-- What was done, and how it ended; numbered as above.
create table audit_kind (
  chain integer not null,
  number integer not null,
  action "char" not null,            -- C, R, U, D or E, as in AuditEvent.action
  interaction text collate "C" not null, -- a code of http://hl7.org/fhir/restful-interaction
  outcome smallint not null,         -- 0, 4 or 8, as in AuditEvent.outcome
  problem text collate "C" not null, -- error code of what was refused or failed
  resource_type text collate "C" not null,
  primary key (chain, number)
);

-- Columns are ordered by size, so that none is padded.
create table audit_row (
  chain integer not null,
  sequence integer not null,         -- 1, 2, 3… within the chain
  second integer not null,           -- since 1970, less 2^31
  source integer not null,           -- number in audit_source
  kind integer not null,             -- number in audit_kind
  client_key integer not null,       -- the first four bytes of the SHA-256 of the client's id
  version integer not null,          -- 0: none
  resources integer not null,        -- how many were disclosed or changed
  millisecond smallint not null,
  request bytea not null,            -- id of the request, packed (audit_id)
  resource bytea not null,           -- id of the resource, packed
  query text collate "C" not null,   -- what was asked for, packed: path and parameters
  patients bytea not null,           -- ids, packed: those named, and those of whom something was disclosed or changed
  hash bytea not null,               -- SHA-256 of the hash before and of everything in audit_event: 4 bytes of it, all of each 1,000th
  primary key (chain, sequence) with (fillfactor = 100)
);

-- Ids in their shortest form: UUIDs are 16 bytes each. Others are a text, with spaces between; before a text that has as many bytes as
-- UUIDs would have stands a zero.
create function audit_text(packed bytea) returns text language plpgsql immutable as $$
begin
  return convert_from(case when octet_length(packed) > 0 and get_byte(packed, 0) = 0 then substr(packed, 2) else packed end, 'UTF8');
exception when character_not_in_repertoire or untranslatable_character then
  return encode(packed, 'hex'); -- what the service never wrote: the hash of the row shows it
end $$;

create function audit_id(packed bytea) returns text language sql immutable as $$
  select case octet_length(packed) when 16 then encode(packed, 'hex')::uuid::text when 0 then '' else audit_text(packed) end $$;

create function audit_ids(packed bytea) returns text[] language sql immutable as $$
  select case
    when octet_length(packed) = 0 then '{}'
    when octet_length(packed) = 16 then array[encode(packed, 'hex')::uuid::text]
    when octet_length(packed) % 16 <> 0 then string_to_array(audit_text(packed), ' ')
    else array(select encode(substr(packed, 16 * place + 1, 16), 'hex')::uuid::text from generate_series(0, octet_length(packed) / 16 - 1) place)
  end $$;

-- Each id as it would be packed alone.
create function audit_keys(packed bytea) returns bytea[] language plpgsql immutable as $$
declare
  keys bytea[] := '{}';
  id bytea;
begin
  if octet_length(packed) % 16 = 0 then
    for place in 0 .. octet_length(packed) / 16 - 1 loop
      keys := keys || substr(packed, 16 * place + 1, 16);
    end loop;
    return keys;
  end if;
  if get_byte(packed, 0) = 0 then
    packed := substr(packed, 2);
  end if;
  while octet_length(packed) > 0 loop
    id := case position(' '::bytea in packed) when 0 then packed else substr(packed, 1, position(' '::bytea in packed) - 1) end;
    packed := substr(packed, octet_length(id) + 2);
    keys := keys || case
      when encode(id, 'escape') ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then decode(replace(encode(id, 'escape'), '-', ''), 'hex')
      when octet_length(id) % 16 = 0 then '\x00'::bytea || id
      else id
    end;
  end loop;
  return keys;
end $$;

-- Control characters stand for the first patient (1), the type (2), and what queries often hold (src/audit/packed.ts); a query
-- that has such characters itself has a 3 before it.
create function audit_query(packed text, patients bytea, type text) returns text language plpgsql immutable as $$
declare
  said text := packed;
  part text[];
begin
  if packed !~ E'[\x01-\x1f]' then
    return packed;
  end if;
  if starts_with(packed, E'\x03') then
    return substr(packed, 2);
  end if;
  foreach part slice 1 in array array[
    [E'\x04', 'http%3A%2F%2Fterminology.hl7.org%2FCodeSystem%2F'],
    [E'\x05', 'http%3A%2F%2Fsnomed.info%2Fsct%7C'],
    [E'\x06', 'http%3A%2F%2Floinc.org%7C'],
    [E'\x07', '&_sort=-date'],
    [E'\x08', '&_revinclude='],
    [E'\x0e', '&_include='],
    [E'\x0f', '&category='],
    [E'\x10', '/$everything'],
    [E'\x11', '&status='],
    [E'\x12', '?patient='],
    [E'\x13', '&_count='],
    [E'\x14', '&_sort='],
    [E'\x15', '&date=ge'],
    [E'\x16', '&code='],
    [E'\x17', '&date='],
    [E'\x18', '?code='],
    [E'\x19', '?name='],
    [E'\x1a', '&type='],
    [E'\x1b', '?_id='],
    [E'\x1c', '%3A'],
    [E'\x1d', '%2F'],
    [E'\x1e', '%7C'],
    [E'\x1f', '%2C']
  ] loop
    said := replace(said, part[1], part[2]);
  end loop;
  return replace(replace(said, E'\x02', type), E'\x01', coalesce((audit_ids(patients))[1], ''));
end $$;

create view audit_event as
  select r.chain, r.sequence, to_timestamp(r.second::double precision + 2147483648 + r.millisecond / 1000.0::double precision) as recorded_at,
    k.action, k.interaction, k.outcome, k.problem, s.client_id, s.organization_id, s.token_id, s.address, audit_id(r.request) as request_id,
    k.resource_type, audit_id(r.resource) as resource_id, r.version, audit_query(r.query, r.patients, coalesce(k.resource_type, '')) as query,
    audit_ids(r.patients) as patients, r.resources, s.purpose, r.hash,
    -- By which rows are found and ordered.
    r.second, r.millisecond, r.client_key, r.request, r.resource, r.query as packed_query, r.patients as packed_patients,
    case when octet_length(r.patients) % 16 = 0 and octet_length(r.patients) <= 320 then array_remove(array[
      substr(r.patients, 1, 16), substr(r.patients, 17, 16), substr(r.patients, 33, 16), substr(r.patients, 49, 16), substr(r.patients, 65, 16),
      substr(r.patients, 81, 16), substr(r.patients, 97, 16), substr(r.patients, 113, 16), substr(r.patients, 129, 16), substr(r.patients, 145, 16),
      substr(r.patients, 161, 16), substr(r.patients, 177, 16), substr(r.patients, 193, 16), substr(r.patients, 209, 16), substr(r.patients, 225, 16),
      substr(r.patients, 241, 16), substr(r.patients, 257, 16), substr(r.patients, 273, 16), substr(r.patients, 289, 16), substr(r.patients, 305, 16)], '') else audit_keys(r.patients) end as patient_keys
  from audit_row r
    left join audit_source s on s.chain = r.chain and s.number = r.source
    left join audit_kind k on k.chain = r.chain and k.number = r.kind;

-- What stands in the trail is carried over: the hash of a row is made of the same text as before, so every chain is checked from its
-- beginning to its sealed head as it was, and the anchors of its heads stay good.
insert into audit_source
  select chain, min(sequence), client_id, organization_id, token_id, address, purpose from audit_former
  group by chain, client_id, organization_id, token_id, address, purpose;
insert into audit_kind
  select chain, min(sequence), action, interaction, outcome, problem, resource_type from audit_former
  group by chain, action, interaction, outcome, problem, resource_type;
insert into audit_row
  select f.chain, f.sequence, floor(extract(epoch from f.recorded_at))::bigint - 2147483648, s.number, k.number,
    ('x' || left(encode(sha256(convert_to(f.client_id, 'UTF8')), 'hex'), 8))::bit(32)::integer, f.version, f.resources,
    floor(extract(epoch from f.recorded_at) * 1000)::bigint % 1000,
    case
      when f.request_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then decode(replace(f.request_id, '-', ''), 'hex')
      when octet_length(f.request_id) % 16 = 0 and f.request_id <> '' then '\x00'::bytea || convert_to(f.request_id, 'UTF8')
      else convert_to(f.request_id, 'UTF8')
    end,
    case
      when f.resource_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then decode(replace(f.resource_id, '-', ''), 'hex')
      when octet_length(f.resource_id) % 16 = 0 and f.resource_id <> '' then '\x00'::bytea || convert_to(f.resource_id, 'UTF8')
      else convert_to(f.resource_id, 'UTF8')
    end,
    case when f.query ~ E'[\x01-\x1f]' then E'\x03' || f.query else f.query end,
    case
      when not exists (select from unnest(f.patients) id where id !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')
        then decode(replace(array_to_string(f.patients, ''), '-', ''), 'hex')
      when octet_length(array_to_string(f.patients, ' ')) % 16 = 0 then '\x00'::bytea || convert_to(array_to_string(f.patients, ' '), 'UTF8')
      else convert_to(array_to_string(f.patients, ' '), 'UTF8')
    end,
    case when f.sequence % 1000 = 0 then f.hash else substr(f.hash, 1, 4) end
  from audit_former f
    join audit_source s using (chain, client_id, organization_id, token_id, address, purpose)
    join audit_kind k using (chain, action, interaction, outcome, problem, resource_type)
  order by f.recorded_at, f.chain, f.sequence;

do $$ begin
  if (select count(*) from audit_former) <> (select count(*) from audit_event) or exists (
    select chain, sequence, recorded_at, action, interaction, outcome, problem, client_id, organization_id, token_id, address, request_id,
      resource_type, resource_id, version, query, patients, resources, purpose from audit_former
    except
    select chain, sequence, recorded_at, action, interaction, outcome, problem, client_id, organization_id, token_id, address, request_id,
      resource_type, resource_id, version, query, patients, resources, purpose from audit_event
  ) then
    raise exception 'a row of the audit trail would not be what it was';
  end if;
end $$;

drop table audit_former;

create index audit_row_time on audit_row (second);
create index audit_row_client on audit_row (client_key, second);
create index audit_row_resource on audit_row (hashtext(encode(resource, 'hex')), second) where resource <> '';
-- The keys of the patients as the view has them: what holds up to 20 UUIDs is taken apart without a function in a loop.
create index audit_row_patients on audit_row using gin ((
  case when octet_length(patients) % 16 = 0 and octet_length(patients) <= 320 then array_remove(array[
    substr(patients, 1, 16), substr(patients, 17, 16), substr(patients, 33, 16), substr(patients, 49, 16), substr(patients, 65, 16),
    substr(patients, 81, 16), substr(patients, 97, 16), substr(patients, 113, 16), substr(patients, 129, 16), substr(patients, 145, 16),
    substr(patients, 161, 16), substr(patients, 177, 16), substr(patients, 193, 16), substr(patients, 209, 16), substr(patients, 225, 16),
    substr(patients, 241, 16), substr(patients, 257, 16), substr(patients, 273, 16), substr(patients, 289, 16), substr(patients, 305, 16)], '') else audit_keys(patients) end
)) with (gin_pending_list_limit = 128) where patients <> '';

create trigger audit_row_stays before update or delete or truncate on audit_row
  for each statement execute function audit_refuse();
create trigger audit_source_stays before update or delete or truncate on audit_source
  for each statement execute function audit_refuse();
create trigger audit_kind_stays before update or delete or truncate on audit_kind
  for each statement execute function audit_refuse();
