// What the compiler knows at a name of a map: for completion and explanation while a map is written.

import type { Types } from '../fhirpath/compile.ts'
import type { Span } from './ast.ts'

/** A name in scope, as far as an author needs it. */
export interface SeenVariable {
  readonly kind: 'source' | 'constant' | 'target' | 'place'
  /** Undefined if they depend on the data, or on a structure that is not known. */
  readonly types: Types
}

/** A place of the text, and what can stand there. A place has several sights where its group is compiled for several types. */
export type Sight =
  /** An element of these types, to be read or to be made. */
  | { readonly kind: 'element'; readonly span: Span; readonly types: Types; readonly isMade: boolean }
  /** A variable of a rule, as the first name of a path. */
  | { readonly kind: 'variable'; readonly span: Span; variables(): ReadonlyMap<string, SeenVariable> }
  /** A name in an expression: an element of these types or a function, and a variable where nothing stands before it. */
  | {
      readonly kind: 'expression'
      readonly span: Span
      readonly types: Types
      readonly variables: (() => ReadonlyMap<string, SeenVariable>) | undefined
    }
  /** The name of a transform: `translate`. */
  | { readonly kind: 'transform'; readonly span: Span }
  /** The name of a group that is called, and the groups there are. */
  | { readonly kind: 'group'; readonly span: Span; groups(): readonly SeenGroup[] }
  /** The concept map of a translation, the codes that are looked up in it, where they are known, and the concept maps there are: `#severity`. */
  | {
      readonly kind: 'table'
      readonly span: Span
      readonly name: string
      readonly codes: ReadonlySet<string> | undefined
      tables(): readonly string[]
    }
  /** A text in quotation marks that can be one of these codes. */
  | { readonly kind: 'codes'; readonly span: Span; readonly codes: ReadonlySet<string> }
  /** The type of what `create` makes. */
  | { readonly kind: 'type'; readonly span: Span; readonly types: Types }

/** A group that a rule can call. */
export interface SeenGroup {
  readonly name: string
  /** `source src : AllergyRecord, target tgt : AllergyIntolerance` */
  readonly parameters: string
  /** The file or URL of its map. */
  readonly map: string
}
