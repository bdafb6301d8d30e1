-- Who owns what is about nobody.

-- The organisation whose client created the resource; '': the service itself, or a package that it loaded; null: a client that is
-- exempt from consent, or a type that has no owners (store/owners/rules.ts). What the resource itself names comes first.
alter table search add column owner text collate "C";
-- The same of each version that is over, so that what was deleted keeps its owner.
alter table history add column owner text collate "C";

-- What was written before: types are numbers in the sorted list of those of R4. A client that is not known any more counts as exempt.
create temporary table owned on commit drop as
  select unnest(array[2, 8, 9, 10, 12, 13, 16, 18, 22, 25, 27, 30, 35, 36, 37, 43, 45, 47, 49, 50, 51, 52, 57, 58, 59, 60, 65, 66, 68, 69, 71, 72, 75,
    78, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 94, 97, 98, 99, 100, 101, 102, 104, 105, 107, 108, 109, 112, 116, 117, 118, 121,
    122, 123, 125, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 141, 142, 143, 144, 145]::smallint[]) as type;
create temporary table author on commit drop as
  select ('x' || encode(substring(sha256(convert_to('author ' || id, 'UTF8')) for 8), 'hex'))::bit(64)::bigint as author,
    organization_id as owner
  from client where not consent_exempt
  union all select 0, '';
update search s set owner = author.owner from owned, author where s.type = owned.type and s.author = author.author;
update history h set owner = author.owner from owned, author where h.type = owned.type and h.author = author.author;

-- Which organisations have clients.
create index client_organization on client (organization_id);
