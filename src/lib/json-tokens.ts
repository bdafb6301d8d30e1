// The tokens of JSON, and where and how a text stops being JSON.

/** The tokens of a text that is JSON. */
export function tokensIn(text: string): { token: string; offset: number }[] {
  return [...text.matchAll(new RegExp(ANY, 'g'))].map(({ 0: token, index: offset }) => ({ token, offset }))
}

const ESCAPE = String.raw`\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})`
const STRING = String.raw`"(?:[^"\\\u0000-\u001f]|${ESCAPE})*"`
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`
const SPACE = /\s*/y
const ANY = String.raw`${STRING}|${NUMBER}|true|false|null|[{}[\],:]`
const TOKEN = new RegExp(ANY, 'y')

/** The line and the column of an offset, from 1. */
export function placeIn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: before.at(-1)!.length + 1 }
}

/** What may come next. */
type Wanted = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or end'

/** Returns where a text stops being JSON; `JSON.parse` does not always report it. */
export function faultIn(text: string): number {
  const open: string[] = []
  let wanted: Wanted | undefined = 'value'
  for (let at = 0; ; at = TOKEN.lastIndex) {
    SPACE.lastIndex = at
    SPACE.exec(text)
    TOKEN.lastIndex = SPACE.lastIndex
    const token = TOKEN.exec(text)?.[0]
    wanted = after(wanted, token && (/^[\w-]/.test(token) ? '0' : token.charAt(0)), open)
    if (wanted === undefined) return SPACE.lastIndex
  }
}

/** Returns what may follow a token (`"` any text, `0` any other word); undefined if it may not stand where `wanted` was. */
function after(wanted: Wanted, token: string | undefined, open: string[]): Wanted | undefined {
  if (wanted === ':') return token === ':' ? 'value' : undefined
  if (token === ',' && wanted === ', or end' && open.length > 0) return open.at(-1) === '{' ? 'name' : 'value'
  if (token === '}' || token === ']') return closed(wanted, token, open)
  if (wanted.startsWith('name')) return token === '"' ? ':' : undefined
  if (!wanted.startsWith('value')) return undefined
  if (token === '"' || token === '0') return ', or end'
  if (token !== '{' && token !== '[') return undefined
  open.push(token)
  return token === '{' ? 'name or }' : 'value or ]'
}

function closed(wanted: Wanted, token: '}' | ']', open: string[]): Wanted | undefined {
  const isEnd = wanted === ', or end' || wanted.endsWith(`or ${token}`)
  return isEnd && open.pop() === (token === '}' ? '{' : '[') ? ', or end' : undefined
}

/** Most characters of a text in which the fault is looked for where V8 does not tell its position. */
const mostLookedThrough = 100_000

/**
 * Returns what is wrong with a text that `JSON.parse` has refused: a position, for V8's own message quotes a piece of the text, which may
 * be patient data.
 * @param message V8's
 * @param isLine the text is a line of a file, so that only the column is named
 */
export function syntaxProblem(text: string, message: string, isLine = false): string {
  const position = /position (\d+)(?: \(line (\d+) column (\d+)\))?/.exec(message)
  const at = (line: string | number, column: string | number): string =>
    `syntax error at ${isLine ? '' : `line ${line}, `}column ${column}`
  if (position?.[2]) return at(position[2], position[3]!)
  if (position) return `syntax error at character ${position[1]}`
  if (/end of JSON/.test(message)) return 'unexpected end of input'
  if (text.length > mostLookedThrough) return 'it cannot be read'
  const { line, column } = placeIn(text, faultIn(text))
  return at(line, column)
}
