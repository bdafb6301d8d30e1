-- Where a client publishes the keys that its assertions are signed with (private_key_jwt), instead of having them stored here.
alter table client add column jwks_url text;
alter table client add constraint client_keys_one_way check (jwks is null or jwks_url is null);
