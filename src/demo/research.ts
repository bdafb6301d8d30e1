// A study with a participant, and a measure that facilities report.
import type { JsonObject } from '../lib/json.ts'
import { code, network, own, practitioner, reference, terminology } from './fhir.ts'

const study = 'demo-anaemia-in-pregnancy'

export function demoResearch(): JsonObject[] {
  return [
    {
      resourceType: 'ResearchStudy',
      id: study,
      title: 'Anaemia in pregnancy',
      status: 'active',
      sponsor: reference('Organization', network),
      principalInvestigator: reference('Practitioner', practitioner),
      site: [reference('Location', 'hcy-site')],
    },
    {
      resourceType: 'ResearchSubject',
      id: 'grace-tchoumi-study',
      status: 'on-study',
      period: { start: '2026-08-17' },
      study: reference('ResearchStudy', study),
      individual: reference('Patient', 'grace-tchoumi'),
      consent: reference('Consent', 'grace-tchoumi-consent'),
    },
    {
      resourceType: 'Measure',
      id: 'demo-malaria-confirmed',
      url: `${own}/Measure/malaria-confirmed`,
      name: 'MalariaConfirmed',
      title: 'Confirmed cases of malaria',
      status: 'active',
      scoring: code(`${terminology}/measure-scoring`, 'cohort'),
    },
  ]
}
