// The API console: sends calls from the page with a token that only this module holds, and writes the samples of what is typed. Pages of the
// console replace each other without leaving it, so that the token lives as long as the console is open.
import { laidOut } from './json-text.js'
import { copyable } from './portal.js'
import { addressOf, headersIn, samplesOf } from './samples.js'

/** @typedef {import('./samples.d.ts').Call} Call */

/** @type {{ text: string, client: string, scopes: string, until: number } | undefined} */
let token

/** @template {Element} E @param {string} selector @param {new () => E} kind @param {ParentNode} within */
function one(selector, kind, within = document) {
  const found = within.querySelector(selector)
  return found instanceof kind ? found : undefined
}

/** @param {HTMLFormElement} form @param {string} name */
const typed = (form, name) => {
  const field = form.elements.namedItem(name)
  return field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement
    ? field.value
    : ''
}

/** @param {HTMLFormElement} form @param {'path' | 'query'} place @returns {[string, string][]} */
const fieldsOf = (form, place) =>
  [...new FormData(form)].flatMap(([name, value]) =>
    name.startsWith(`${place}.`) && typeof value === 'string' && value !== ''
      ? [/** @type {[string, string]} */ ([name.slice(place.length + 1), value])]
      : [],
  )

/** @param {HTMLFormElement} form @returns {Call} */
function callOf(form) {
  const { fixed, ...constant } = JSON.parse(form.dataset.call ?? '{}')
  const body = typed(form, 'body').trim()
  return {
    ...constant,
    values: { ...fixed, ...Object.fromEntries(fieldsOf(form, 'path')) },
    query: [...fieldsOf(form, 'query'), ...new URLSearchParams(typed(form, 'more'))],
    headers: headersIn(typed(form, 'headers')),
    ...(body === '' ? {} : { body, contentType: typed(form, 'type') }),
  }
}

/** Writes the samples of the call as it stands. @param {HTMLFormElement} form */
function writeSamples(form) {
  const samples = samplesOf(callOf(form))
  for (const part of document.querySelectorAll('[data-sample]')) {
    if (!(part instanceof HTMLElement)) continue
    const text = samples[/** @type {keyof typeof samples} */ (part.dataset.sample)]
    part.hidden = text === undefined
    const code = part.querySelector('code')
    if (code) code.textContent = text ?? ''
  }
  const none = one('[data-no-library]', HTMLElement)
  if (none) none.hidden = samples.typescript !== undefined
}

/** The headers that prove the sender. @param {HTMLFormElement} form @param {Call} call @returns {[string, string][]} */
function proofOf(form, { proof }) {
  if (proof === 'token') return token && token.until > Date.now() ? [['authorization', `Bearer ${token.text}`]] : []
  /** @type {[string, string][]} */
  const given = [...form.querySelectorAll('input[data-header]')].flatMap(field =>
    field instanceof HTMLInputElement && field.value !== '' ? [[field.dataset.header ?? '', field.value]] : [],
  )
  return proof === 'agent' ? [...given, ['x-bridge-timestamp', String(Math.floor(Date.now() / 1000))]] : given
}

/** @param {HTMLFormElement} form */
async function send(form) {
  const answer = one('#answer', HTMLElement)
  const place = answer && one('div', HTMLElement, answer)
  if (!answer || !place) return
  const call = callOf(form)
  answer.hidden = false
  place.replaceChildren(answer.dataset.waiting ?? '')
  const { method, body, contentType } = call
  const began = performance.now()
  try {
    const headers = new Headers()
    for (const [name, value] of [...call.headers, ...proofOf(form, call)]) headers.append(name, value)
    if (body !== undefined && contentType) headers.set('content-type', contentType)
    const kept = /** @type {const} */ ({ credentials: 'omit', cache: 'no-store' })
    const response = await fetch(addressOf(call), { method, headers, ...(body === undefined ? {} : { body }), ...kept })
    const bytes = await response.arrayBuffer()
    place.replaceChildren(...replyOf(answer.dataset, response, bytes, performance.now() - began))
    copyable(place)
  } catch (error) {
    place.replaceChildren(answer.dataset.failed ?? '', ` (${error instanceof Error ? error.message : ''})`)
  }
  answer.scrollIntoView({ block: 'nearest' })
}

/** Most characters of a body that are shown. */
const most = 200_000

/**
 * @param {DOMStringMap} words
 * @param {Response} response
 * @param {ArrayBuffer} bytes
 * @param {number} milliseconds
 */
function replyOf(words, { status, headers }, bytes, milliseconds) {
  const request = headers.get('x-request-id') ?? ''
  const link = element('a', request)
  link.setAttribute('href', `/portal/requests?${new URLSearchParams({ request })}`)
  link.setAttribute('target', '_blank')
  const state = element('span', String(status))
  state.className = `state ${status < 400 ? 'done' : 'failed'}`
  const facts = element('dl')
  facts.className = 'facts'
  for (const [name, value] of [
    [words.status, state],
    [words.time, `${Math.round(milliseconds)} ms`],
    [words.request, link],
  ])
    facts.append(element('div', element('dt', name), element('dd', value)))
  const all = [...headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  const text = bodyOf(words, headers.get('content-type') ?? '', bytes)
  return [
    facts,
    element('details', element('summary', words.headers), element('pre', all)),
    element('h3', words.body),
    ...(text.length > most ? [element('p', words.cut)] : []),
    element('pre', element('code', text.slice(0, most))),
  ]
}

/** @param {DOMStringMap} words @param {string} type @param {ArrayBuffer} bytes */
function bodyOf(words, type, bytes) {
  if (bytes.byteLength === 0) return words.empty ?? ''
  if (!/json|text|xml|urlencoded/.test(type)) return `${bytes.byteLength} ${words.bytes}`
  const text = new TextDecoder().decode(bytes)
  return /json/.test(type) && !/ndjson/.test(type) ? laidOut(text) : text
}

/** @param {string} name @param {(Node | string | undefined)[]} content */
function element(name, ...content) {
  const made = document.createElement(name)
  made.append(...content.map(each => each ?? ''))
  return made
}

/** Fetches the page that has the token, and keeps the token alone. @param {HTMLFormElement} form */
async function getToken(form) {
  const data = [...new FormData(form)].map(pair => pair.map(String))
  const response = await fetch(form.action, { method: 'POST', body: new URLSearchParams(data) })
  const reply = new DOMParser().parseFromString(await response.text(), 'text/html')
  const shown = one('[data-token]', HTMLElement, reply)
  form.querySelector('.failure')?.remove()
  if (shown) {
    const { client = '', seconds } = shown.dataset
    const scopes = reply.querySelector('[data-scopes]')?.textContent ?? ''
    token = { text: shown.textContent ?? '', client, scopes, until: Date.now() + Number(seconds) * 1000 }
    const form = one('[data-token-form]', HTMLDetailsElement)
    if (form) form.open = false
    document.querySelector('#call button[type=submit]')?.scrollIntoView({ block: 'nearest' })
  } else {
    const why = element('p', reply.querySelector('.failure')?.textContent ?? String(response.status))
    why.className = 'failure'
    why.setAttribute('role', 'alert')
    form.append(why)
  }
  showToken()
}

/** Says whether there is a token. */
function showToken() {
  const state = one('[data-token-state]', HTMLElement)
  if (!state) return
  if (token && token.until <= Date.now()) token = undefined
  const { client, scopes, until } = token ?? { client: '', scopes: '', until: 0 }
  const values = { client, scopes, time: new Date(until).toLocaleTimeString(document.documentElement.lang) }
  const words = token ? state.dataset.some : state.dataset.none
  const text = (words ?? '').replace(/\{(\w+)\}/g, (_, name) => values[/** @type {keyof typeof values} */ (name)] ?? '')
  if (state.textContent !== text) state.textContent = text
}

/** Goes to another page of the console, and stays in this one. @param {string} address @param {boolean} isNew */
async function go(address, isNew = true) {
  const response = await fetch(address)
  if (response.redirected) return location.assign(address)
  const next = new DOMParser().parseFromString(await response.text(), 'text/html')
  const [here, there] = [one('main', HTMLElement), one('main', HTMLElement, next)]
  if (!here || !there?.querySelector('[data-console]')) return location.assign(address)
  if (isNew) history.pushState(null, '', address)
  document.title = next.title
  here.replaceChildren(...there.childNodes)
  copyable(here)
  begin()
  here.focus()
  scrollTo(0, 0)
}

/** What a page of the console has once scripts run. */
function begin() {
  showToken()
  const form = one('#call', HTMLFormElement)
  const button = form && one('button[type=submit]', HTMLButtonElement, form)
  if (button) button.textContent = form.dataset.send ?? ''
}

document.addEventListener('click', event => {
  const link = event.target instanceof Element ? event.target.closest('a[data-inside]') : null
  if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  void go(link.href)
})

document.addEventListener('submit', event => {
  const form = event.target
  if (!(form instanceof HTMLFormElement)) return
  const isToken = form.closest('#token') !== null
  if (!isToken && form.id !== 'call' && form.dataset.inside === undefined) return
  event.preventDefault()
  if (isToken) void getToken(form)
  else if (form.id === 'call') void send(form)
  else void go(`${form.action}?${new URLSearchParams([...new FormData(form)].map(pair => pair.map(String)))}`)
})

document.addEventListener('input', event => {
  const form = event.target instanceof Element ? event.target.closest('form#call') : null
  if (form instanceof HTMLFormElement) writeSamples(form)
})

addEventListener('popstate', () => void go(location.href, false))
setInterval(showToken, 5000)
begin()
