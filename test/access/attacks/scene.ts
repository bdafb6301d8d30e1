// The scene of the attacks on what policy keeps shut: a hidden patient, an open one, and what a client wrote itself about both.
import { beforeAll, expect } from 'vitest'
import { mint as mintHealthId } from '../../../src/lib/health-id.ts'
import { healthIdSystem } from '../../api/connect/support.ts'
import { consentOf } from '../../support/consents.ts'
import { type Answer, type CallOptions, creatorBy, fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

export const json = { accept: 'application/json', 'content-type': 'application/json' }
export const patchJson = { accept: 'application/json', 'content-type': 'application/json-patch+json' }
export const declared = { 'x-emergency-access': 'true', 'x-emergency-reason': 'Unconscious after a road accident' }

const every = [
  'system/*.cruds',
  'emergency:access',
  'health_id:verify',
  'consents:read',
  'consents:write',
  'patients:read',
]

export const about = (patient: string) => ({ reference: `Patient/${patient}` })
export const observation = (id: string, patient: string, note: string, more: object = {}) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '718-7' }] },
  subject: about(patient),
  note: [{ text: note }],
  ...more,
})
/** Text that no reply to the clinic may contain. */
export const shut = /"id":"hidden|secret|Philom/
export const named = {
  name: [{ family: 'Ngassamoukoko', given: ['Philomène'] }],
  gender: 'female',
  birthDate: '1987-06-05',
}
export const bundle = (type: string, ...entry: object[]) => ({ resourceType: 'Bundle', type, entry })
export const read = (url: string) => ({ request: { method: 'GET', url } })

/**
 * Starts a service for the test file, and stores before its first test: Patient `hidden` and her Observation, which are open to nobody;
 * Patient `open`, who is open to the clinic; and the clinic's own resources that refer to both.
 */
export function startScene() {
  let service: Service
  const [tokens, healthId] = [new Map<string, string>(), mintHealthId('CM')]
  const call = fhirCaller(() => service)
  const store = creatorBy(call)
  const mint = (clientId: string, organizationId: string, scopes: readonly string[] = every): Promise<string> =>
    service.application.identity.tokens.mint({ clientId, organizationId, consentExempt: false }, scopes)
  const scene = {
    /** A Patient who holds this Health ID. */
    holder: (id: string, of: string) => ({
      resourceType: 'Patient',
      id,
      active: true,
      identifier: [{ use: 'official', system: healthIdSystem(service), value: of }],
    }),
    asClinic: (method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
      call(method, path, { token: scene.clinic, ...options }),
    /** Of the hidden patient. */
    healthId,
    ...{ call, store, mint },
    get service() {
      return service
    },
    /** Token of a client of the organisation `clinic`. */
    get clinic() {
      return tokens.get('clinic')!
    },
    /** Token of another client of the organisation `clinic`. */
    get neighbour() {
      return tokens.get('neighbour')!
    },
    /** Token of a client of the organisation `other`. */
    get stranger() {
      return tokens.get('stranger')!
    },
  }
  beforeAll(async () => {
    service = await startService()
    tokens.set('clinic', await mint('clinic-app', 'clinic'))
    tokens.set('neighbour', await mint('clinic-lab', 'clinic'))
    tokens.set('stranger', await mint('other-app', 'other'))
    await store(
      { resourceType: 'Practitioner', id: 'fouda' },
      {
        ...scene.holder('hidden', healthId),
        ...named,
        generalPractitioner: [{ reference: 'Practitioner/fouda' }],
      },
      observation('hidden-o', 'hidden', 'secret', { performer: [{ reference: 'Practitioner/fouda' }] }),
      { resourceType: 'Patient', id: 'open' },
      observation('open-o', 'open', 'shown'),
      consentOf('open-consent', 'open', 'clinic'),
    )
    for (const body of owned) {
      const { status, text } = await scene.asClinic('PUT', `${body.resourceType}/${body.id}`, { body })
      expect(status, text).toBe(201)
    }
  })
  return scene
}

/** What the clinic writes itself. */
const owned = [
  {
    resourceType: 'List',
    id: 'own-list',
    status: 'current',
    mode: 'working',
    entry: ['Observation/hidden-o', 'Patient/hidden'].map(reference => ({ item: { reference } })),
  },
  {
    resourceType: 'Group',
    id: 'own-group',
    type: 'person',
    actual: true,
    member: [{ entity: about('hidden') }, { entity: about('open') }],
  },
  {
    resourceType: 'Provenance',
    id: 'own-proof',
    target: [{ reference: 'Observation/hidden-o' }],
    recorded: '2026-03-01T10:00:00Z',
    agent: [{ who: about('hidden') }],
  },
  {
    resourceType: 'Task',
    id: 'own-task',
    status: 'requested',
    intent: 'order',
    focus: { reference: 'Observation/hidden-o' },
    for: about('hidden'),
  },
  {
    resourceType: 'Observation',
    id: 'own-o',
    status: 'final',
    code: { text: 'own' },
    subject: about('hidden'),
    hasMember: [{ reference: 'Observation/hidden-o' }],
  },
  {
    resourceType: 'SearchParameter',
    id: 'own-note',
    url: 'http://example.org/own-note',
    name: 'OwnNote',
    status: 'active',
    description: 'x',
    code: 'own-note',
    base: ['Observation'],
    type: 'string',
    expression: 'Observation.note.text',
  },
]
