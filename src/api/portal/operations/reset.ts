// The demo data as it was on the first start: a form of services that are no production.

import type { Route } from '../../../http/route.ts'
import { Failure } from '../../../lib/failure.ts'
import { Type } from '../../../lib/schema.ts'
import { number } from '../format.ts'
import { type Html, html } from '../html.ts'
import { action, type PageView } from '../page.ts'
import type { OperationPageParts } from './parts.ts'

export const resetSection = ({ t }: PageView): Html =>
  html`<section><h2>${t('operations.reset')}</h2><p>${t('operations.reset_hint')}</p>
<form method="post" action="/portal/operations/reset" class="fields">
<label class="choice"><input type="checkbox" name="sure" value="yes" required> <span>${t('operations.reset_sure')}</span></label>
<button type="submit">${t('operations.reset')}</button></form></section>`

export const resetRoute = ({ demo, environment }: OperationPageParts): Route =>
  action({
    path: '/portal/operations/reset',
    name: 'portalDemoReset',
    title: 'operations.reset_done',
    roles: ['administrator'],
    form: Type.Object({ sure: Type.Enum(['yes']) }, { additionalProperties: false }),
    async act(_request, { t, language }) {
      if (environment === 'production') throw new Failure('FORBIDDEN', 'There is no demo data in production.')
      const { seeded, patients } = await demo.restore()
      const resources = Object.values(seeded).reduce((total, count) => total + count, 0)
      return html`<p role="status">${t('operations.restored', { count: number(resources, language), patients: number(patients.length, language) })}</p>
<p><a href="/portal/operations">${t('operations.title')}</a></p>`
    },
  })
