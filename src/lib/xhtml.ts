// The div of a narrative: well-formed XHTML, and only what txt-1 allows (https://hl7.org/fhir/R4/narrative.html#xhtml).
// Whatever is not recognised is refused, so a viewer that trusts stored narrative runs no script.

const NAMESPACE = 'http://www.w3.org/1999/xhtml'

const elements = new Set(
  (
    'a abbr acronym address area b bdo big blockquote br caption cite code col colgroup dd del dfn div dl dt em font h1 h2 h3 h4 ' +
    'h5 h6 hr i img ins kbd li map ol p pre q s samp small span strike strong sub sup table tbody td tfoot th thead tr tt u ul var'
  ).split(' '),
)

// Those of HTML 4 for these elements, without events.
const attributeNames = new Set(
  (
    'abbr accesskey align alt axis bgcolor border cellhalign cellpadding cellspacing cellvalign char charoff charset cite class ' +
    'clear color cols colspan compact coords datetime dir face frame headers height href hreflang hspace id idref ismap lang ' +
    'longdesc name nohref noshade nowrap rel rev rowspan rules scope shape size span src start style summary tabindex target ' +
    'title type usemap valign value vspace width xml:base xml:lang xml:space xmlns'
  ).split(' '),
)

const markup = /<(\/?)([A-Za-z][\w:.-]*)((?:\s+[A-Za-z_][\w:.-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y
const attribute = /\s+([A-Za-z_][\w:.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

/** What is wrong with a narrative, as the rest of a sentence; undefined for one that may be stored and shown. */
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
    const between = trimmed.slice(at, next)
    content ||= /\S/.test(between)
    const comment = commentEnd(trimmed, next)
    markup.lastIndex = next
    const match = comment === undefined ? markup.exec(trimmed) : undefined
    if (comment === undefined && !match) return unknownMarkup(trimmed, next)
    const problem = textProblem(between) ?? (match ? tagProblem(match, open) : undefined)
    if (problem) return problem
    content ||= match?.[2] === 'img'
    at = comment ?? next + match![0].length
  }
  if (open.length > 0) return `has an unclosed <${open.at(-1)}>`
  if (!content) return 'has no content'
  return inNamespace.test(trimmed) ? undefined : `has no xmlns="${NAMESPACE}" in its <div>`
}

const inNamespace = new RegExp(
  `^<div(?:\\s+[^\\s=]+\\s*=\\s*(?:"[^"]*"|'[^']*'))*?\\s+xmlns\\s*=\\s*["']${NAMESPACE}["']`,
)

/** Where the comment ends that begins here; a browser ends one at `<!-->` and `--!>` too, so these are none. */
function commentEnd(text: string, at: number): number | undefined {
  if (!text.startsWith('<!--', at) || /^-?>/.test(text.slice(at + 4, at + 6))) return undefined
  const end = text.indexOf('--', at + 4)
  return end >= 0 && text[end + 2] === '>' ? end + 3 : undefined
}

function unknownMarkup(text: string, at: number): string {
  return `has markup that is not allowed: ${text.slice(at, at + 30)}`
}

function tagProblem(match: RegExpExecArray, open: string[]): string | undefined {
  const [whole, closing, name = '', attributes = '', selfClosing] = match
  if (!elements.has(name)) return `has the element <${name}>, which is not allowed in a narrative`
  if (closing) {
    if (attributes || selfClosing) return unknownMarkup(whole, 0)
    return open.pop() === name ? undefined : `has a misplaced </${name}>`
  }
  if (!selfClosing) open.push(name)
  return attributes === '' ? undefined : attributesProblem(attributes)
}

function attributesProblem(attributes: string): string | undefined {
  const seen = new Set<string>()
  for (const [, name = '', double, single] of attributes.matchAll(attribute)) {
    const value = double ?? single ?? ''
    if (/^on/i.test(name)) return `has the event handler ${name}`
    if (!attributeNames.has(name) && !name.startsWith('xmlns:'))
      return `has the attribute ${name.slice(0, 30)}, which is not allowed in a narrative`
    if (seen.has(name)) return `has the attribute ${name} twice in one tag`
    if (name === 'xmlns' && value !== NAMESPACE) return `has an element of another namespace than ${NAMESPACE}`
    if (isScript(value)) return `has a script in ${name}`
    const problem = value.includes('&') ? referenceProblem(value) : undefined
    if (problem) return problem
    seen.add(name)
  }
  return undefined
}

function textProblem(text: string): string | undefined {
  if (text.includes(']]>')) return 'has ]]> in its text: write ]]&gt;'
  return text.includes('&') ? referenceProblem(text) : undefined
}

const reference = /&(?:(?:amp|lt|gt|quot|apos);|#(\d{1,7});|#x([\dA-Fa-f]{1,6});|([A-Za-z][A-Za-z\d]{0,30});)?/g

// XML knows five entities by name, and R4 adds none (https://hl7.org/fhir/R4/narrative.html#xhtml).
function referenceProblem(text: string): string | undefined {
  for (const [whole, decimal, hex, name] of text.matchAll(reference)) {
    if (whole === '&') return 'has an unescaped &: write &amp;'
    if (name)
      return `has the entity &${name};, which is not defined in XML: write the character itself or a numeric reference such as &#160;`
    const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : undefined
    if (code !== undefined && !isCharacter(code)) return `has ${whole}, which is not an XML character`
  }
  return undefined
}

// https://www.w3.org/TR/xml/#charsets
function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x1_0000 && code <= 0x10_ffff)
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
