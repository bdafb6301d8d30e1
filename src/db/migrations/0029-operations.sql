-- What administrators look back at: figures of the service by the minute, sizes of the database by the day, and which searches took how
-- long. All are bounded: rows are deleted as new ones come.
create table metric_sample (
  at timestamptz not null,                 -- the minute
  instance text collate "C" not null,      -- one service of one or several processes; several may share a database
  figures jsonb,                           -- null: not measured yet
  primary key (at, instance)
);

create table size_sample (
  day date primary key,
  bytes bigint,                            -- of the database; null: not measured yet
  types jsonb                              -- resources by type, estimated where there are very many
);

create table search_shape (
  day date not null,
  shape text collate "C" not null,         -- the type and the names of the parameters, without values
  count bigint not null,
  total_ms double precision not null,
  max_ms double precision not null,
  primary key (day, shape)
);
