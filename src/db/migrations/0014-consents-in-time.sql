-- Who was merged into a patient, and what a consent opens: both are asked for when two patients become one, or two again.
create index patient_replaced_by on patient_replaced (by_patient);
create index consent_grant_consent on consent_grant (consent);

-- When something was last taken away from an organisation that consents had opened to it: what it exported before is not
-- handed out any more.
create table consent_narrowed (
  organization bigint primary key,   -- hash of 'Organization/id'
  at timestamptz not null
);
