-- Passes if all rows that were to be changed were still in the version that their writer had looked up.
create function are_current(locked bigint, wanted bigint) returns boolean language plpgsql volatile as $$
begin
  if locked <> wanted then
    raise exception 'changed meanwhile' using errcode = 'HI002';
  end if;
  return true;
end $$;
