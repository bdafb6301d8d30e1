// A resource as formatted JSON, in which references to resources of this service are links.
import { digitsOf, isJsonNumber, isObject } from '../../../lib/json.ts'
import type { Base } from '../../../store/base.ts'
import { type Html, html } from '../html.ts'
import { referenceLink } from './parts.ts'

/** Longest text that is shown whole: attachments in base64 are longer. */
const longest = 4000

/** Returns the value in lines, each level two spaces further in. @param cut words for how many characters of a text are left out */
export const jsonView = (value: unknown, base: Base, cut: (count: number) => string): Html =>
  html`<pre class="json"><code>${written(value, '', undefined, { base, cut })}</code></pre>`

interface Context {
  readonly base: Base
  readonly cut: (count: number) => string
}

function written(value: unknown, indent: string, key: string | undefined, context: Context): Html {
  if (isJsonNumber(value)) return html`${digitsOf(value)}`
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    if (value.length === 0) return html`[]`
    const items = value.map(
      (each, index) => html`${index > 0 && ','}\n${inner}${written(each, inner, undefined, context)}`,
    )
    return html`[${items}\n${indent}]`
  }
  if (isObject(value)) {
    const members = Object.entries(value)
    if (members.length === 0) return html`{}`
    const items = members.map(
      ([name, each], index) =>
        html`${index > 0 && ','}\n${inner}${JSON.stringify(name)}: ${written(each, inner, name, context)}`,
    )
    return html`{${items}\n${indent}}`
  }
  if (typeof value !== 'string') return html`${JSON.stringify(value)}`
  if (key === 'reference') return html`"${referenceLink(value, context.base)}"`
  if (value.length <= longest) return html`${JSON.stringify(value)}`
  return html`${JSON.stringify(value.slice(0, longest).toWellFormed())} <em>${context.cut(value.length - longest)}</em>`
}
