// The div of a narrative: well-formed, and only what txt-1 allows (https://hl7.org/fhir/R4/narrative.html#xhtml).
// Whatever is not recognised is refused, so a viewer that trusts stored narrative runs no script.

const elements = new Set(
  (
    'a abbr acronym address area b bdo big blockquote br caption cite code col colgroup dd del dfn div dl dt em font h1 h2 h3 h4 ' +
    'h5 h6 hr i img ins kbd li map ol p pre q s samp small span strike strong sub sup table tbody td tfoot th thead tr tt u ul var'
  ).split(' '),
)

const markup =
  /<(\/?)([A-Za-z][\w:.-]*)((?:\s+[A-Za-z_][\w:.-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|<!--(?!-?>)[\s\S]*?-->/y
const attribute = /\s+([A-Za-z_][\w:.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

/** What is wrong with a narrative, as the rest of a sentence. */
export function xhtmlProblem(text: string): string | undefined {
  const trimmed = text.trim()
  if (!/^<div[\s/>]/.test(trimmed)) return 'does not begin with <div'
  const open: string[] = []
  let at = 0
  let content = false
  while (at < trimmed.length) {
    const next = trimmed.indexOf('<', at)
    if (at > 0 && open.length === 0) return 'has text after its </div>'
    if (next === -1) break
    content ||= /\S/.test(trimmed.slice(at, next))
    markup.lastIndex = next
    const match = markup.exec(trimmed)
    if (!match) return `has markup that is not allowed: ${trimmed.slice(next, next + 30)}`
    const [whole, closing, name, attributes, selfClosing] = match
    const problem = name && tagProblem(name, closing!, attributes!, selfClosing!, open)
    if (problem) return problem
    content ||= name === 'img'
    at = next + whole.length
  }
  if (open.length > 0) return `has a <${open.at(-1)}> that is not closed`
  return content ? undefined : 'has no content'
}

function tagProblem(
  name: string,
  closing: string,
  attributes: string,
  selfClosing: string,
  open: string[],
): string | undefined {
  if (!elements.has(name)) return `has the element <${name}>, which a narrative may not have`
  if (closing) return open.pop() === name ? undefined : `has a </${name}> out of place`
  if (!selfClosing) open.push(name)
  return attributes === '' ? undefined : attributeProblem(attributes)
}

function attributeProblem(attributes: string): string | undefined {
  for (const [, name, double, single] of attributes.matchAll(attribute)) {
    if (/^on/i.test(name!)) return `has the event handler ${name}`
    if (isScript(double ?? single ?? '')) return `has a script in ${name}`
  }
  return undefined
}

// `java&#115;cript:` and `java script:` are the same to a browser.
function isScript(value: string): boolean {
  if (!/script|data|&#/i.test(value)) return false
  const decoded = value
    .replace(/&#x([0-9a-f]{1,6});?/gi, (_, hex) => character(Number.parseInt(hex, 16)))
    .replace(/&#(\d{1,7});?/g, (_, decimal) => character(Number(decimal)))
    .replace(/&(tab|newline|colon);/gi, (_, name) => (name.toLowerCase() === 'colon' ? ':' : ''))
  return /(?:java|vb)script:|^data:(?!image\/)/i.test(decoded.replace(/[^!-\uffff]/g, ''))
}

function character(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : ''
}
