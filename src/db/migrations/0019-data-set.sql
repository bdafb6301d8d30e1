-- What this data set is called, wherever it is served: docs/architecture.md, "The identity of a data set".

-- One row, made by the first start.
create table data_set (
  is_only boolean primary key default true check (is_only),
  origin text collate "C" not null,  -- what the systems of its identifiers begin with
  issuer text collate "C",           -- iss and aud of its tokens; null until the service has been started
  made_at timestamptz not null default now()
);

-- Where it is or was served, without trailing slash. Rows are only added.
create table data_set_address (
  address text collate "C" primary key,
  is_settled boolean not null,       -- what was stored before is indexed with it
  added_at timestamptz not null default now()
);

create function data_set_stays() returns trigger language plpgsql as $$
begin
  raise exception 'the origin and the addresses of a data set are never taken away' using errcode = 'insufficient_privilege';
end $$;

create function data_set_origin_stays() returns trigger language plpgsql as $$
begin
  if new.origin <> old.origin then
    raise exception 'the origin of a data set never changes' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;

create trigger data_set_stays before delete or truncate on data_set for each statement execute function data_set_stays();
create trigger data_set_address_stays before delete or truncate on data_set_address
  for each statement execute function data_set_stays();
create trigger data_set_origin_stays before update on data_set for each row execute function data_set_origin_stays();
