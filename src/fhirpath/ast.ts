// The syntax tree of a FHIRPath expression. http://hl7.org/fhirpath/N1/grammar.html

/** Where a node or token begins in the text; line and column count from one. */
export interface Position {
  readonly offset: number
  readonly line: number
  readonly column: number
}

export type LiteralType = 'Boolean' | 'String' | 'Integer' | 'Decimal' | 'Date' | 'DateTime' | 'Time' | 'Quantity'

/** `'text'`, `1.50`, `@2014-01-25`, `4 days`: `text` is the literal's own text, without quotes, `@` or unit. */
export interface Literal {
  readonly kind: 'literal'
  readonly type: LiteralType
  readonly text: string
  /** Quantities: a UCUM code, or a calendar word (`day`) when `calendar` is true. */
  readonly unit?: string
  readonly calendar?: boolean
  readonly at: Position
}

/** `{}` */
interface EmptyCollection {
  readonly kind: 'empty'
  readonly at: Position
}

/** `$this`, `$index`, `$total` */
export interface Special {
  readonly kind: 'special'
  readonly name: 'this' | 'index' | 'total'
  readonly at: Position
}

/** `%resource` */
export interface Variable {
  readonly kind: 'variable'
  readonly name: string
  readonly at: Position
}

/** `name`, or `input.name` */
export interface Member {
  readonly kind: 'member'
  readonly input?: Expression
  readonly name: string
  readonly at: Position
}

/** `where(…)`, or `input.where(…)` */
export interface Call {
  readonly kind: 'call'
  readonly input?: Expression
  readonly name: string
  readonly args: readonly Expression[]
  readonly at: Position
}

/** `input[0]` */
export interface Indexer {
  readonly kind: 'indexer'
  readonly input: Expression
  readonly index: Expression
  readonly at: Position
}

/** `-1`, `+1` */
interface Unary {
  readonly kind: 'unary'
  readonly operator: '+' | '-'
  readonly operand: Expression
  readonly at: Position
}

export type BinaryOperator =
  | '*'
  | '/'
  | 'div'
  | 'mod'
  | '+'
  | '-'
  | '&'
  | '|'
  | '<'
  | '>'
  | '<='
  | '>='
  | '='
  | '!='
  | '~'
  | '!~'
  | 'in'
  | 'contains'
  | 'and'
  | 'or'
  | 'xor'
  | 'implies'

/** `left + right`; `at` is the operator's position. */
export interface Binary {
  readonly kind: 'binary'
  readonly operator: BinaryOperator
  readonly left: Expression
  readonly right: Expression
  readonly at: Position
}

/** `input is FHIR.Patient`, `input as Quantity` */
export interface TypeOperation {
  readonly kind: 'type'
  readonly operator: 'is' | 'as'
  readonly input: Expression
  /** The parts of the type's name: `['FHIR', 'Patient']`. */
  readonly type: readonly string[]
  readonly at: Position
}

export type Expression =
  | Literal
  | EmptyCollection
  | Special
  | Variable
  | Member
  | Call
  | Indexer
  | Unary
  | Binary
  | TypeOperation
