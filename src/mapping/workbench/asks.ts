// What the workbench asks a thread about files that are being written, and what it is answered. All of it is plain data.

import type { Suggestions } from '../../fml/assist/complete.ts'
import type { Explanation } from '../../fml/assist/explain.ts'
import type { CoverageReport } from '../coverage.ts'
import type { SourceFile } from '../files.ts'
import type { Need } from '../needs.ts'

/** A file of the folder as it is being written. */
export interface Draft {
  /** Below the folder: `allergy-to-fhir.fml`. */
  readonly name: string
  readonly text: string
}

/** What is asked about the first of the drafts. */
export type Ask =
  /** What a map makes of an input; `run` names another map that imports the draft. */
  | { readonly kind: 'try'; readonly run?: string; readonly input: string; readonly context: string }
  | { readonly kind: 'complete'; readonly offset: number }
  | { readonly kind: 'explain'; readonly offset: number }
  /** Whether the folder can be served with the drafts in it. */
  | { readonly kind: 'judge' }
  /** What came of the examples of these maps. */
  | { readonly kind: 'examples'; readonly maps: readonly string[] }
  /** What is known of these maps. */
  | { readonly kind: 'list'; readonly maps: readonly string[] }
  /** The concept maps of the draft, or of all maps. */
  | { readonly kind: 'tables' }

export type AskOf<Kind extends Ask['kind']> = Extract<Ask, { readonly kind: Kind }>

/** A task for a thread. */
export interface DeskTask {
  /** The folder without the drafts; its files come along when the thread does not have them. */
  readonly base: { readonly id: string; readonly files?: readonly SourceFile[] }
  /** What the service requires of its maps. */
  readonly needs: readonly Need[]
  readonly drafts: readonly Draft[]
  readonly ask: Ask
}

/** What answers each kind of ask. */
export interface Answers {
  readonly try: Tried
  readonly complete: Suggestions | undefined
  readonly explain: Explanation | undefined
  readonly judge: JudgedFolder
  readonly examples: readonly ExampleResult[]
  readonly list: readonly Listed[]
  readonly tables: readonly CodeTable[]
}

/** An answer, or that the thread does not have the files of the base. */
export type DeskReply<Kind extends Ask['kind'] = Ask['kind']> = { readonly answer: Answers[Kind] } | 'unknown base'

/** Whether the folder can be served. */
export interface JudgedFolder {
  readonly problems: readonly Marked[]
  /** The maps that the drafts change: those whose text or examples they are, and those that import these. */
  readonly affected: readonly string[]
}

/** A problem, by the name of its file. */
export interface Marked {
  readonly file: string
  /** Offsets in its text. */
  readonly from: number
  readonly to: number
  readonly line: number
  readonly column: number
  readonly severity: 'error' | 'warning'
  readonly message: string
  readonly fix?: { readonly from: number; readonly to: number; readonly text: string }
}

/** Why a map stopped. */
export interface Stopped {
  readonly message: string
  /** The file and line of the rule; absent if the input could not be read. */
  readonly file?: string
  readonly line?: number
  readonly rule?: string
  /** The place in the data. */
  readonly path?: string
}

/** One execution of a rule. */
export interface StepLine {
  readonly file: string
  readonly line: number
  readonly group: string
  readonly rule: string
  readonly depth: number
  readonly found: string
}

/** A rule of the draft, and how often it ran. */
export interface RuleCount {
  readonly line: number
  readonly count: number
}

export interface ExampleResult {
  readonly map: string
  readonly name: string
  readonly line: number
  readonly isPassed: boolean
  /** What is wrong, a line each. */
  readonly findings: readonly string[]
  /** The expected and the actual result as formatted JSON, where they differ. */
  readonly expected?: string
  readonly got?: string
}

/** What came of a try. */
export interface Tried {
  readonly problems: readonly Marked[]
  /** The map that was run. */
  readonly run: string
  /** Formatted; absent if it could not be made. */
  readonly output: string | undefined
  readonly stopped: Stopped | undefined
  /** What is not valid in input and output. */
  readonly invalid: readonly string[]
  readonly logged: readonly string[]
  readonly steps: readonly StepLine[]
  /** How many steps there were: only the first are listed. */
  readonly stepCount: number
  /** Of the draft; empty if nothing ran. */
  readonly rules: readonly RuleCount[]
  readonly groups: readonly { readonly name: string; readonly line: number }[]
  readonly examples: readonly ExampleResult[]
  readonly coverage: CoverageReport | undefined
  /** The maps that can run the draft: itself, or those that import it. */
  readonly runnable: readonly string[]
  /** True if the map has a second source. */
  readonly takesContext: boolean
  /** Milliseconds that it took. */
  readonly took: number
}

/** A map as the list shows it. */
export interface Listed {
  readonly name: string
  readonly from: string | undefined
  readonly to: string | undefined
  /** Elements of the source that are read, and all of them. */
  readonly read: number
  readonly readable: number
  readonly unset: readonly string[]
  readonly examples: number
  readonly failing: number
  readonly errors: number
  readonly warnings: number
}

/** A concept map, as a table. */
export interface CodeTable {
  readonly map: string
  readonly id: string
  readonly line: number
  readonly rows: readonly CodeRow[]
  /** Codes that rules look up and that have no line. */
  readonly missing: readonly string[]
  /** Codes without a line stay as they are. */
  readonly isKept: boolean
}

interface CodeRow {
  readonly line: number
  readonly from: string
  readonly fromSystem: string
  /** `==`, `<=`, `--` */
  readonly relation: string
  readonly to: string
  readonly toSystem: string
}
