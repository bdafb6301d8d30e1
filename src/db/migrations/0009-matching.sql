-- Who is registered, as people are found again: worked out from every stored Patient in the transaction that writes it.

-- Those who can be found: of deleted, inactive and merged patients there is no row.
create table person (
  self bigint primary key,              -- hash of 'Patient/id'; hashes are spread evenly, so the first thousand tell how many there are
  patient text collate "C" not null,    -- id of the Patient
  health_id text collate "C",           -- the current one
  features text not null,               -- what is compared, as JSON: src/mpi/matching/person.ts
  postings bigint[] not null            -- of its rows in person_posting
);

-- What they are found by, and counted by: blocking keys, words of names, numbers in the files of organisations.
create table person_posting (
  posting bigint not null,
  self bigint not null,
  primary key (posting, self)
);

-- Every Health ID that a Patient ever held. A row stays when its patient is deleted: it is never given to somebody else.
create table health_id (
  value text collate "C" not null,
  patient text collate "C" not null,
  is_current boolean not null,
  primary key (value, patient)
);
create unique index health_id_current on health_id (value) where is_current;
create index health_id_patient on health_id (patient);

-- Merged patients: Patient.link of type replaced-by.
create table patient_replaced (
  patient text collate "C" primary key,
  by_patient text collate "C" not null
);
