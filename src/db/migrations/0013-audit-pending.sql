-- What the audit trail has still to tell of changes: a row is written with the changes, in their transaction, and goes with the
-- transaction that adds their rows to the trail. Whatever a crash leaves here is told by the next process that looks.
create table audit_pending (
  id uuid primary key,
  noted_at timestamptz not null default clock_timestamp(), -- or when a process undertook to tell it
  told text not null                 -- JSON: when, who asked, and each access
);
-- Rows live for milliseconds, so the dead are many and the living few.
alter table audit_pending set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000000
);

-- The condition of a group of rows of the trail: its chain is where the process left it, and nobody else has told the changes
-- that it tells. Of a table that is empty most of the time PostgreSQL would think that looking through it is cheapest.
create function audit_settle(heads bigint, notes uuid[]) returns void language plpgsql set enable_seqscan = off as $$
declare
  gone bigint := 0;
begin
  if heads <> 1 then
    raise exception 'the head of the audit chain is not where this process left it' using errcode = 'HI004';
  end if;
  if cardinality(notes) > 0 then
    delete from audit_pending where id = any(notes);
    get diagnostics gone = row_count;
  end if;
  if gone <> cardinality(notes) then
    raise exception 'another process has told some of these changes' using errcode = 'HI003';
  end if;
end $$;
