// The compact rows of the generated JSON files, as generate.ts writes them and r4.ts reads them.

/** name, types joined with `|` (`*`: the open list), 1 choice + 2 summary, min, max (-1 unbounded), targets joined with `|`, value set. */
export type ElementRow = [
  name: string,
  types: string,
  flags: number,
  min: number,
  max: number,
  targets?: string,
  valueSet?: string,
]

/** key, 1 error 0 warning, human, expression, element. */
export type ConstraintRow = [key: string, error: 0 | 1, human: string, expression: string, element?: string]

/** Elements and constraints are the type's own: those of `base` come before them; a row with an inherited name replaces it. */
export type TypeRow = [
  name: string,
  kind: 'resource' | 'complex' | 'backbone' | 'primitive',
  base: string,
  abstract: 0 | 1,
  elements: ElementRow[],
  constraints: ConstraintRow[],
  pattern?: string,
]

/** Canonical URL of a value set -> its codes by system, joined with a space (no R4 code of a required binding has one). */
export type ValueSetRows = Record<string, [system: string, codes: string][]>

/** Type -> what its own elements are, in the order of their rows; empty where the specification has no words. */
export type WordRows = Record<string, string[]>

/** URL of a code system -> its codes, joined with a bar; empty where R4 does not carry all of them. */
export type CodeSystemRows = Record<string, string>

/** `components`: definition and expression in turns. */
export type SearchParamRow = [
  code: string,
  url: string,
  type: string,
  description: string,
  expression?: string,
  targets?: string,
  components?: string[],
]

export interface TypesFile {
  open: string[]
  types: TypeRow[]
}

export interface SearchFile {
  /** By resource type; `Resource` and `DomainResource` hold what their subtypes inherit. */
  params: Record<string, SearchParamRow[]>
}
