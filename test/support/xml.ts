// A small XML reader for test data: elements, attributes, text, comments, entities. No namespaces, no DTDs.

export interface XmlElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly XmlElement[]
  /** The text directly inside, joined. */
  readonly text: string
  /** The element as it stands in the source. */
  readonly source: string
}

const TOKEN =
  /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<\/([^\s>]+)\s*>|<([^\s/>]+)((?:\s+[^\s=]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/g

interface Open {
  name: string
  attributes: Record<string, string>
  children: XmlElement[]
  text: string
  start: number
}

/** Reads a document and gives its root element. */
export function parseXml(xml: string): XmlElement {
  const root: Open = { name: '', attributes: {}, children: [], text: '', start: 0 }
  const open = [root]
  for (const match of xml.matchAll(TOKEN)) {
    const [token, cdata, closing, name, attributes = '', empty, text] = match
    const parent = open.at(-1)!
    if (cdata !== undefined) parent.text += cdata
    else if (text !== undefined) parent.text += decodeEntities(text)
    else if (name !== undefined)
      open.push({ name, attributes: readAttributes(attributes), children: [], text: '', start: match.index })
    if (closing !== undefined || empty) close(open, xml, match.index + token.length)
  }
  const [document] = root.children
  if (!document || open.length !== 1) throw new Error('the XML is not well-formed')
  return document
}

function close(open: Open[], xml: string, end: number): void {
  const { start, ...element } = open.pop()!
  open.at(-1)!.children.push({ ...element, source: xml.slice(start, end) })
}

function readAttributes(text: string): Record<string, string> {
  const found = text.matchAll(/([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)
  return Object.fromEntries(
    [...found].map(([, name, double, single]) => [name!, decodeEntities(double ?? single ?? '')]),
  )
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decodeEntities(text: string): string {
  return text.replace(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (whole, hex, decimal, name) => {
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16))
    return decimal ? String.fromCodePoint(Number(decimal)) : (ENTITIES[name] ?? whole)
  })
}
