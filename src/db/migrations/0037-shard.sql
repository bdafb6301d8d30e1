-- The key by which an engine can distribute the tables of resources: docs/decisions/0095-shard.md.
--
-- `shard` is one of 1,024 buckets: that of the one patient that a resource is about, or of the resource itself if there is no such
-- patient (src/store/index/shard.ts). A row number holds it in its lowest ten bits, so that the number tells the bucket.
-- All rows of a resource, former versions included, are in one bucket, and every statement that joins two of these tables does so by it.

create sequence resource_number;
select setval('resource_number', (select last_value from resource_key_seq));

-- Where the rows of an id are, also after its deletion. It alone says that an id is given only once.
create table directory (
  key bigint not null,
  type smallint not null,
  shard smallint not null,
  id text collate "C" not null
);

insert into directory
  select s.key * 1024 + b.shard, r.type, b.shard, r.id
  from search s join resource r using (key),
    lateral (select (coalesce(s.patient, case when s.subject in (0, 1) then s.self else s.subject end) & 1023)::smallint as shard) b;

-- What is deleted: by the patient of its last version, or by the hash of its name (src/lib/hash.ts), whose type its last body tells.
insert into directory
  select nextval('resource_number') * 1024 + b.shard, h.type, b.shard, h.id
  from (select distinct on (type, id) type, id, subject from history order by type, id, version desc) h,
    lateral (
      select ('x' || encode(substring(sha256(convert_to(split_part(f.body, '"', 4) || '/' || h.id, 'UTF8')) from 1 for 8), 'hex'))::bit(64)::bigint as self
      from history f where f.type = h.type and f.id = h.id and f.body is not null order by f.version desc limit 1
    ) named,
    lateral (select (case when h.subject in (0, 1) then named.self else h.subject end & 1023)::smallint as shard) b
  where not exists (select from resource r where r.type = h.type and r.id = h.id);

-- What has gone from one bucket to another, since it is about another patient now: exports and other long work that know it by its row
-- number of before find it by this.
create table moved (
  former bigint primary key,
  key bigint not null
);

create unique index directory_id on directory (type, id);
analyze directory;

-- The row numbers of before, each with its new one.
create temporary table renumbered on commit drop as
  select key / 1024 as former, key, shard from directory
  where exists (select from resource r where r.key = directory.key / 1024);
create unique index renumbered_former on renumbered (former);
analyze renumbered;

alter table resource rename to former_resource;
alter table history rename to former_history;
alter table search rename to former_search;
alter table coded rename to former_coded;
alter table span rename to former_span;
alter table word rename to former_word;

create table resource (
  key bigint not null,
  updated_at timestamptz not null,
  version integer not null,
  type smallint not null,            -- 1 + the type's place in the sorted list of R4 resource types
  method smallint not null,          -- how this version came about: 1 POST, 2 PUT, 3 PATCH, 4 DELETE
  shard smallint not null,
  id text collate "C" not null,
  body text not null
);
insert into resource
  select n.key, r.updated_at, r.version, r.type, r.method, n.shard, r.id, r.body from former_resource r join renumbered n on n.former = r.key order by r.key;

create table history (
  updated_at timestamptz not null,
  version integer not null,
  type smallint not null,
  method smallint not null,
  shard smallint not null,
  id text collate "C" not null,
  body text,
  subject bigint not null,
  author bigint not null,
  about bigint[],
  owner text collate "C"
);
insert into history
  select h.updated_at, h.version, h.type, h.method, d.shard, h.id, h.body, h.subject, h.author, h.about, h.owner
  from former_history h join directory d using (type, id);

create table search (
  key bigint not null,
  self bigint not null,              -- hash of 'Type/id'
  patient bigint,                    -- hash of the patient it is about, where the type has exactly one
  date bigint not null,              -- clinical date in ms since 1970, lower bound; -2^53 when there is none
  date_high bigint not null,         -- its upper bound
  subject bigint not null,           -- of whose consent is asked: a patient's hash, 0 none, 1 several or unknown
  author bigint not null,            -- hash of the client that created it, 0 the service
  type smallint not null,
  shard smallint not null,
  tokens bigint[] not null,
  refs bigint[] not null,
  texts bigint[] not null,           -- the words that can be read in it, and each two neighbours
  about bigint[],                    -- with several patients: their hashes
  owner text collate "C"             -- of types that have owners
);
insert into search
  select n.key, s.self, s.patient, s.date, s.date_high, s.subject, s.author, s.type, n.shard, s.tokens, s.refs, s.texts, s.about, s.owner
  from former_search s join renumbered n on n.former = s.key order by s.key;

create table coded (
  posting bigint not null,           -- of the code without its system
  date bigint not null,              -- as in search
  key bigint not null,
  subject bigint not null,           -- as in search
  author bigint not null,            -- as in search
  shard smallint not null
);
insert into coded
  select c.posting, c.date, n.key, c.subject, c.author, n.shard from former_coded c join renumbered n on n.former = c.key order by c.key;

create table span (
  low double precision not null,
  high double precision not null,
  token bigint not null,             -- composite: hash of the other component; else 0
  unit bigint not null,              -- of a quantity: hash of the code above hash of the system, 32 bits each; else 0
  key bigint not null,
  param integer not null,            -- hash of (type, parameter)
  shard smallint not null
);
insert into span
  select s.low, s.high, s.token, s.unit, n.key, s.param, n.shard from former_span s join renumbered n on n.former = s.key order by s.key;

create table word (
  key bigint not null,
  param integer not null,
  shard smallint not null,
  folded text collate "C" not null,
  exact text collate "C" not null
);
insert into word
  select n.key, w.param, n.shard, w.folded, w.exact from former_word w join renumbered n on n.former = w.key order by w.key;

update search_parameter_left_out l set resource = n.key from renumbered n where n.former = l.resource;
update export_slice e set keys = array(select n.key from unnest(e.keys) as k(key) join renumbered n on n.former = k.key);
update export_target t set key = n.key from renumbered n where n.former = t.key;

drop table former_resource;
drop table former_history;
drop table former_search;
drop table former_coded;
drop table former_span;
drop table former_word;
drop function is_latest(smallint, text, integer);

-- A bucket says nothing beyond the patient, the id or the row number that it comes from, and two rows of one number always have the
-- same: the planner is to count on every row for it, in a condition as in a join.
alter table resource alter column shard set (n_distinct = 1), alter column shard set statistics 1;
alter table history alter column shard set (n_distinct = 1), alter column shard set statistics 1;
alter table search alter column shard set (n_distinct = 1), alter column shard set statistics 1;
alter table coded alter column shard set (n_distinct = 1), alter column shard set statistics 1;
alter table span alter column shard set (n_distinct = 1), alter column shard set statistics 1;
alter table word alter column shard set (n_distinct = 1), alter column shard set statistics 1;
alter table directory alter column shard set (n_distinct = 1), alter column shard set statistics 1;

create unique index resource_key on resource (key);
create index resource_updated on resource (type, updated_at desc, key desc);
create unique index history_version on history (type, id, version desc);
create index history_updated on history (type, updated_at desc);
create index history_subject on history (subject, type) where subject not in (0, 1);
create index history_about on history using gin (about) where about is not null;
create index history_author on history (author, type) where author <> 0;
create unique index search_key on search (key);
create index search_self on search (self);
create index search_patient on search (patient, type, date desc, key desc) where patient is not null;
create index search_date on search (type, date desc, key desc) include (subject, author, shard);
create index search_posting on search using gin (tokens, refs) with (fastupdate = on, gin_pending_list_limit = 128);
-- Apart from the postings: words come in greater numbers, and only those who look for them wait for the longer list.
create index search_text on search using gin (texts) with (fastupdate = on, gin_pending_list_limit = 1024);
create index search_subject on search (subject, type) where patient is null and subject not in (0, 1);
create index search_about on search using gin (about) where about is not null;
create index search_author on search (author, type) where author <> 0;
create index coded_newest on coded (posting, date desc, key desc) include (subject, author, shard);
create index span_low on span (param, token, low, key);
create index span_high on span (param, token, high, key);
create index span_key on span (key);
create index word_folded on word (param, folded, key);
create index word_key on word (key);
analyze resource;
analyze history;
analyze search;
analyze coded;
analyze span;
analyze word;
