-- Who may ask beside clients: patients with a telephone, users of the portal, and Bridge agents. Of every code, token, session id
-- and key only the SHA-256 is kept: each is random and long enough that nobody finds it by trying.

-- What a facility gives a patient to enrol a telephone with; a new code takes the place of the one before.
create table enrolment_code (
  patient_id text collate "C" primary key, -- id of the Patient
  hash bytea not null,
  tries smallint not null default 0,      -- wrong ones; the fifth ends the code
  created_at timestamptz not null,
  expires_at timestamptz not null
);

create table patient_token (
  hash bytea primary key,
  id text collate "C" not null unique,    -- by which the audit trail tells it
  patient_id text collate "C" not null,  -- both as they were when it was given
  health_id text collate "C" not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index patient_token_patient on patient_token (patient_id);
create index patient_token_expires on patient_token (expires_at);

create table portal_user (
  id text collate "C" primary key,
  email text collate "C" not null unique, -- folded
  hash text not null,                     -- Argon2id of the password, PHC string
  organization_id text collate "C" not null,
  role text not null check (role in ('administrator', 'developer', 'privacy_officer')),
  created_at timestamptz not null default now(),
  disabled_at timestamptz
);

create table portal_session (
  hash bytea primary key,                 -- of the id in the cookie
  id uuid not null unique,                -- by which the audit trail tells it
  user_id text collate "C" not null references portal_user,
  address text collate "C" not null,      -- from which it was begun
  created_at timestamptz not null,
  last_seen_at timestamptz not null,      -- to the minute
  expires_at timestamptz not null
);
create index portal_session_user on portal_session (user_id);
create index portal_session_expires on portal_session (expires_at);

create table bridge_agent (
  id text collate "C" primary key,
  name text not null,
  facility_id text collate "C" not null,
  hash bytea not null,                    -- of its key
  previous_hash bytea,                    -- of the key before, which works until previous_expires_at
  previous_expires_at timestamptz,
  created_at timestamptz not null default now(),
  rotated_at timestamptz,
  revoked_at timestamptz
);
