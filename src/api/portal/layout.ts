// What every page of the portal has: its head, its navigation by role, and the headers that keep others out of it.
import type { UserCaller } from '../../access/caller.ts'
import { type Asked, type Reply, reply } from '../../http/route.ts'
import type { Failure } from '../../lib/failure.ts'
import { assetAddress } from './assets.ts'
import { type Html, html } from './html.ts'
import { isOpenTo, sections } from './sections.ts'
import { type Language, languageOf, languages, type TextKey, type Translate, translator } from './texts.ts'

/** What the frame of a page is made with. */
export interface Frame {
  readonly t: Translate
  readonly language: Language
  /** Of the page. */
  readonly path: string
  /** The reader; absent before they sign in. */
  readonly caller?: UserCaller
}

/** Nothing from other origins, nothing inline, in no frame of anybody. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policy,
  // Browsers send `Origin: null` with forms of a page that has no referrer, which forms refuse.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
  vary: 'cookie, accept-language',
}

/** Returns the reply with a page around its content. */
export function framed(frame: Frame, title: TextKey, main: Html, status = 200, more = {}): Reply {
  return reply(status, document(frame, frame.t(title), main).html, { ...headers, ...more })
}

function document(frame: Frame, title: string, main: Html): Html {
  const { t, language, caller } = frame
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · health-interop</title>
<link rel="stylesheet" href="${assetAddress('portal.css')}">
<link rel="icon" href="${assetAddress('icon.svg')}" type="image/svg+xml">
<script type="module" src="${assetAddress('portal.js')}"></script>
</head>
<body>
<a class="skip" href="#main">${t('frame.skip')}</a>
<header>
<a class="brand" href="/portal">health-interop</a>
${caller && navigation(frame, caller)}
</header>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${main}
</main>
<footer>${languageChoice(frame)}</footer>
</body>
</html>
`
}

function navigation({ t, path }: Frame, caller: UserCaller): Html {
  const open = sections.filter(({ roles }) => isOpenTo(caller, roles))
  const isHere = (to: string): boolean => path === to || path.startsWith(`${to}/`)
  return html`<nav aria-label="${t('frame.navigation')}"><ul>
${open.map(
  ({ path: to, title }) => html`<li><a href="${to}"${isHere(to) && html` aria-current="page"`}>${t(title)}</a></li>\n`,
)}</ul></nav>
<form method="post" action="/portal/sign-out" class="who"><span>${caller.email}</span>
<button type="submit">${t('frame.sign_out')}</button></form>`
}

const names: Readonly<Record<Language, string>> = { en: 'English', fr: 'Français' }

function languageChoice({ t, language, path }: Frame): Html {
  return html`<ul class="languages" aria-label="${t('frame.languages')}">${languages.map(
    each =>
      html`<li><a hreflang="${each}" lang="${each}" href="/portal/language?to=${each}&amp;back=${encodeURIComponent(path)}"${
        each === language && html` aria-current="true"`
      }>${names[each]}</a></li>`,
  )}</ul>`
}

/** The pages of failures that have one of their own. */
export const ownPages = new WeakMap<Failure, Reply>()

/** Shows a failure as a page; who has not signed in is sent to do so, and comes back. */
export function failurePage(failure: Failure, { method, path, query, headers: sent, requestId }: Asked): Reply {
  const language = languageOf(sent)
  const t = translator(language)
  if (failure.status === 401) {
    const next = method === 'GET' ? `?next=${encodeURIComponent(query ? `${path}?${query}` : path)}` : ''
    return reply(303, undefined, { location: `/portal/sign-in${next}` })
  }
  const own = ownPages.get(failure)
  if (own) return own
  const { details = [] } = failure.options
  const list =
    details.length > 0 && html`<ul>${details.map(({ field, message }) => html`<li>${field} ${message}</li>`)}</ul>`
  const main = html`<p class="failure" role="alert">${failure.message}</p>${list}
<p>${t('failure.request')} <code>${requestId}</code></p><p><a href="/portal">${t('failure.home')}</a></p>`
  return framed({ t, language, path }, 'failure.title', main, failure.status)
}
