// One operation: what it takes and gives, a form to send it, and the same call for curl and with the client libraries. Without scripts the form
// leads back to the page, with the samples of what was typed: what is typed is never part of an address.

import { type Call, headersIn, type Samples, samplesOf } from '../../../../web/samples.js'
import type { Route } from '../../../http/route.ts'
import { type Static, Type } from '../../../lib/schema.ts'
import { type Html, html } from '../html.ts'
import { action, type PageView, page } from '../page.ts'
import { inConsole } from './frame.ts'
import type { Operation, OperationField } from './operations.ts'
import type { ConsolePageParts, Operations } from './parts.ts'
import { searchedType } from './search-help.ts'

const common = {
  path: '/portal/console/{operation}',
  title: 'console.title',
  roles: ['developer'],
  params: Type.Object({ operation: Type.String({ maxLength: 100 }) }),
} as const

/** What is typed: `path.…`, `query.…`, `more`, `headers`, `type` and `body`. */
const Form = Type.Record(Type.String(), Type.String({ maxLength: 200_000 }))

type Typed = Static<typeof Form>

export const operationRoutes = (parts: ConsolePageParts, operations: Operations): Route[] => [
  page({
    ...common,
    name: 'portalConsoleOperation',
    async show({ params: { operation: id }, caller, baseUrl }, view) {
      const operation = operations.one(id)
      const typed = sampleOf(operation)
      return inConsole(parts, view, caller, operation.scopes, content(parts, view, operation, typed, baseUrl))
    },
  }),
  action({
    ...common,
    name: 'portalConsoleSamples',
    form: Type.Object({}, { additionalProperties: Type.String({ maxLength: 200_000 }) }),
    async act({ params: { operation: id }, body, caller, baseUrl }, view) {
      const operation = operations.one(id)
      return inConsole(parts, view, caller, operation.scopes, content(parts, view, operation, body as Typed, baseUrl))
    },
  }),
]

/** What the form begins with. */
const sampleOf = ({ fields, body, more = '' }: Operation): Typed => ({
  more,
  ...Object.fromEntries(fields.map(each => [`${each.in}.${each.name}`, each.sample])),
  ...(body && { type: body.types[0]!, body: body.sample }),
})

function content(
  { environment }: ConsolePageParts,
  view: PageView,
  operation: Operation,
  typed: Typed,
  baseUrl: string,
): Html {
  const { t } = view
  const { method, path, summary, description, scopes, proof } = operation
  const searched = searchedType(operation)
  const constant = { method, path, proof, environment, baseUrl, library: operation.library, fixed: operation.fixed }
  return html`<p><a href="/portal/console" data-inside>${t('console.all')}</a></p>
<h2 lang="en">${summary}</h2>
<p><code>${method} ${path}</code></p>
${description && html`<p lang="en">${description}</p>`}
<p>${t(`console.proof.${proof}`)} ${scopes.length > 0 && html`${t('console.one_scope')} ${scopes.map(each => html`<code>${each}</code> `)}`}</p>
${searched !== undefined && html`<p><a href="/portal/console/search?type=${searched}" data-inside>${t('console.search_help')}</a></p>`}
<form method="post" action="/portal/console/${operation.id}" class="fields wide" id="call" autocomplete="off" data-call="${JSON.stringify(constant)}" data-send="${t('console.send')}">
${operation.fields.map(each => input(view, each, typed))}
${operation.more !== undefined && html`<label>${t('console.more')} <input name="more" maxlength="4000" spellcheck="false" value="${typed['more']}" placeholder="code=http://loinc.org|8480-6&amp;date=ge2026"></label>`}
${proof === 'agent' && agentInputs(view)}${proof === 'client' && clientInputs(view)}
<label>${t('console.headers')} <textarea name="headers" rows="2" maxlength="10000" spellcheck="false" placeholder="If-Match: W/&quot;1&quot;">
${typed['headers']}</textarea></label>
${operation.body && bodyInputs(view, operation.body, typed)}
<button type="submit">${t('console.show_samples')}</button>
</form>
<section id="answer" aria-live="polite" hidden data-waiting="${t('console.waiting')}" data-status="${t('requests.status')}" data-time="${t('requests.latency')}" data-request="${t('requests.request')}" data-headers="${t('console.reply_headers')}" data-body="${t('console.reply_body')}" data-failed="${t('console.failed')}" data-cut="${t('console.cut')}" data-empty="${t('console.empty')}" data-bytes="${t('console.bytes')}"><h2>${t('console.answer')}</h2><div></div></section>
<section><h2>${t('console.samples')}</h2>${samples(view, samplesOf(callOf(operation, typed, constant)))}</section>
<section><h2>${t('console.replies')}</h2><dl class="facts">${operation.replies.map(
    ([status, text]) => html`<div><dt>${status}</dt><dd lang="en">${text}</dd></div>\n`,
  )}</dl></section>`
}

/** The call as it was typed. The script of the page does the same with its form. */
function callOf(
  { fields, fixed, body }: Operation,
  typed: Typed,
  constant: Pick<Call, 'method' | 'path' | 'proof' | 'environment' | 'baseUrl' | 'library'>,
): Call {
  const given = (place: OperationField['in']) =>
    fields
      .filter(each => each.in === place)
      .map(({ name }) => [name, typed[`${place}.${name}`] ?? ''] as const)
      .filter(([, value]) => value !== '')
  const text = typed['body']?.trim() ?? ''
  const hasBody = body !== undefined && text !== ''
  return {
    ...constant,
    values: { ...fixed, ...Object.fromEntries(given('path')) },
    query: [...given('query'), ...new URLSearchParams(typed['more'] ?? '')],
    headers: headersIn(typed['headers'] ?? ''),
    ...(hasBody && { body: text, contentType: typed['type'] ?? body.types[0] }),
  }
}

function input(
  { t }: PageView,
  { name, in: place, required, description, choices }: OperationField,
  typed: Typed,
): Html {
  const key = `${place}.${name}`
  const value = typed[key] ?? ''
  const field =
    choices.length > 0
      ? html`<select name="${key}"><option value=""></option>${choices.map(
          each => html`<option${each === value && html` selected`}>${each}</option>`,
        )}</select>`
      : html`<input name="${key}" maxlength="2000" spellcheck="false" value="${value}"${required && html` required`}>`
  return html`<label><span><code>${name}</code> ${t(`console.in.${place}`)}</span> ${field} <small lang="en">${description}</small></label>\n`
}

const agentInputs = ({
  t,
}: PageView): Html => html`<label><code>X-Bridge-Agent-ID</code> <input data-header="X-Bridge-Agent-ID" maxlength="100"></label>
<label><code>X-Bridge-Agent-Key</code> <input data-header="X-Bridge-Agent-Key" type="password" autocomplete="off" maxlength="200"> <small>${t('console.proof_kept')}</small></label>`

const clientInputs = ({
  t,
}: PageView): Html => html`<label><code>X-Client-ID</code> <input data-header="X-Client-ID" maxlength="200"></label>
<label><code>X-Client-Secret</code> <input data-header="X-Client-Secret" type="password" autocomplete="off" maxlength="500"> <small>${t('console.proof_kept')}</small></label>`

function bodyInputs({ t }: PageView, { types }: NonNullable<Operation['body']>, typed: Typed): Html {
  return html`<label>Content-Type <select name="type">${types.map(
    each => html`<option${each === typed['type'] && html` selected`}>${each}</option>`,
  )}</select></label>
<label>${t('console.body')} <textarea name="body" rows="10" maxlength="200000" spellcheck="false">
${typed['body']}</textarea></label>`
}

const languages = ['curl', 'typescript', 'python', 'php'] as const
const names = { curl: 'curl', typescript: 'TypeScript', python: 'Python', php: 'PHP' } as const

const samples = ({ t }: PageView, written: Samples): Html =>
  html`<p data-no-library${written.typescript !== undefined && html` hidden`}>${t('console.no_library')}</p>${languages.map(
    each => html`<div data-sample="${each}"${written[each] === undefined && html` hidden`}><h3>${names[each]}</h3>
<pre><code>${written[each]}</code></pre></div>\n`,
  )}`
