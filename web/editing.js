// CodeMirror in the place of a text area: highlighting of maps and JSON, and what all editors of the portal have in common.
// Each editor is in a shadow root, where styles may be made by scripts although the policy of the page permits none inline.
import { closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  StreamLanguage,
  syntaxHighlighting,
} from '@codemirror/language'
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'

const words = new Set(
  'map uses alias as source target queried produced imports let group extends types type conceptmap prefix unmapped for where check log default then first last share collate only_one not_first not_last single'.split(
    ' ',
  ),
)

/** HL7's mapping language, word by word: https://hl7.org/fhir/R4/mapping-language.html */
const fml = StreamLanguage.define({
  name: 'fml',
  startState: () => ({ isBlock: false }),
  token(stream, state) {
    if (state.isBlock) {
      if (stream.skipTo('*/')) {
        stream.match('*/')
        state.isBlock = false
      } else stream.skipToEnd()
      return 'comment'
    }
    if (stream.eatSpace()) return null
    if (stream.match('///')) {
      stream.skipToEnd()
      return 'meta'
    }
    if (stream.match('//')) {
      stream.skipToEnd()
      return 'comment'
    }
    if (stream.match('/*')) {
      state.isBlock = true
      return 'comment'
    }
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^'\\]|\\.)*'?/)) return 'string'
    if (stream.match(/^`[^`]*`?/)) return 'variableName'
    if (stream.match(/^@?\d[\d.:T+-]*Z?/)) return 'number'
    if (stream.match(/^[%$]\w+/)) return 'variableName.special'
    if (stream.match(/^(?:->|<=|>=|==|!=|--|[-=~&|+*/<>])/)) return 'operator'
    if (stream.match(/^\w+/)) {
      const word = stream.current()
      if (words.has(word)) return 'keyword'
      if (stream.match(/^\s*\(/, false)) return 'variableName.function'
      return /^[A-Z]/.test(word) ? 'typeName' : 'propertyName'
    }
    stream.next()
    return null
  },
  languageData: { commentTokens: { line: '//' }, closeBrackets: { brackets: ['(', '{', '"', "'"] } },
})

const colours = HighlightStyle.define([
  { tag: tags.comment, color: 'var(--soft)', fontStyle: 'italic' },
  { tag: tags.meta, color: 'var(--soft)' },
  { tag: tags.keyword, color: 'var(--brand)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--wait)' },
  { tag: [tags.typeName, tags.function(tags.variableName)], color: 'var(--wait)' },
  { tag: tags.special(tags.variableName), color: 'var(--brand)' },
])

const look = EditorView.theme({
  '&': {
    height: '100%',
    fontSize: '14px',
    color: 'var(--ink)',
    backgroundColor: 'var(--ground)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
  },
  '&.cm-focused': { outline: '2px solid var(--brand)' },
  '.cm-scroller': { overflow: 'auto', fontFamily: 'ui-monospace, monospace', lineHeight: '1.5' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--soft)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--brand) 9%, transparent)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--brand) 28%, transparent) !important',
  },
  '.cm-tooltip, .cm-panels': {
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    maxWidth: '34rem',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--brand)', color: 'var(--on-brand)' },
  '.cm-completionDetail': { color: 'var(--soft)', fontStyle: 'normal' },
  'li[aria-selected] .cm-completionDetail': { color: 'inherit' },
  '.cm-explained': { padding: '0.4rem 0.7rem' },
  '.cm-explained b': { fontFamily: 'ui-monospace, monospace' },
  '.cm-diagnosticAction': { backgroundColor: 'var(--brand)', color: 'var(--on-brand)' },
  '.cm-ran': { color: 'var(--good)' },
  '.cm-idle': { color: 'var(--bad)' },
})

/**
 * Puts an editor in the place of a text area; the form sends the text of the editor.
 * @param {HTMLTextAreaElement} area
 * @param {'fml' | 'json'} language
 * @param {readonly import('@codemirror/state').Extension[]} more
 * @param {() => void} changed
 * @returns {EditorView}
 */
export function editorIn(area, language, more, changed) {
  const host = document.createElement('div')
  host.className = 'editor'
  host.style.height = `${Math.min(60, area.rows + 2) * 1.32}rem`
  const root = host.attachShadow({ mode: 'open' })
  const label = area.labels?.[0]?.textContent ?? area.getAttribute('aria-label') ?? ''
  const view = new EditorView({
    root,
    parent: /** @type {HTMLElement} */ (/** @type {unknown} */ (root)),
    state: EditorState.create({
      doc: area.value,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        indentUnit.of('  '),
        bracketMatching(),
        closeBrackets(),
        EditorView.lineWrapping,
        highlightActiveLine(),
        highlightSelectionMatches(),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, indentWithTab]),
        EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
        language === 'fml' ? fml : json(),
        syntaxHighlighting(colours),
        look,
        ...more,
        EditorView.updateListener.of(update => void (update.docChanged && changed())),
      ],
    }),
  })
  area.hidden = true
  area.required = false
  area.after(host)
  // Only now: the text of a large map is not copied for each key.
  area.form?.addEventListener('formdata', ({ formData }) => formData.set(area.name, view.state.doc.toString()))
  for (const each of area.labels ?? []) each.addEventListener('click', () => view.focus())
  return view
}

/**
 * Puts pieces of HTML into their places; the service escapes in them what it did not write itself.
 * @param {Record<string, string>} panels by the ids of the places
 */
export function showPanels(panels) {
  for (const [id, html] of Object.entries(panels)) {
    const place = document.getElementById(id)
    if (place && place.innerHTML !== html) place.innerHTML = html
  }
}

/**
 * The stretch of a text that a problem is about: never empty, and never behind its end.
 * @param {{ from: number, to: number }} problem
 * @param {number} length of the text
 */
export function stretchOf({ from, to }, length) {
  const end = Math.min(length, Math.max(to, from + 1))
  return { from: Math.min(from, end), to: end }
}

/**
 * Lets links to lines within an element lead into an editor.
 * @param {HTMLElement} element
 * @param {EditorView} view
 */
export function followLines(element, view) {
  element.addEventListener('click', event => {
    const line = event.target instanceof Element && event.target.closest('a[data-line]')
    if (!(line instanceof HTMLElement)) return
    event.preventDefault()
    goTo(view, Number(line.dataset.line))
  })
}

/**
 * Replaces the text of an editor.
 * @param {EditorView} view
 * @param {string} text
 */
export function replaceText(view, text) {
  if (view.state.doc.toString() !== text)
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } })
}

/**
 * Shows a line and puts the cursor there.
 * @param {EditorView} view
 * @param {number} line
 */
export function goTo(view, line) {
  const { from } = view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines)))
  view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) })
  view.focus()
}
