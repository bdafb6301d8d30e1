// The editor of a map: problems, output, examples and coverage follow each change; names are completed and explained.
import { acceptCompletion, autocompletion, completionKeymap } from '@codemirror/autocomplete'
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { RangeSet, StateEffect, StateField } from '@codemirror/state'
import { GutterMarker, gutter, hoverTooltip, keymap } from '@codemirror/view'
import { editorIn, followLines, goTo, replaceText, showPanels, stretchOf } from './editing.js'

/** @typedef {{ file: string, from: number, to: number, severity: 'error' | 'warning', message: string, fix?: { from: number, to: number, text: string } }} Problem */
/** @typedef {{ line: number, count: number }} Rule */
/** @typedef {{ problems: Problem[], rules: Rule[], groups: { name: string, line: number }[], panels: Record<string, string> }} Tried */

const form = /** @type {HTMLFormElement} */ (document.querySelector('form.workbench'))
const isFrench = document.documentElement.lang === 'fr'
const map = form.dataset.map ?? ''

/** @param {string} id */
const area = id => /** @type {HTMLTextAreaElement} */ (document.getElementById(id))

/**
 * Asks the service; undefined if it does not answer, or a later change makes the answer useless.
 * @param {string} what
 * @param {object} body
 * @param {AbortSignal} [signal]
 */
async function ask(what, body, signal) {
  try {
    const answer = await fetch(`/portal/workbench/${what}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ map, ...body }),
      signal,
    })
    const value = await answer.json()
    if (answer.ok) return value
    if (what === 'try') note(value.message ?? value.error_code ?? String(answer.status))
  } catch {
    if (!signal?.aborted && what === 'try')
      note(isFrench ? 'Le service ne répond pas.' : 'The service does not answer.')
  }
  return undefined
}

/** @param {string} message */
function note(message) {
  const place = document.getElementById('problems')
  if (place) place.textContent = message
}

/** Marks of rules that ran and that did not, beside the lines where they begin. */
const setRules = /** @type {import('@codemirror/state').StateEffectType<Rule[]>} */ (StateEffect.define())

class RuleMark extends GutterMarker {
  /** @param {number} count */
  constructor(count) {
    super()
    this.count = count
  }
  /**
   * @override
   * @param {RuleMark} other
   */
  eq(other) {
    return other.count === this.count
  }
  /** @override */
  toDOM() {
    const mark = document.createElement('span')
    mark.className = this.count > 0 ? 'cm-ran' : 'cm-idle'
    mark.textContent = this.count > 0 ? '●' : '○'
    const words = isFrench ? `exécutée ${this.count} fois` : `ran ${this.count} times`
    mark.title = this.count > 0 ? words : isFrench ? 'pas exécutée' : 'did not run'
    return mark
  }
}

const ruleMarks = StateField.define({
  create: () => /** @type {RangeSet<RuleMark>} */ (RangeSet.empty),
  update(marks, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(setRules)) continue
      const { doc } = transaction.state
      const counts = new Map()
      for (const { line, count } of effect.value) counts.set(line, (counts.get(line) ?? 0) + count)
      const found = [...counts].filter(([line]) => line <= doc.lines).toSorted(([a], [b]) => a - b)
      return RangeSet.of(found.map(([line, count]) => new RuleMark(count).range(doc.line(line).from)))
    }
    return marks.map(transaction.changes)
  },
})

const ruleGutter = [ruleMarks, gutter({ class: 'cm-rules', markers: view => view.state.field(ruleMarks) })]

/** @type {Record<string, string>} */
const icons = {
  element: 'property',
  variable: 'variable',
  group: 'class',
  function: 'function',
  transform: 'method',
  table: 'enum',
  type: 'type',
  code: 'constant',
  keyword: 'keyword',
  url: 'text',
}

/** @param {import('@codemirror/autocomplete').CompletionContext} context */
async function completions(context) {
  const before = context.matchBefore(/[\w%]+|[.:'"(]/)
  if (!before && !context.explicit) return null
  const aborted = new AbortController()
  context.addEventListener('abort', () => aborted.abort())
  const found = await ask('complete', { text: context.state.doc.toString(), offset: context.pos }, aborted.signal)
  if (!found || context.aborted || found.options.length === 0) return null
  return {
    from: found.from,
    to: found.to,
    // Only URLs go on behind punctuation; elsewhere it begins another name.
    validFor: found.options[0].kind === 'url' ? /^[\w./:-]*$/ : /^[\w%-]*$/,
    options: found.options.map((/** @type {any} */ each, /** @type {number} */ index) => ({
      label: each.label,
      type: icons[each.kind],
      detail: each.detail,
      info: each.info,
      boost: -Math.min(99, index),
    })),
  }
}

const explanations = hoverTooltip(async (view, position) => {
  const found = await ask('explain', { text: view.state.doc.toString(), offset: position })
  if (found?.title === undefined) return null
  return {
    pos: found.from,
    end: found.to,
    create() {
      const dom = document.createElement('div')
      dom.className = 'cm-explained'
      const title = document.createElement('b')
      title.textContent = found.title
      dom.append(title)
      for (const line of found.lines) {
        const row = document.createElement('div')
        row.textContent = line
        dom.append(row)
      }
      return { dom }
    },
  }
})

/** @type {Tried['groups']} */
let groups = []

/** Goes to the group whose name is at the cursor. @type {import('@codemirror/view').Command} */
const goToGroup = view => {
  const { head } = view.state.selection.main
  const word = view.state.wordAt(head)
  const found = word && groups.find(({ name }) => name === view.state.sliceDoc(word.from, word.to))
  if (found) goTo(view, found.line)
  return found !== undefined && found !== null
}

/** @param {string} wish */
const press = wish => () => {
  const button = form.querySelector(`button[name="do"][value="${wish}"]`)
  if (button instanceof HTMLButtonElement) form.requestSubmit(button)
  return true
}

const text = editorIn(
  area('text'),
  'fml',
  [
    autocompletion({ override: [completions], activateOnTyping: true, interactionDelay: 0 }),
    keymap.of([
      ...completionKeymap,
      { key: 'Tab', run: acceptCompletion },
      { key: 'F12', run: goToGroup },
      { key: 'Mod-s', run: press('save'), preventDefault: true },
      { key: 'Mod-Shift-f', run: press('format'), preventDefault: true },
      ...lintKeymap,
    ]),
    lintGutter(),
    ruleGutter,
    explanations,
  ],
  changed,
)
const input = editorIn(area('input'), 'json', [], changed)
const examples = area('examples-file')
const context = area('context')
examples.addEventListener('input', changed)
context.addEventListener('input', changed)

let isAsking = false
let isStale = false
let timer = 0

/** A pause in typing asks; while an answer is awaited, the last change waits for it. */
function changed() {
  clearTimeout(timer)
  timer = setTimeout(tryNow, 120)
}

async function tryNow() {
  isStale = isAsking
  if (isAsking) return
  isAsking = true
  const sent = text.state.doc
  keep(sent.toString())
  const run = form.querySelector('select[name="run"]')
  const found = /** @type {Tried | undefined} */ (
    await ask('try', {
      text: sent.toString(),
      examples: examples.value,
      input: input.state.doc.toString(),
      context: context.value,
      run: run instanceof HTMLSelectElement ? run.value : '',
    })
  )
  isAsking = false
  if (found) show(found, sent)
  if (isStale) changed()
}

/**
 * @param {Tried} found
 * @param {import('@codemirror/state').Text} sent what it is about
 */
function show(found, sent) {
  showPanels(found.panels)
  groups = found.groups
  if (text.state.doc !== sent) return
  text.dispatch({ effects: setRules.of(found.rules) })
  text.dispatch(setDiagnostics(text.state, found.problems.map(diagnostic)))
}

/**
 * @param {Problem} problem
 * @returns {import('@codemirror/lint').Diagnostic}
 */
function diagnostic({ from, to, severity, message, fix }) {
  const place = stretchOf({ from, to }, text.state.doc.length)
  const name =
    fix &&
    (fix.text === ''
      ? isFrench
        ? 'Supprimer'
        : 'Leave it out'
      : `${isFrench ? 'Écrire' : 'Write'} ${fix.text.trim()}`)
  const actions = fix && [
    {
      name: /** @type {string} */ (name),
      // What was written since the answer has moved the problem, and its fix with it.
      apply: (/** @type {import('@codemirror/view').EditorView} */ view, /** @type {number} */ at) => {
        const moved = at - place.from
        view.dispatch({ changes: { from: fix.from + moved, to: fix.to + moved, insert: fix.text } })
      },
    },
  ]
  return { ...place, severity, message, actions }
}

followLines(form, text)

form.addEventListener('click', event => {
  const example = event.target instanceof Element && event.target.closest('button[data-example]')
  if (!(example instanceof HTMLElement)) return
  event.preventDefault()
  load(example.dataset.example ?? '')
})

form.addEventListener('change', event => {
  if (event.target instanceof HTMLSelectElement) changed()
})

/** Puts the input of an example into the editor. @param {string} name */
function load(name) {
  const all = JSON.parse(examples.value)
  const found = all.find((/** @type {{ name: string }} */ each) => each.name === name)
  if (!found) return
  const { from } = found
  context.value = found.context ? JSON.stringify(found.context, null, 2) : ''
  replaceText(input, Array.isArray(from) ? from.join('\n') : JSON.stringify(from, null, 2))
  changed()
  input.focus()
}

// What is written but not saved survives a reload or a session that ended; a page that answers a form has it already. Inputs are not kept:
// they may be of patients.
const key = `map ${map}`
const basis = /** @type {HTMLInputElement} */ (form.elements.namedItem('basis')).value

/** @param {string} written */
function keep(written) {
  try {
    sessionStorage.setItem(key, JSON.stringify({ basis, text: written, examples: examples.value }))
  } catch {
    // The storage is full or forbidden; nothing is kept.
  }
}

addEventListener('pagehide', () => keep(text.state.doc.toString()))

const kept = JSON.parse(sessionStorage.getItem(key) ?? 'null')
if (new URLSearchParams(location.search).has('saved')) sessionStorage.removeItem(key)
else if (kept?.basis === basis && form.dataset.stored) {
  examples.value = kept.examples
  replaceText(text, kept.text)
}
changed()
