// A user of the portal in a test: signs in as a browser does, and asks for pages.
import type { Role } from '../../src/access/caller.ts'
import { createUser } from '../../src/identity/users.ts'
import { randomText } from '../../src/lib/ids.ts'
import type { Service } from './service.ts'

interface PageAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export interface PortalUser {
  readonly email: string
  readonly password: string
  readonly cookie: string
  get(path: string, headers?: Record<string, string>): Promise<PageAnswer>
  /** Sends a form, as a page of the portal does. */
  post(
    path: string,
    fields?: Record<string, string> | URLSearchParams,
    headers?: Record<string, string>,
  ): Promise<PageAnswer>
}

/** Asks for a page without following where it leads. */
export async function ask(url: string, init: RequestInit = {}): Promise<PageAnswer> {
  const answer = await fetch(url, { redirect: 'manual', ...init })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

/** Creates a user and signs in. */
export async function portalUser(
  service: Service,
  roles: readonly Role[],
  organizationId = 'hospital-a',
): Promise<PortalUser> {
  const email = `${randomText(30).toLowerCase()}@hospital.example`
  const { password } = await createUser(service.application.database, { email, organizationId, roles })
  const post = (path: string, fields: Record<string, string> | URLSearchParams, headers: Record<string, string>) =>
    ask(service.url + path, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { origin: service.url, ...headers },
    })
  const { headers } = await post('/portal/sign-in', { email, password }, {})
  const cookie = /^service_session=[^;]+/.exec(headers.get('set-cookie') ?? '')![0]
  return {
    ...{ email, password, cookie },
    get: (path, more = {}) => ask(service.url + path, { headers: { cookie, ...more } }),
    post: (path, fields = {}, more = {}) => post(path, fields, { cookie, ...more }),
  }
}

/** The fields of the forms of a page as a browser reads them: text areas and hidden ones. */
export function fieldsIn(text: string): Record<string, string> {
  const unescaped = (value: string) =>
    value.replace(
      /&(amp|lt|gt|quot|#39);/g,
      (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name] ?? "'",
    )
  const areas = [...text.matchAll(/<textarea[^>]* name="(\w+)"[^>]*>\n([^<]*)<\/textarea>/g)]
  const hidden = [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)]
  return Object.fromEntries([...areas, ...hidden].map(([, name, value]) => [name!, unescaped(value!)]))
}
