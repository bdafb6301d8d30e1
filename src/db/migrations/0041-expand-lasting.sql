-- Finds what began long before and lasts, so that a search from a date on need not look for it among everything that is older
-- (docs/decisions/0105-from-a-date-on.md).
create index search_lasting on search (type, date_high) include (date) where date_high - date > 86400000;
