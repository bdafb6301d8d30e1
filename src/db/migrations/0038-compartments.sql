-- Marks the resources that are in the compartment of some patient by a parameter which the column `patient` does not hold, so that a row of
-- `search` tells it by itself (src/store/index/postings.ts, ofSomePatient): docs/decisions/0097-compartment-posting.md.

create temporary table way on commit drop as
  select type::smallint as type, ('x' || encode(substring(sha256(convert_to(name, 'UTF8')) for 8), 'hex'))::bit(64)::bigint as salt
  from (values
      (1, 'Account.subject'), (3, 'AdverseEvent.subject'), (4, 'AllergyIntolerance.recorder'), (4, 'AllergyIntolerance.asserter'),
      (5, 'Appointment.actor'), (7, 'AuditEvent.patient'), (8, 'Basic.author'), (14, 'CarePlan.performer'), (15, 'CareTeam.participant'),
      (19, 'Claim.payee'), (23, 'Communication.sender'), (23, 'Communication.recipient'), (24, 'CommunicationRequest.sender'),
      (24, 'CommunicationRequest.recipient'), (24, 'CommunicationRequest.requester'), (26, 'Composition.author'),
      (26, 'Composition.attester'), (28, 'Condition.asserter'), (31, 'Coverage.policy-holder'), (31, 'Coverage.subscriber'),
      (31, 'Coverage.payor'), (38, 'DeviceRequest.performer'), (41, 'DocumentManifest.author'), (41, 'DocumentManifest.recipient'),
      (42, 'DocumentReference.author'), (53, 'ExplanationOfBenefit.payee'), (58, 'Group.member'), (67, 'Invoice.recipient'),
      (70, 'List.source'), (76, 'MedicationAdministration.performer'), (77, 'MedicationDispense.receiver'), (96, 'Observation.performer'),
      (106, 'Person.patient'), (110, 'Procedure.performer'), (111, 'Provenance.patient'), (113, 'QuestionnaireResponse.author'),
      (115, 'RequestGroup.participant'), (122, 'Schedule.actor'), (124, 'ServiceRequest.performer'), (139, 'SupplyRequest.subject'),
      (140, 'Task.focus')
  ) as given(type, name);

update search s
  set tokens = s.tokens || ('x' || encode(substring(sha256('in the compartment of a Patient') for 8), 'hex'))::bit(64)::bigint
  where s.type in (select type from way) and exists (
    select 1 from unnest(s.refs) as ref join way on way.type = s.type
    where (ref # way.salt) = s.subject or (ref # way.salt) = any(s.about)
      or exists (select 1 from search p where p.self = (ref # way.salt) and p.type = 103));
