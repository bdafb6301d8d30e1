-- In which stretches of time the request log has a value: a client, an organisation, a route, a status class or an error code. A search
-- of the log walks the stretches of what it asks for, and reads the requests of each by their ids, which are in the order of time. A row
-- stands for all requests of the value in its stretch, where an index of the log would have an entry for each of them.
create table request_value (
  value bigint not null,             -- hash of what it is and its text (src/requests/value.ts)
  stretch bigint not null,           -- milliseconds since 1970 / 4,096: the first bits of the ids of its requests
  primary key (value, stretch)
);
create index request_value_stretch on request_value using brin (stretch) with (autosummarize = on);

insert into request_value
  select distinct ('x' || encode(substring(sha256(convert_to(named.value, 'UTF8')) from 1 for 8), 'hex'))::bit(64)::bigint, r.stretch
  from (
    select distinct ('x' || left(replace(id::text, '-', ''), 9))::bit(36)::bigint as stretch,
      organization_id, client_id, route, error_code, status / 100 as class
    from request_log
  ) r, lateral (
    values ('request organization ' || organization_id), ('request client ' || client_id), ('request route ' || route),
      ('request error ' || error_code), ('request class ' || class), ('request class ' || class || ' ' || organization_id)
  ) as named(value);

-- A request id that the service made is the id of the row.
alter table request_log alter column request_id drop not null;

drop index request_log_organization;
drop index request_log_client;
drop index request_log_route;
drop index request_log_failed;
drop index request_log_error;
