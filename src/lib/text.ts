// Small operations on text.

/** The text before the first separator and the text after it, which is empty if there is none. */
export function cutAt(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)]
}
