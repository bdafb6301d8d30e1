-- What a client wrote is found by a part of the statement that asks for it: a function that reads tables cannot be called where rows are
-- read from several nodes (docs/decisions/0092-portable-statements.md).
drop function keys_written_by(bigint, smallint[], integer);
