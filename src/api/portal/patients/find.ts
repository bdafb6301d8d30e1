// Finds a patient by Health ID: a form, so that no Health ID stands in an address.

import type { Route } from '../../../http/route.ts'
import { Failure } from '../../../lib/failure.ts'
import { parse } from '../../../lib/health-id.ts'
import { Type } from '../../../lib/schema.ts'
import { holderOf } from '../../../mpi/register/health-ids.ts'
import { html } from '../html.ts'
import { action, page } from '../page.ts'
import { knownPatient, type PatientPageParts } from './parts.ts'

const common = { path: '/portal/patients', title: 'patients.title', roles: ['privacy_officer'] } as const

export const patientFindRoutes = (parts: PatientPageParts): Route[] => [
  page({
    ...common,
    name: 'portalPatients',
    show: (_request, { t }) => html`<p>${t('patients.find_hint')}</p>
<form method="post" action="/portal/patients" class="fields">
<label>${t('patients.health_id')} <input name="health_id" required maxlength="100" autocomplete="off" spellcheck="false"></label>
<button type="submit">${t('patients.find')}</button>
</form>`,
  }),
  action({
    ...common,
    name: 'portalPatientFind',
    form: Type.Object({ health_id: Type.String({ minLength: 1, maxLength: 100 }) }, { additionalProperties: false }),
    async act({ body, caller }) {
      const reading = parse(body.health_id)
      // No other Health ID is suggested: it would be that of somebody about whom nothing was asked.
      if (!('healthId' in reading))
        throw new Failure('INVALID_HEALTH_ID', 'This is not a valid Health ID: compare it with the card.')
      const holder = await holderOf(parts.databaseFor(caller), reading.healthId)
      const query = `portal/patients?health_id=${reading.healthId}`
      return { to: `/portal/patients/${await knownPatient(parts, caller, holder?.patient, query)}` }
    },
  }),
]
