-- What every statement that writes resources has to know, whichever process sends it.

-- Grows with every change to the search parameters that users define. Whoever indexes resources says which state of them he
-- knows: so no process can write a resource without the parameters that were defined meanwhile.
create sequence index_epoch;
select nextval('index_epoch');

-- The time up to which an export has promised to hold everything. A write that carries an earlier time is run again
-- with a later one, so that no change can slip in behind the promise.
create table write_fence (at timestamptz not null);
insert into write_fence values ('-infinity');

-- Called by every statement that writes, with the epoch that its index rows were worked out in and the earliest time it gives
-- to a version (null: none, in milliseconds). The shared lock keeps the epoch until the transaction ends, and shows to an
-- export that a write is under way that may have looked at the fence before it was raised. A sequence is read as it is, and
-- a volatile function sees what was committed before it took the lock, whenever the statement around it began. Who defines
-- parameters himself may write on in the same transaction: what is stored before a definition is committed is indexed by it
-- afterwards.
create function may_write(epoch bigint, earliest bigint) returns boolean language plpgsql volatile as $$
begin
  perform pg_advisory_xact_lock_shared(1, 2);
  if (select last_value from index_epoch) <> epoch and current_setting('index.is_locked', true) is distinct from 'here' then
    raise exception 'search parameters were defined meanwhile' using errcode = 'HI001';
  end if;
  if exists (select from write_fence where at >= to_timestamp(earliest / 1000.0)) then
    raise exception 'the write is older than an export that has begun' using errcode = 'serialization_failure';
  end if;
  return true;
end $$;
