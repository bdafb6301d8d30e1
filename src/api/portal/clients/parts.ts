// What the pages about clients work with, and what they show alike.
import { riskOf, scopes } from '../../../access/scopes.ts'
import type { Database } from '../../../db/database.ts'
import type { Environment } from '../../../lib/config.ts'
import type { Reach } from '../../../outbound/address.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'
import type { TextKey } from '../texts.ts'

export interface ClientPageParts {
  readonly database: Database
  readonly environment: Environment
  /** Which addresses may be called for keys. */
  readonly reach: Reach
  /** By which times are shown, by its IANA name. */
  readonly timeZone: string
}

/** The risk of a scope in words, and in colour. */
export function risk({ t }: PageView, scope: string): Html {
  const level = riskOf(scope)
  return html`<span class="risk ${level.toLowerCase()}">${t(`risk.${level}`)}</span>`
}

/** What a scope opens, in the language of the page. */
export const meaning = ({ t }: PageView, scope: string): string =>
  t(Object.hasOwn(scopes, scope) ? (`scope.${scope}` as TextKey) : 'clients.smart_meaning')

/** Scopes, each with its risk. */
export const scopeList = (view: PageView, held: readonly string[]): Html =>
  html`<ul class="tags">${held.map(each => html`<li><code>${each}</code> ${risk(view, each)}</li>`)}</ul>`
