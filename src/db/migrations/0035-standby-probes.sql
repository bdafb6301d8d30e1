-- What the service writes to the primary and looks for on each standby that it connects to: one that shows it follows this primary,
-- and is no copy of the cluster with a life of its own. Rows are of use for seconds; older ones are removed with the next.
create table standby_probe (
  probe uuid primary key,
  written_at timestamptz not null default now()
);
