// Quotation marks and escapes of text in maps. https://hl7.org/fhir/R4/mapping-language.html#syntax

const MEANINGS: Readonly<Record<string, string>> = {
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '\\': '\\',
  '/': '/',
  "'": "'",
  '"': '"',
  '`': '`',
}

const ESCAPE = /\\(u[0-9A-Fa-f]{4}|[\s\S]|$)/g

/**
 * The meaning of what stands between quotation marks. An escape that the language does not know keeps its backslash
 * and is reported with its offset and its letter.
 */
export function unescaped(raw: string, unknown: (offset: number, letter: string) => void): string {
  if (!raw.includes('\\')) return raw
  return raw.replace(ESCAPE, (all, letters: string, offset: number) => {
    if (letters.length === 5) return String.fromCharCode(Number.parseInt(letters.slice(1), 16))
    const meaning = Object.hasOwn(MEANINGS, letters) ? MEANINGS[letters] : undefined
    if (meaning !== undefined) return meaning
    unknown(offset, letters)
    return all
  })
}

const LETTERS: Readonly<Record<string, string>> = { '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't', '\\': '\\' }

/** Text in the given quotation marks, escaped so that it stays on its line and reads back as itself. */
export function quoted(text: string, mark: "'" | '"' | '`'): string {
  let result = mark as string
  for (const char of text) {
    const letter = char === mark ? mark : LETTERS[char]
    if (letter !== undefined) result += `\\${letter}`
    else if (char < ' ' || char === '\u2028' || char === '\u2029') result += `\\u${hex(char)}`
    else result += char
  }
  return result + mark
}

function hex(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(4, '0')
}

const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/

/** A name as it must be written: as it is, or in backticks where it is not a plain word. */
export function nameText(name: string): string {
  return isPlain(name) ? name : quoted(name, '`')
}

/** True for what can be written without backticks; `true` and `false` would be read as values. */
function isPlain(name: string): boolean {
  return PLAIN.test(name) && name !== 'true' && name !== 'false'
}
