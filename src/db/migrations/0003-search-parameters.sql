-- Search parameters that users of this server defined: one row for each resource type that a SearchParameter is about.
create table search_parameter (
  type smallint not null,            -- the resource type that is searched
  is_ready boolean not null,         -- false while resources stored before it are still being indexed
  key text not null,                 -- what its values are stored under: another one with every change of the definition
  id text collate "C" not null,      -- of the SearchParameter resource
  code text collate "C" not null,
  reached text collate "C" not null, -- resources up to this id are indexed
  primary key (type, code)
);
create index search_parameter_id on search_parameter (id);

-- Grows with every change to the table above. Whoever indexes resources says which state of it he knows: so no process can
-- write a resource without the parameters that were defined meanwhile.
create sequence index_epoch;
select nextval('index_epoch');

-- Passes if the epoch is the current one, and keeps it current until the transaction ends. A sequence is read as it is,
-- not as it was when the statement began. Who defines parameters himself may write on in the same transaction: what is
-- stored before a definition is committed is indexed by it afterwards.
create function index_epoch_is(known bigint) returns boolean language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock_shared(1, 2);
  if (select last_value from index_epoch) <> known and current_setting('index.is_locked', true) is distinct from 'here' then
    raise exception 'search parameters were defined meanwhile' using errcode = 'HI001';
  end if;
  return true;
end $$;
