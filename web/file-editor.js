// The editor of a file of JSON: its problems and the effect of each change.
import { lintGutter, setDiagnostics } from '@codemirror/lint'
import { editorIn, followLines, showPanels, stretchOf } from './editing.js'

const form = /** @type {HTMLFormElement} */ (document.querySelector('form.workbench'))
const area = /** @type {HTMLTextAreaElement} */ (document.getElementById('text'))
const text = editorIn(area, 'json', [lintGutter()], changed)

let timer = 0

function changed() {
  clearTimeout(timer)
  timer = setTimeout(tryNow, 150)
}

async function tryNow() {
  const sent = text.state.doc
  const fields = Object.fromEntries([...new FormData(form)].filter(([name]) => name !== 'basis'))
  const answer = await fetch(`/portal/workbench/${form.dataset.live}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  }).catch(() => undefined)
  if (!answer?.ok) return
  const { panels, problems } = await answer.json()
  showPanels(panels)
  if (text.state.doc !== sent) return
  const found = problems.map(
    (/** @type {{ from: number, to: number, severity: 'error', message: string }} */ each) => ({
      ...stretchOf(each, sent.length),
      severity: each.severity,
      message: each.message,
    }),
  )
  text.dispatch(setDiagnostics(text.state, found))
}

form.addEventListener('input', event => {
  if (event.target instanceof HTMLInputElement) changed()
})

followLines(form, text)
