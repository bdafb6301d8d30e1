// Groups: named lists of rules with their parameters. https://hl7.org/fhir/R4/mapping-language.html#7.7.0.6

import type { Block, Group, Name, Parameter } from './ast.ts'
import { attempt } from './expression.ts'
import { typeName } from './path.ts'
import type { Reader } from './reader.ts'
import { isDeclaration } from './recovery.ts'
import { block } from './rule.ts'

const MODES = ['source', 'target'] as const
const NAMELESS: Omit<Name, 'span'> = { kind: 'name', text: '' }

/** `group Name(source src : A, target tgt : B) extends Base <<types>> { … }` */
export function group(reader: Reader): Group {
  const around = reader.surroundings()
  const { at } = reader.take()
  const name = attempt(() => groupName(reader)) ?? { ...NAMELESS, span: reader.behind() }
  const parameters = attempt(() => parameterList(reader)) ?? []
  const rest = attempt(() => suffix(reader)) ?? {}
  if (!reader.at('{')) toBlock(reader)
  const body = reader.at('{') ? block(reader) : missing(reader)
  reader.accept(';')
  return { kind: 'group', name, parameters, ...rest, block: body, around: around(true), span: reader.since(at) }
}

function groupName(reader: Reader): Name {
  if (reader.atWord('for') && (reader.atWord('types', 1) || reader.atWord('type', 1))) {
    reader.fail(
      '`group for` is the syntax of R3; in R4, write `group Name(source src : A, target tgt : B) <<types>> {`',
    )
  }
  return reader.name('the name of the group')
}

function missing(reader: Reader): Block {
  return { kind: 'block', rules: [], inside: { opening: [], closing: [] }, span: reader.behind() }
}

/** Advances to the opening brace; reports that it is missing, unless a problem has been reported already. */
function toBlock(reader: Reader): void {
  const { fresh } = reader.peek()
  const before = reader.problems.length
  if (reader.broken !== reader.next) {
    reader.report(`put the rules of a group in braces; found ${reader.found()}`, reader.spanOfToken(reader.peek()))
  }
  if (fresh && before < reader.problems.length && isDeclaration(reader)) return
  while (!reader.ended && !reader.at('{') && !isDeclaration(reader)) reader.take()
}

function parameterList(reader: Reader): Parameter[] {
  reader.expect('(', 'put the parameters of a group in parentheses: `(source src : Patient, target tgt : Person)`')
  const found: Parameter[] = []
  if (reader.accept(')')) return found
  do {
    const read = attempt(() => parameter(reader))
    if (read) found.push(read)
    else while (!reader.ended && !reader.at(',') && !reader.at(')') && !reader.at('{') && !reader.at(';')) reader.take()
  } while (reader.accept(',') || commaMissing(reader))
  if (!reader.accept(')')) {
    reader.report(`a parenthesis is missing after the parameters; found ${reader.found()}`, reader.behind(), ')')
  }
  return found
}

function commaMissing(reader: Reader): boolean {
  if (!reader.atWord('source') && !reader.atWord('target')) return false
  reader.report(`a comma is missing before ${reader.found()}`, reader.spanOfToken(reader.peek()), ',', reader.behind())
  return true
}

function parameter(reader: Reader): Parameter {
  const around = reader.surroundings()
  const { at } = reader.peek()
  const mode = reader.oneOf(MODES, 'a parameter begins with')
  const name = reader.name('the name of a parameter')
  const type = reader.accept(':') ? typeName(reader) : undefined
  return { kind: 'parameter', mode, name, type, around: around(), span: reader.since(at) }
}

function suffix(reader: Reader): Pick<Group, 'extends' | 'typeMode'> {
  let base: Name | undefined
  let typeMode: Group['typeMode']
  for (;;) {
    const token = reader.peek()
    if (token.kind === 'name' && !reader.atWord('extends') && reader.peek(1).kind === 'name') {
      reader.oneOf(['extends'], 'a group can continue with')
      base = reader.name('the name of the group that is extended')
    } else if (reader.acceptWord('extends')) base = reader.name('the name of the group that is extended')
    else if (reader.at('<') && reader.at('<', 1)) typeMode = stereotype(reader)
    else return { extends: base, typeMode }
  }
}

function stereotype(reader: Reader): Group['typeMode'] {
  const start = reader.take()
  reader.take()
  const token = reader.take()
  const plus = reader.accept('+')
  const closed = reader.accept('>') && reader.accept('>')
  const span = reader.since(start.at)
  if (closed && token.text === 'types' && !plus) return 'types'
  if (closed && token.text === 'type' && plus) return 'type+'
  const meant = plus || token.text === 'type+' ? 'type+' : 'types'
  reader.report('mark a default group with `<<types>>` or `<<type+>>`', span, `<<${meant}>>`)
  return meant
}
