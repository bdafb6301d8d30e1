-- Search parameters that users of this server defined: one row for each resource type that a SearchParameter is about.
create table search_parameter (
  type smallint not null,            -- the resource type that is searched
  is_ready boolean not null,         -- false while resources stored before it are still being indexed
  key text not null,                 -- what its values are stored under: another one with every change of the definition
  id text collate "C" not null,      -- of the SearchParameter resource
  code text collate "C" not null,
  reached text collate "C" not null, -- resources up to this id are indexed; then, from '~' on, what contains such resources, by row number
  primary key (type, code)
);
create index search_parameter_id on search_parameter (id);
