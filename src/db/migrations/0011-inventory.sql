-- Tables that follow resources: what pharmacies have, what blood banks can give out, what was paid.

-- The stock of a medicine at a facility (Basic with the code InventoryItem), one row for each time in which none of its batches
-- expires. What there is and how much that is changes with the calendar alone, so all of it is worked out when it is written.
create table stock_level (
  facility text collate "C" not null,
  code_system text collate "C" not null,  -- ATC, RxNorm, SNOMED or other
  code text collate "C" not null,
  id text collate "C" not null,           -- of the Basic
  first_day date not null,                -- the days on which it holds, in the time zone of the service
  last_day date not null,
  quantity numeric not null,
  status text collate "C" not null,       -- in_stock, low or out_of_stock
  nearest_expiry date,
  folded text collate "C" not null,       -- the name without case and accents
  grams integer[] not null                -- its runs of three letters, as numbers
);
create index stock_level_place on stock_level (facility, code_system, code, id);
create index stock_level_code on stock_level (code, facility, code_system, id);
create index stock_level_status on stock_level (status, facility, code_system, code, id);
create index stock_level_expiry on stock_level (nearest_expiry) where nearest_expiry is not null;
create index stock_level_grams on stock_level using gin (grams) with (fastupdate = on, gin_pending_list_limit = 128);
create index stock_level_id on stock_level (id);

-- The units of blood that can be given out until they expire; of all others there is no row.
create table blood_unit (
  id text collate "C" not null,           -- of the BiologicallyDerivedProduct
  facility text collate "C" not null,
  blood_group text collate "C" not null,
  component text collate "C" not null,
  is_reserved boolean not null,
  expires_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index blood_unit_id on blood_unit (id);
-- Counted along the index alone, in its order, so that nothing has to be sorted or hashed.
create index blood_unit_kind on blood_unit (facility, blood_group, component, is_reserved, expires_at)
  include (updated_at);

-- What was paid to an organisation (PaymentReconciliation), unless it was cancelled or entered in error.
create table payment (
  id text collate "C" not null,
  organization text collate "C" not null, -- id of the Organization whose books it belongs to
  paid_at timestamptz not null,
  currency text collate "C" not null,
  amount numeric not null,
  fee numeric not null,                   -- 0 where none is known
  status text collate "C" not null        -- matched, unmatched or disputed
);
create unique index payment_id on payment (id);
create index payment_day on payment (organization, paid_at, id) include (currency, amount, fee, status);
