// The syntax tree of a map in the FHIR Mapping Language. https://hl7.org/fhir/R4/mapping-language.html

import type { Expression, LiteralType, Position } from '../fhirpath/ast.ts'

/** A stretch of the map's text: where it begins (line and column count from one) and how many characters it has. */
export interface Span extends Position {
  readonly length: number
}

/** A comment to the end of the line or between marks; `text` is everything within its marks, as written. */
export interface Comment {
  readonly kind: 'comment'
  readonly style: 'line' | 'block'
  readonly text: string
  /** An empty line stands before it. */
  readonly gap: boolean
  readonly span: Span
}

/** What surrounds a construct: the comments that belong to it, and whether the author set it off by an empty line. */
export interface Surroundings {
  readonly gap: boolean
  readonly before: readonly Comment[]
  /** On the line the construct ends on. */
  readonly after: readonly Comment[]
}

/** Constructs that keep their comments. */
interface Commented {
  readonly around: Surroundings
  readonly span: Span
}

/** A name, without the backticks or quotation marks it may have been written in. */
export interface Name {
  readonly kind: 'name'
  readonly text: string
  readonly span: Span
}

/** Text in quotation marks where no other value may stand: a URL, the name of a map. */
export interface Text {
  readonly kind: 'text'
  readonly text: string
  readonly span: Span
}

/** `src.name.given`: a variable, then elements. Never empty. */
export interface Path {
  readonly kind: 'path'
  readonly names: readonly Name[]
  readonly span: Span
}

/** `'male'`, `-1.50`, `true`, `@2024-02`, `4 'mg'`: `text` has neither quotation marks nor `@` nor unit. */
export interface Literal {
  readonly kind: 'literal'
  readonly type: LiteralType | 'Long'
  readonly text: string
  /** Quantities: a UCUM code, or a calendar word (`day`) when `calendar` is true. */
  readonly unit?: string
  readonly calendar?: boolean
  readonly span: Span
}

/** A FHIRPath expression; `expression` has its places in the map's text, `text` is its normal form in FHIRPath proper. */
export interface Embedded {
  readonly kind: 'expression'
  readonly text: string
  readonly expression: Expression
  readonly span: Span
}

/** `/// path = value`; without a value it begins a complex element. */
export interface Metadata extends Commented {
  readonly kind: 'metadata'
  readonly path: Path
  readonly value?: Literal
}

/** `map "url" = "name"`, R4's way to name a map. */
export interface Declaration extends Commented {
  readonly kind: 'declaration'
  readonly url: Text
  readonly name: Text
}

/** `uses "url" alias Name as source` */
export interface Uses extends Commented {
  readonly kind: 'uses'
  readonly url: Text
  readonly alias?: Name
  readonly mode: 'source' | 'queried' | 'target' | 'produced'
}

/** `imports "url"`, which may contain `*`. */
export interface Import extends Commented {
  readonly kind: 'import'
  readonly url: Text
}

/** `let name = expression;` */
export interface Constant extends Commented {
  readonly kind: 'constant'
  readonly name: Name
  readonly value: Embedded
}

/** `conceptmap "id" { … }` */
export interface ConceptMap extends Commented {
  readonly kind: 'conceptmap'
  readonly id: Text
  readonly prefixes: readonly Prefix[]
  readonly unmapped: readonly Unmapped[]
  readonly mappings: readonly Mapping[]
  readonly inside: Inside
}

/** Comments of a braced block that belong to none of its members. */
export interface Inside {
  /** On the line of the opening brace. */
  readonly opening: readonly Comment[]
  /** Before the closing brace. */
  readonly closing: readonly Comment[]
}

/** `prefix s = "url"` */
export interface Prefix extends Commented {
  readonly kind: 'prefix'
  readonly name: Name
  readonly url: Text
}

/** `unmapped for s = provided`: codes of `s` without a mapping stay as they are. Without `for` it is about all. */
export interface Unmapped extends Commented {
  readonly kind: 'unmapped'
  readonly prefix?: Name
  readonly mode: Name
}

export type MappingOperator = '-' | '=' | '==' | '!=' | '--' | '<=' | '>=' | '<-' | '>-' | '~'

/** `s:male` */
export interface Code {
  readonly kind: 'code'
  readonly prefix: Name
  readonly code: Text
  readonly span: Span
}

/** `s:male == t:M`; with `--`, which means that there is no match, the target is absent. */
export interface Mapping extends Commented {
  readonly kind: 'mapping'
  readonly source: Code
  readonly operator: MappingOperator
  readonly target?: Code
}

/** `group Name(source src : A, target tgt : B) extends Base <<types>> { … }` */
export interface Group extends Commented {
  readonly kind: 'group'
  readonly name: Name
  readonly parameters: readonly Parameter[]
  readonly extends?: Name
  readonly typeMode?: 'types' | 'type+'
  readonly block: Block
}

export interface Parameter extends Commented {
  readonly kind: 'parameter'
  readonly mode: 'source' | 'target'
  readonly name: Name
  readonly type?: Path
}

/** `{ … }` */
export interface Block {
  readonly kind: 'block'
  readonly rules: readonly (Rule | Batch)[]
  readonly inside: Inside
  readonly span: Span
}

/**
 * `sources -> targets then dependents { … } "name";`. A simple copy (`a.x -> b.y;`) is a rule whose only source and
 * only target have neither variable nor transform.
 */
export interface Rule extends Commented {
  readonly kind: 'rule'
  readonly sources: readonly Source[]
  readonly targets: readonly Target[]
  readonly dependents: readonly Dependent[]
  readonly block?: Block
  readonly name?: Name
}

/** `src -> tgt: id, active "name";` copies each element to the element of the same name. */
export interface Batch extends Commented {
  readonly kind: 'batch'
  readonly source: Path
  readonly target: Path
  readonly elements: readonly Name[]
  readonly name?: Name
}

export type SourceListMode = 'first' | 'not_first' | 'last' | 'not_last' | 'only_one'

/** `src.name : HumanName 0..1 default ('x') first as n where (…) check (…) log (…)` */
export interface Source extends Commented {
  readonly kind: 'source'
  readonly path: Path
  readonly type?: Path
  readonly cardinality?: Cardinality
  /** `default ('x')` is an expression; the older `default "x"` is a literal. */
  readonly default?: Embedded | Literal
  readonly listMode?: SourceListMode
  readonly variable?: Name
  readonly where?: Embedded
  readonly check?: Embedded
  readonly log?: Embedded
}

interface Cardinality {
  readonly min: number
  /** Infinity for `*`. */
  readonly max: number
  readonly span: Span
}

export type TargetListMode = 'first' | 'share' | 'last' | 'single' | 'collate'

/** `tgt.name = create('HumanName') as n share names`; a target may lack its path: `uuid() as id`, `('x') as v`. */
export interface Target extends Commented {
  readonly kind: 'target'
  readonly path?: Path
  readonly transform?: Transform
  readonly variable?: Name
  readonly listModes: readonly ListMode[]
}

export interface ListMode {
  readonly mode: TargetListMode
  /** `share name` */
  readonly share?: Name
  readonly span: Span
}

/** What a target is given: a constant, a copy of a variable, the value of an expression, or that of a named transform. */
export type Transform = Literal | Path | Embedded | Invocation

/** `truncate(v, 20)` */
export interface Invocation {
  readonly kind: 'call'
  readonly name: Name
  readonly args: readonly Argument[]
  readonly span: Span
}

export type Argument = Literal | Path | Embedded

/** A group that is called after `then`: `CopyName(s, t)`. */
export interface Dependent extends Commented {
  readonly kind: 'dependent'
  readonly name: Name
  readonly args: readonly Argument[]
}

/** A whole file. The lists keep the order of the text; spans show how declarations of different kinds were mixed. */
export interface FmlMap {
  readonly kind: 'map'
  readonly file?: string
  readonly declaration?: Declaration
  readonly metadata: readonly Metadata[]
  readonly conceptMaps: readonly ConceptMap[]
  readonly uses: readonly Uses[]
  readonly imports: readonly Import[]
  readonly constants: readonly Constant[]
  readonly groups: readonly Group[]
  /** Comments after everything else. */
  readonly closing: readonly Comment[]
  readonly span: Span
}
