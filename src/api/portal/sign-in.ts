// Signing in and out of the portal, and choosing its language.

import { open, type Reply, type Route, reply, route, session } from '../../http/route.ts'
import { cookieText, mustBeSameOrigin } from '../../identity/cookies.ts'
import { Failure } from '../../lib/failure.ts'
import { Type } from '../../lib/schema.ts'
import { type Html, html } from './html.ts'
import { type Frame, failurePage, framed } from './layout.ts'
import { fieldsOf, seeOther } from './page.ts'
import type { Sessions } from './session-routes.ts'
import { languageCookie, languageOf, languages, translator } from './texts.ts'

export interface SignInParts {
  readonly sessions: Sessions
  /** True where the cookie travels by TLS only: everywhere but in a local service. */
  readonly isSecure: boolean
  /** A user with whom anybody signs in with one click; absent except in a local service. */
  readonly demoUser?: { readonly email: string; readonly password: string }
}

const Form = Type.Object(
  {
    email: Type.String({ maxLength: 254 }),
    password: Type.String({ maxLength: 1000 }),
    next: Type.Optional(Type.String({ maxLength: 2000 })),
  },
  { additionalProperties: false },
)

const ofPortal = { tag: 'Portal', page: { failure: failurePage }, produces: 'text/html' } as const

export const signInRoutes = (parts: SignInParts): Route[] => [
  route({
    ...ofPortal,
    method: 'GET',
    path: '/portal/sign-in',
    operationId: 'portalSignInPage',
    summary: 'Sign in',
    access: open,
    query: Type.Object({ next: Type.Optional(Type.String({ maxLength: 2000 })) }),
    replies: { 200: null },
    handle: ({ headers, path, query }) => signInPage(parts, frameOf(headers, path), query.next),
  }),
  route({
    ...ofPortal,
    method: 'POST',
    path: '/portal/sign-in',
    operationId: 'portalSignInForm',
    summary: 'Sign in',
    access: open,
    isRepeatable: true,
    maxBodyBytes: 8192,
    body: Form,
    consumes: ['application/x-www-form-urlencoded'],
    replies: { 303: null },
    async handle(request) {
      mustBeSameOrigin(request)
      const { email, password, next } = fieldsOf(Form, request.body)
      const { remoteAddress: address, requestId } = request
      try {
        const { cookie } = await parts.sessions.begin({ email, password, address, requestId })
        return seeOther(ownPath(next), { 'set-cookie': cookieText(cookie, parts.sessions.lifetime, parts.isSecure) })
      } catch (error) {
        if (!(error instanceof Failure) || error.status >= 500) throw error
        return signInPage(parts, frameOf(request.headers, request.path), next, error)
      }
    },
  }),
  route({
    ...ofPortal,
    method: 'POST',
    path: '/portal/sign-out',
    operationId: 'portalSignOutForm',
    summary: 'Sign out',
    access: session,
    isAboutCaller: true,
    isRepeatable: true,
    maxBodyBytes: 1024,
    bodyOptional: true,
    body: Type.Object({}),
    consumes: ['application/x-www-form-urlencoded'],
    replies: { 303: null },
    async handle({ caller }) {
      await parts.sessions.end(caller)
      return seeOther('/portal/sign-in', { 'set-cookie': cookieText('', 0, parts.isSecure) })
    },
  }),
  languageRoute(parts.isSecure),
]

const frameOf = (headers: Parameters<typeof languageOf>[0], path: string): Frame => {
  const language = languageOf(headers)
  return { t: translator(language), language, path }
}

/** A path of the portal, as it was asked for; anything else leads to its first page. */
const ownPath = (next: string | undefined): string =>
  next !== undefined && /^\/portal(?:[/?][^\\\s]*)?$/.test(next) && !next.includes('//') ? next : '/portal'

function signInPage(parts: SignInParts, frame: Frame, next: string | undefined, failure?: Failure): Reply {
  const { t } = frame
  const hidden = next !== undefined && html`<input type="hidden" name="next" value="${next}">`
  const main = html`${failure && html`<p class="failure" role="alert">${wordsFor(frame, failure)}</p>`}
<form method="post" action="/portal/sign-in" class="fields">
<label>${t('sign_in.email')} <input name="email" type="email" autocomplete="username" required maxlength="254"></label>
<label>${t('sign_in.password')} <input name="password" type="password" autocomplete="current-password" required maxlength="1000"></label>
${hidden}<button type="submit">${t('sign_in.button')}</button>
</form>
${parts.demoUser && demoForm(frame, parts.demoUser, hidden)}`
  return framed(frame, 'sign_in.title', main, failure?.status ?? 200)
}

const wordsFor = ({ t }: Frame, failure: Failure): string =>
  failure.code === 'AUTH_THROTTLED' ? t('sign_in.throttled') : t('sign_in.wrong')

function demoForm({ t }: Frame, { email, password }: NonNullable<SignInParts['demoUser']>, hidden: Html | false): Html {
  return html`<form method="post" action="/portal/sign-in" class="demo">
<p>${t('sign_in.demo')}</p>
<input type="hidden" name="email" value="${email}"><input type="hidden" name="password" value="${password}">
${hidden}<button type="submit">${t('sign_in.demo_button')}</button>
</form>`
}

/** GET, so that it works as a link: it changes nothing but how pages read. */
function languageRoute(isSecure: boolean): Route {
  return route({
    ...ofPortal,
    method: 'GET',
    path: '/portal/language',
    operationId: 'portalLanguage',
    summary: 'Choose the language',
    access: open,
    query: Type.Object({
      to: Type.Enum([...languages]),
      back: Type.Optional(Type.String({ maxLength: 2000 })),
    }),
    replies: { 303: null },
    handle: ({ query: { to, back } }) =>
      reply(303, undefined, {
        location: ownPath(back),
        'set-cookie': `${languageCookie}=${to}; SameSite=Lax; Path=/portal; Max-Age=31536000${isSecure ? '; Secure' : ''}`,
      }),
  })
}
