-- FHIR resources: what is stored, what it was before, and what it is found by.

-- The current version of every resource. The body is the final JSON, meta included, and is sent as it stands.
create table resource (
  key bigint generated always as identity primary key,
  updated_at timestamptz not null,
  version integer not null,
  type smallint not null,            -- 1 + the type's place in the sorted list of R4 resource types
  method smallint not null,          -- how this version came about: 1 POST, 2 PUT, 3 PATCH, 4 DELETE
  id text collate "C" not null,
  body text not null
);
create unique index resource_id on resource (type, id);
create index resource_updated on resource (type, updated_at desc, key desc);

-- Superseded versions, and deletions, which have no body.
create table history (
  updated_at timestamptz not null,
  version integer not null,
  type smallint not null,
  method smallint not null,
  id text collate "C" not null,
  body text
);
create unique index history_version on history (type, id, version desc);

-- Passes if no version of the resource is this high already. Read after the resource was put in place, so that nobody else
-- can create it any more, and by a volatile function, which sees what others committed meanwhile.
create function is_latest(of smallint, named text, created integer) returns boolean language plpgsql volatile as $$
begin
  if exists (select from history h where h.type = of and h.id = named and h.version >= created) then
    raise exception 'created and deleted meanwhile' using errcode = 'HI002';
  end if;
  return true;
end $$;
create index history_updated on history (type, updated_at desc);

-- What a resource is found by: one narrow row each. A posting is a 64-bit hash of (type, parameter, value);
-- a reference posting is hash('Patient/1') xor hash(type, parameter), so that SQL can follow it in both directions.
create table search (
  key bigint primary key,
  self bigint not null,              -- hash of 'Type/id'
  patient bigint,                    -- hash of the patient it is about, where the type has exactly one
  date bigint not null,              -- clinical date in ms since 1970, lower bound; -2^53 when there is none
  date_high bigint not null,         -- its upper bound
  type smallint not null,
  tokens bigint[] not null,
  refs bigint[] not null,
  texts bigint[] not null            -- the words that can be read in it, and each two neighbours
);
create index search_self on search (self);
create index search_patient on search (patient, type, date desc, key desc) where patient is not null;
create index search_date on search (type, date desc, key desc);
create index search_posting on search using gin (tokens, refs) with (fastupdate = on, gin_pending_list_limit = 128);
-- Apart from the postings: words come in greater numbers, and only those who look for them wait for the longer list.
create index search_text on search using gin (texts) with (fastupdate = on, gin_pending_list_limit = 1024);

-- The main code of a resource, one row for each coding, in clinical order: the newest of a code is one walk along the index.
create table coded (
  posting bigint not null,           -- of the code without its system
  date bigint not null,              -- as in search
  key bigint not null
);
create index coded_newest on coded (posting, date desc, key desc);

-- Numbers, quantities and further dates (ms since 1970), as the interval that their precision implies.
create table span (
  low double precision not null,
  high double precision not null,
  token bigint not null,             -- composite: hash of the other component; else 0
  unit bigint not null,              -- of a quantity: hash of the code above hash of the system, 32 bits each; else 0
  key bigint not null,
  param integer not null             -- hash of (type, parameter)
);
create index span_low on span (param, token, low, key);
create index span_high on span (param, token, high, key);
create index span_key on span (key);

-- Text, folded (case, accents), one row for each part that is searched apart.
create table word (
  key bigint not null,
  param integer not null,
  folded text collate "C" not null,
  exact text collate "C" not null
);
create index word_folded on word (param, folded, key);
create index word_key on word (key);

-- Every folded string, and every spoken text beside a code, each once: what contains some letters is looked for here,
-- then the rows of word, or the postings, that hold what was found.
create table term (
  posting bigint not null,
  param integer not null,
  folded text collate "C" not null,
  grams integer[] not null           -- its runs of three letters, as numbers
);
create index term_posting on term (param, posting);
create index term_grams on term using gin (grams);
