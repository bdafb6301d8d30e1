// JSON laid out for reading, character by character: numbers and escapes stay as they were written, which parsing would not keep.

/**
 * Returns the text with a line for each member; what is no JSON as it stands.
 * @param {string} text
 */
export function laidOut(text) {
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  let out = ''
  let depth = 0
  const line = () => `\n${'  '.repeat(depth)}`
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g)) {
    const isOpened = /[[{]$/.test(out)
    if (token === '}' || token === ']') {
      depth--
      out += isOpened ? token : line() + token
    } else {
      if (isOpened || out.endsWith(',')) out += line()
      out += token === ':' ? ': ' : token
      if (token === '{' || token === '[') depth++
    }
  }
  return out
}
