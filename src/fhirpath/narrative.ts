// htmlChecks(): what a narrative may contain. https://hl7.org/fhir/R4/narrative.html#security

const ELEMENTS = new Set(
  (
    'a abbr acronym b big blockquote br caption cite code col colgroup dd dfn div dl dt em h1 h2 h3 h4 h5 h6 hr i img ' +
    'li ol p pre q samp small span strong sub sup table tbody td tfoot th thead tr tt ul var'
  ).split(' '),
)

const ATTRIBUTES = new Set(
  (
    'abbr accesskey align alt axis bgcolor border cellhalign cellpadding cellspacing cellvalign char charoff charset cite ' +
    'class cols colspan compact coords dir frame headers height href hreflang hspace id lang longdesc name nowrap rel rev ' +
    'rowspan rules scope shape span src start style summary tabindex title type valign value vspace width xml:lang xmlns'
  ).split(' '),
)

/** Links may lead to the web, to a place in the document, to mail, or to embedded pictures; never to a script. */
const HARMFUL_LINK = /^\s*(?:javascript|vbscript|data(?!:image\/))/i

/** True if a narrative is well-formed XHTML of the permitted elements and attributes, in a div. */
export function narrativeIsSafe(xhtml: string): boolean {
  const open: string[] = []
  let offset = 0
  const pattern =
    /[^<]+|<!--[\s\S]*?-->|<(\/?)([A-Za-z][A-Za-z0-9:]*)((?:\s+[^\s=>/]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y
  while (offset < xhtml.length) {
    pattern.lastIndex = offset
    const match = pattern.exec(xhtml)
    if (!match) return false
    const [all, closing, name, attributes = '', empty] = match
    if (name === undefined) {
      if (open.length === 0 && all.trim() !== '' && !all.startsWith('<!--')) return false
    } else if (closing) {
      if (open.pop() !== name) return false
    } else {
      if (!elementIsSafe(name, attributes) || (open.length === 0 && (name !== 'div' || offset > firstText(xhtml))))
        return false
      if (!empty) open.push(name)
    }
    offset += all.length
  }
  return open.length === 0 && xhtml.trimStart().startsWith('<')
}

/** Where the one div must begin. */
function firstText(xhtml: string): number {
  return xhtml.length - xhtml.trimStart().length
}

function elementIsSafe(name: string, attributes: string): boolean {
  if (!ELEMENTS.has(name)) return false
  for (const [, attribute = '', double, single] of attributes.matchAll(/([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
    if (!ATTRIBUTES.has(attribute) && !attribute.startsWith('xmlns:')) return false
    if ((attribute === 'href' || attribute === 'src') && HARMFUL_LINK.test(double ?? single ?? '')) return false
  }
  return true
}
