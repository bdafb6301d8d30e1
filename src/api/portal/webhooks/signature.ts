// The signature debugger: what somebody has of a delivery, and why its signatures match or do not. Nothing of it is kept.

import type { Route } from '../../../http/route.ts'
import { Type } from '../../../lib/schema.ts'
import { type Examined, examine } from '../../../outbound/examine.ts'
import { duration } from '../format.ts'
import { type Html, html } from '../html.ts'
import { action, type PageView, page } from '../page.ts'
import { tabs, type WebhookPageParts } from './parts.ts'

const common = {
  path: '/portal/webhooks/signature',
  title: 'webhooks.signature',
  roles: ['developer'],
} as const

export const signatureRoutes = ({ now }: Pick<WebhookPageParts, 'now'>): Route[] => [
  page({
    ...common,
    name: 'portalWebhookSignature',
    show: (_request, view) => html`${tabs(view)}${form(view, { headers: '', body: '' })}`,
  }),
  action({
    ...common,
    name: 'portalWebhookSignatureCheck',
    form: Type.Object(
      {
        headers: Type.String({ maxLength: 20_000 }),
        body: Type.String({ maxLength: 200_000 }),
        secret: Type.String({ maxLength: 500 }),
      },
      { additionalProperties: false },
    ),
    async act({ body: given }, view) {
      const found = examine({ ...given, now: now().getTime() })
      return html`${tabs(view)}<section class="findings" aria-live="polite"><h2>${view.t('signature.findings')}</h2>
${found.map(each => finding(view, each))}</section>${form(view, given)}`
    },
  }),
]

const tones: Partial<Record<Examined['verdict'], string>> = { valid: 'done', 'too-old': 'pending', missing: 'pending' }

function finding({ t, language }: PageView, { scheme, verdict, place, count, age }: Examined): Html {
  return html`<h3>${t(`signature.scheme.${scheme}`)}</h3>
<p><span class="state ${tones[verdict] ?? 'failed'}">${t(`signature.${verdict === 'valid' ? 'right' : 'not_right'}`)}</span> ${t(`signature.verdict.${verdict}`)}</p>
<p>${place !== undefined && t('signature.place', { place, total: count })}
${age !== undefined && t(age < 0 ? 'signature.ahead' : 'signature.age', { time: duration(Math.abs(age), language) })}</p>`
}

/** The secret does not come back with the page. A text area swallows its first line end. */
function form({ t }: PageView, { headers, body }: { readonly headers: string; readonly body: string }): Html {
  return html`<p>${t('signature.about')}</p>
<form method="post" action="/portal/webhooks/signature" class="fields wide" autocomplete="off">
<label>${t('signature.headers')} <textarea name="headers" rows="5" maxlength="20000" spellcheck="false" required>
${headers}</textarea> <small>X-Service-Signature, webhook-id, webhook-timestamp, webhook-signature</small></label>
<label>${t('signature.body')} <textarea name="body" rows="8" maxlength="200000" spellcheck="false" required>
${body}</textarea> <small>${t('signature.body_hint')}</small></label>
<label>${t('signature.secret')} <input name="secret" type="password" autocomplete="off" maxlength="500" required placeholder="whsec_"></label>
<button type="submit">${t('signature.check')}</button></form>`
}
