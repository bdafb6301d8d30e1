// The catalogue of events: each type with its meaning, its schema and an example.
import { describedEvents, exampleEvent } from '../../../events/event-types.ts'
import type { Route } from '../../../http/route.ts'
import { html } from '../html.ts'
import { page } from '../page.ts'
import { tabs } from './parts.ts'

const pretty = (value: unknown): string => JSON.stringify(value, null, 2)

const described = describedEvents().map(({ type, description, schema }) => ({
  ...{ type, description },
  schema: pretty({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema }),
  example: pretty(exampleEvent(type)),
}))

export const eventCatalogue: Route = page({
  path: '/portal/webhooks/events',
  name: 'portalWebhookEvents',
  title: 'webhooks.events',
  roles: ['developer'],
  show(_request, view) {
    const { t } = view
    return html`${tabs(view)}<p>${t('webhooks.events_about')}</p>
${described.map(
  ({
    type,
    description,
    schema,
    example,
  }) => html`<section id="${type}"><h2><code>${type}</code></h2><p lang="en">${description}</p>
<details><summary>${t('webhooks.example', { type })}</summary><pre><code>${example}</code></pre></details>
<details><summary>${t('webhooks.schema', { type })}</summary><pre><code>${schema}</code></pre></details></section>\n`,
)}`
  },
})
