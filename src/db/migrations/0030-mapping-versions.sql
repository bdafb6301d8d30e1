-- The files of the folder of maps as they were: who saved which text when. One without an author was changed in the folder.
create table mapping_version (
  id bigint generated always as identity primary key,
  name text not null,
  digest bytea not null,
  text text not null,
  saved_at timestamptz not null,
  saved_by text
);
create index mapping_version_name on mapping_version (name, id desc);
