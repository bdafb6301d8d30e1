// What is changed beside Stryker's own list: SQL within strings, as a kind of its own; and texts that are only words stay as they are.

import { allMutators } from '../../node_modules/@stryker-mutator/instrumenter/dist/src/mutators/mutate.js'

type Mutator = (typeof allMutators)[number]
type Path = Parameters<Mutator['mutate']>[0]
type Node = Path['node']

/** Each match is replaced alone. */
const rewrites: readonly (readonly [RegExp, string])[] = [
  [/(?<=\s)<(?=\s)/g, '<='],
  [/(?<=\s)<=(?=\s)/g, '<'],
  [/(?<=\s)>(?=\s)/g, '>='],
  [/(?<=\s)>=(?=\s)/g, '>'],
  [/(?<=\s)=(?=\s)/g, '<>'],
  [/(?<=\s)<>(?=\s)/g, '='],
  [/(?<=\s)&&(?=\s)/g, '@>'],
  [/(?<=\s)\+(?=\s)/g, '-'],
  [/(?<=\s)-(?=\s)/g, '+'],
  [/\band\b/g, 'or'],
  [/\bor\b/g, 'and'],
  [/\bnot (?!null)/g, ''],
  [/(?<!not )\bexists\b/g, 'not exists'],
  [/\bleft join\b/g, 'join'],
  [/\bis null\b/g, 'is not null'],
  [/\bis not null\b/g, 'is null'],
  [/\bis distinct from\b/g, 'is not distinct from'],
  [/\border by ([\w.]+)(?! desc)/g, 'order by $1 desc'],
  [/ desc\b/g, ''],
  [/\bcoalesce\([^(),]+, /g, 'coalesce('],
  [/(\bcoalesce\([^(),]+), [^(),]+/g, '$1'],
  [/ limit (\d+|\$\d+)/g, ''],
  [/ for update\b/g, ''],
  [/\bbool_or\b/g, 'bool_and'],
  [/\bbool_and\b/g, 'bool_or'],
  [/\bgreatest\(/g, 'least('],
  [/\bleast\(/g, 'greatest('],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
]

/** `§` stands for a value that is put in. */
const isSql = (text: string): boolean =>
  /\b(select|insert into|delete from|update \w+ set|not exists|order by|is (not )?null)\b|\b(any|exists|coalesce|unnest) ?\(|::\w+|§[.\w]* (=|<>|<=|>=|<|>) |^ (or|and) $/.test(
    text,
  ) && !/^[A-Z]/.test(text)

const textOf = (path: Path): string | undefined => {
  if (path.isStringLiteral()) return path.node.value
  if (path.isTemplateLiteral()) return path.node.quasis.map(({ value }) => value.cooked).join('§')
  return undefined
}

/** A copy of the literal with one of its pieces replaced. */
function withPiece(node: Node, piece: number, text: string): Node {
  const copy = structuredClone(node)
  if (copy.type === 'StringLiteral') {
    copy.value = text
    delete copy.extra
  } else if (copy.type === 'TemplateLiteral') copy.quasis[piece]!.value = { raw: text, cooked: text }
  return copy
}

const sql: Mutator = {
  name: 'SQL',
  *mutate(path) {
    const text = textOf(path)
    if (text === undefined || !isSql(text) || path.parentPath?.isTSLiteralType()) return
    for (const [piece, part] of text.split('§').entries())
      for (const [pattern, replacement] of rewrites)
        for (const match of part.matchAll(pattern)) {
          const changed = match[0].replace(
            new RegExp(pattern.source.replace(/^\(\?<[=!].*?\)|\(\?[=!].*\)$/g, '')),
            replacement,
          )
          yield withPiece(
            path.node,
            piece,
            part.slice(0, match.index) + changed + part.slice(match.index + match[0].length),
          )
        }
  },
}

/** True for codes and paths; false for sentences, SQL, and the names of prepared statements, of which nothing depends. */
function isTelling(path: Path): boolean {
  const text = textOf(path)
  if (text === undefined || /\s/.test(text)) return false
  const { parent } = path
  const isName = parent.type === 'ObjectProperty' && parent.key.type === 'Identifier' && parent.key.name === 'name'
  return (
    !isName &&
    !(
      parent.type === 'ObjectProperty' &&
      parent.key.type === 'Identifier' &&
      /^(description|summary)$/.test(parent.key.name)
    )
  )
}

const words = allMutators.find(({ name }) => name === 'StringLiteral')!
const plain = words.mutate.bind(words)
words.mutate = (path, context) => (isTelling(path) ? plain(path, context) : [])
allMutators.push(sql)
