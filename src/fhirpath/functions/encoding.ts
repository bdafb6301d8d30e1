// encode(), decode(), escape() and unescape(). http://hl7.org/fhirpath/#additional-string-functions

/** Writes a string's UTF-8 bytes as hex, base64 or urlbase64; undefined for other formats. */
export function encode(text: string, format: string): string | undefined {
  const bytes = Buffer.from(text, 'utf8')
  if (format === 'hex') return bytes.toString('hex')
  if (format === 'base64') return bytes.toString('base64')
  if (format === 'urlbase64') return bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_')
  return undefined
}

/** The opposite of `encode`. */
export function decode(text: string, format: string): string | undefined {
  if (format === 'hex') return Buffer.from(text, 'hex').toString('utf8')
  if (format === 'base64') return Buffer.from(text, 'base64').toString('utf8')
  if (format === 'urlbase64') return Buffer.from(text, 'base64url').toString('utf8')
  return undefined
}

const HTML: readonly (readonly [string, string])[] = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]

/** Makes a string safe inside HTML or a JSON string; undefined for other formats. */
export function escapeText(text: string, format: string): string | undefined {
  if (format === 'json') return JSON.stringify(text).slice(1, -1)
  if (format !== 'html') return undefined
  return HTML.reduce((result, [char, entity]) => result.replaceAll(char, entity), text)
}

/** The opposite of `escape`. */
export function unescapeText(text: string, format: string): string | undefined {
  if (format === 'html') return HTML.reduceRight((result, [char, entity]) => result.replaceAll(entity, char), text)
  return format === 'json' ? unescapeJson(text) : undefined
}

function unescapeJson(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(`"${text.replace(/\\.|"/gs, found => (found === '"' ? '\\"' : found))}"`)
    return String(value)
  } catch {
    return undefined
  }
}
