-- Who was merged into a patient, and what a consent opens: both are asked for when two patients become one, or two again.
create index patient_replaced_by on patient_replaced (by_patient);
create index consent_grant_consent on consent_grant (consent);
