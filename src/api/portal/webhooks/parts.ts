// What the pages about webhooks work with, and what they show alike.
import type { Database } from '../../../db/database.ts'
import type { Environment } from '../../../lib/config.ts'
import type { DatabaseFor } from '../../../store/principal.ts'
import type { Listed } from '../../../webhooks/endpoints.ts'
import { mostCounted } from '../../../webhooks/endpoints.ts'
import { number } from '../format.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'

export interface WebhookPageParts {
  readonly database: Database
  readonly databaseFor: DatabaseFor
  readonly encryptionKey: Buffer
  readonly environment: Environment
  readonly wakeWebhooks: () => void
  readonly now: () => Date
  /** By which times are shown, by its IANA name. */
  readonly timeZone: string
}

/** Links to the pages of the section, from each of them. */
export function tabs({ t, path }: PageView): Html {
  const all = [
    ['/portal/webhooks', 'webhooks.subscriptions'],
    ['/portal/webhooks/events', 'webhooks.events'],
    ['/portal/webhooks/signature', 'webhooks.signature'],
  ] as const
  return html`<ul class="tabs">${all.map(
    ([to, name]) => html`<li><a href="${to}"${path === to && html` aria-current="page"`}>${t(name)}</a></li>\n`,
  )}</ul>`
}

/** Whether deliveries arrive, in a word. */
export function health({ t }: PageView, { isActive, failures }: Listed): Html {
  if (!isActive) return html`<span class="state failed">${t('webhooks.health.disabled')}</span>`
  return failures > 0
    ? html`<span class="state pending">${t('webhooks.health.failing', { count: failures })}</span>`
    : html`<span class="state done">${t('webhooks.health.active')}</span>`
}

/** How many deliveries wait, which are counted up to a bound. */
export const pending = ({ language }: PageView, { pending: count }: Listed): string =>
  `${number(count, language)}${count >= mostCounted ? '+' : ''}`
