// What every page gains with scripts: a key is copied with one click, and a form is sent once.

/** Gives each secret and sample of a part of the page a button that copies it. @param {ParentNode} part */
export function copyable(part) {
  for (const code of part.querySelectorAll('.once code, pre code')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = document.documentElement.lang === 'fr' ? 'Copier' : 'Copy'
    button.addEventListener('click', () => navigator.clipboard.writeText(code.textContent ?? ''))
    code.after(button)
  }
}

copyable(document)

document.addEventListener('submit', event => {
  const form = event.target
  if (!(form instanceof HTMLFormElement)) return
  if (form.dataset.sent) event.preventDefault()
  form.dataset.sent = 'yes'
})

// A page that comes back from the browser's memory can be sent again.
addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent
})
