-- The postings that a former version had, so that consents by code open it as they opened it while it was current
-- (docs/decisions/0124-codes-of-former-versions.md). Null: it is from before; consents by code do not open it.
alter table history add column tokens bigint[];
