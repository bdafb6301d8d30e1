-- What a client can see that few patients have opened their records to: found from the patients, and from the client.

-- About one patient, though the column `patient` does not say so: the Patient itself, and what names one in another way.
create index search_subject on search (subject, type) where patient is null and subject not in (0, 1);
create index search_about on search using gin (about) where about is not null;
-- Written by a client.
create index search_author on search (author, type) where author <> 0;

-- The keys of what a client wrote of the types; null if it is more than `most`. A client that wrote nothing would wait for the
-- end of the table if that were looked through: one plan for all clients counts on those who wrote a lot.
create function keys_written_by(client bigint, of smallint[], most integer) returns bigint[] language sql stable
  set enable_seqscan = off as $$
    select case when count(*) <= most then coalesce(array_agg(key), '{}') end from (
      select s.key from search s where s.author = client and s.author <> 0 and s.type = any(of) limit most + 1
    ) own
  $$;
