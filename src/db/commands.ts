// The single commands of an SQL text: an engine that forwards commands to other nodes takes one a message.
// https://www.postgresql.org/docs/current/sql-syntax-lexical.html

/** The pieces of an SQL text. Without backslashes, a doubled quotation mark may as well end a piece and begin the next one. */
const pieces = [
  /(?<blank>\s+|--[^\n]*)/y,
  /e'(?:[^'\\]|\\.|'')*'|'[^']*'|"[^"]*"/isy,
  // The tag of a dollar quote is a name without dollars, or empty.
  /\$(?<tag>(?:[a-z_\u0080-\uffff][\w\u0080-\uffff]*)?)\$.*?\$\k<tag>\$/isy,
  /(?<word>[a-z_\u0080-\uffff][\w$\u0080-\uffff]*)/iy,
  // A number, a parameter, or a sign; what is left out begins something that does not end.
  /[$]?\d[\w]*|[^'"$]/sy,
]

/** What surrounds a place of the text: of open brackets, and of blocks from `begin atomic` or, in one, `case` to `end`. */
interface Depth {
  brackets: number
  blocks: number
}

/**
 * Returns the commands of a text in order, without the semicolons after them. What stands before a command, such as a comment, comes
 * with it.
 * @throws Error if a string, name, comment, bracket or function body does not end.
 */
export function commandsOf(text: string): string[] {
  const commands: string[] = []
  const depth = { brackets: 0, blocks: 0 }
  let [start, isBlank, lastWord] = [0, true, '']
  for (let at = 0; at < text.length; ) {
    const { piece, word, blank } = pieceAt(text, at)
    at += piece.length
    if (blank) continue
    deepen(depth, word ?? piece, lastWord)
    if (piece === ';' && depth.brackets === 0 && depth.blocks === 0) {
      if (!isBlank) commands.push(text.slice(start, at - 1).trim())
      ;[start, isBlank, lastWord] = [at, true, '']
    } else [isBlank, lastWord] = [false, word ?? '']
  }
  if (depth.brackets > 0 || depth.blocks > 0)
    throw new Error('A bracket or a function body of the SQL text does not end.')
  return isBlank ? commands : [...commands, text.slice(start).trim()]
}

function pieceAt(text: string, at: number): { piece: string; word?: string; blank?: boolean } {
  if (text.startsWith('/*', at)) return { piece: text.slice(at, endOfComment(text, at)), blank: true }
  for (const piece of pieces) {
    piece.lastIndex = at
    const found = piece.exec(text)
    const { word, blank } = found?.groups ?? {}
    if (found) return { piece: found[0], ...(word && { word: word.toLowerCase() }), blank: blank !== undefined }
  }
  throw new Error(`A string or name of the SQL text does not end: ${text.slice(at, at + 20)}`)
}

/** Comments of this kind can stand in one another. */
function endOfComment(text: string, start: number): number {
  const marks = /\/\*|\*\//g
  marks.lastIndex = start
  for (let open = 0; ; ) {
    const mark = marks.exec(text)
    if (!mark) throw new Error('A comment of the SQL text does not end.')
    open += mark[0] === '/*' ? 1 : -1
    if (open === 0) return marks.lastIndex
  }
}

function deepen(depth: Depth, piece: string, lastWord: string): void {
  if (piece === '(') depth.brackets++
  else if (piece === ')') depth.brackets--
  else if (piece === 'atomic' && lastWord === 'begin') depth.blocks++
  else if (depth.blocks > 0 && piece === 'case') depth.blocks++
  else if (depth.blocks > 0 && piece === 'end') depth.blocks--
}
