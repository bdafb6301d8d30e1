-- Who may ask: clients and their secrets, the keys that sign tokens, and what has been revoked or used up.

create table client (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  name text not null,
  scopes text[] not null,
  consent_exempt boolean not null default false,
  jwks jsonb,                        -- public keys for private_key_jwt
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index client_revoked on client (revoked_at) where revoked_at is not null;

-- Up to two of a client live at a time, so that it can change over without a gap.
create table client_secret (
  id bigint generated always as identity primary key,
  client_id text collate "C" not null references client,
  label text,
  hash text not null,                -- Argon2id, PHC string; the secrets of one client share their salt
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz
);
create index client_secret_client on client_secret (client_id);

create table signing_key (
  kid text collate "C" primary key,  -- RFC 7638 thumbprint
  state text not null check (state in ('next', 'active', 'retired')),
  private_key bytea not null,        -- private JWK, AES-256-GCM
  public_jwk jsonb not null,
  created_at timestamptz not null,
  activated_at timestamptz,
  retired_at timestamptz
);
create unique index signing_key_state on signing_key (state) where state <> 'retired';

create table revoked_token (
  jti text collate "C" primary key,
  client_id text collate "C" not null,
  expires_at timestamptz not null,
  revoked_at timestamptz not null default now()
);
create index revoked_token_expires on revoked_token (expires_at);

-- Assertions of private_key_jwt work once.
create table used_assertion (
  client_id text collate "C" not null references client,
  jti text collate "C" not null,
  expires_at timestamptz not null,
  primary key (client_id, jti)
);
create index used_assertion_expires on used_assertion (expires_at);
