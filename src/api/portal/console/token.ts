// The form by which a developer gets a short access token of one of the organisation's clients. It is shown once, in the reply; scripts take it
// from there and keep it in memory.

import type { Route } from '../../../http/route.ts'
import { consoleToken, consoleTokenLifetime } from '../../../identity/console-token.ts'
import { Type } from '../../../lib/schema.ts'
import { html } from '../html.ts'
import { action } from '../page.ts'
import type { ConsolePageParts } from './parts.ts'

export const tokenAction = (parts: ConsolePageParts): Route =>
  action({
    path: '/portal/console/token',
    name: 'portalConsoleToken',
    title: 'console.token',
    roles: ['developer'],
    form: Type.Object(
      { client: Type.String({ maxLength: 200 }), scopes: Type.Optional(Type.String({ maxLength: 4000 })) },
      { additionalProperties: false },
    ),
    async act({ path, body: { client, scopes = '' }, caller }, { t }) {
      const by = { user: caller, path }
      const made = await consoleToken(parts, by, client, scopes.split(/[\s,]+/).filter(Boolean))
      return html`<p>${t('console.token_once', { count: consoleTokenLifetime / 60 })}</p>
<dl class="once"><dt>${t('console.token')}</dt><dd><code data-token data-seconds="${consoleTokenLifetime}" data-client="${client}">${made.token}</code></dd>
<dt>${t('console.scopes')}</dt><dd data-scopes>${made.scopes.join(' ')}</dd></dl>
<p><a href="/portal/console">${t('console.title')}</a></p>`
    },
  })
