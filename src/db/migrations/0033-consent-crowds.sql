-- Whose data it is, and who wrote it, beside the dates along which searches walk: a caller that sees by consent passes what it may
-- not see without looking at the resource, and counts by an index alone (docs/decisions/0084-consent-crowds.md).

drop index search_date;
create index search_date on search (type, date desc, key desc) include (subject, author);

alter table coded rename to coded_former;
drop index coded_newest;
create table coded (
  posting bigint not null,           -- of the code without its system
  date bigint not null,              -- as in search
  key bigint not null,
  subject bigint not null,           -- as in search
  author bigint not null             -- as in search
);
insert into coded select c.posting, c.date, c.key, s.subject, s.author from coded_former c join search s using (key);
drop table coded_former;
create index coded_newest on coded (posting, date desc, key desc) include (subject, author);
analyze coded;

-- Grants by what decides for most rows, so that a count reads no grant itself.
create index consent_grant_whole on consent_grant (organization, patient) include (starts_at, ends_at, types, purposes)
  where codes is null and except_codes is null;

create index consent_grant_partial on consent_grant (organization, patient)
  where codes is not null or except_codes is not null or types is not null;

-- The transaction that added a grant: what a sketch of grants may lack (src/store/sketch.ts). Of those before, it is this one.
alter table consent_grant add column added xid8 not null default pg_current_xact_id();
create index consent_grant_added on consent_grant (organization, added);

-- As before, and by the index of authors: the other one has the author, too, and few rows of one are expected soon on any way.
alter function keys_written_by(bigint, smallint[], integer) set enable_indexonlyscan = off;
