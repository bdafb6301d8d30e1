// The shape of the R4 structure data this project works with: types, their elements, and search parameters.
// https://hl7.org/fhir/R4/structuredefinition.html · https://hl7.org/fhir/R4/searchparameter.html

/** One element of a type, e.g. `Observation.value[x]`. */
export interface ElementModel {
  /** JSON name without the type suffix: `value` for `value[x]`. */
  readonly name: string
  /**
   * Type codes: a primitive (`code`), a datatype (`CodeableConcept`), `Resource`, or a backbone named by its
   * path (`Observation.component`). A content reference is resolved: `Observation.component.referenceRange` has
   * the type `Observation.referenceRange`. FHIRPath system types are written as their FHIR type (`id`, `string`, `uri`).
   */
  readonly types: readonly string[]
  /** True for `value[x]`: the JSON property is the name followed by the capitalised type (`valueQuantity`). */
  readonly choice: boolean
  readonly min: number
  /** Infinity for `*`. */
  readonly max: number
  /**
   * Resource types a Reference (or canonical) may point at; absent when any may. Of a choice with both, those of the
   * Reference.
   */
  readonly targets?: readonly string[]
  /**
   * Canonical URL (no version) of the value set of a *required* binding, or of the maximum that a code's binding has;
   * absent for weaker bindings.
   */
  readonly requiredValueSet?: string
  /** True if the element is in the summary view (`isSummary`). */
  readonly summary: boolean
  /** What it is in words, where its name does not say it: `Patient Identifier List` of HL7 v2's PID-3. */
  readonly short?: string
}

/** An invariant, written in FHIRPath. */
export interface ConstraintModel {
  readonly key: string
  readonly severity: 'error' | 'warning'
  readonly human: string
  readonly expression: string
  /** Dotted path of the element that is the expression's focus, relative to the type; absent: the type itself. */
  readonly element?: string
}

/** A resource type, datatype, backbone element or primitive. */
export interface TypeModel {
  readonly name: string
  readonly kind: 'resource' | 'complex' | 'backbone' | 'primitive'
  /** The parent type: `DomainResource`, `Element`, `BackboneElement`, `Quantity`, `string`…; absent for `Element` and `Resource`. */
  readonly base?: string
  readonly abstract: boolean
  /**
   * Every element, inherited ones included, in definition order, by ElementModel.name. A primitive's are `id` and
   * `extension`: its value is the JSON value itself.
   */
  readonly elements: ReadonlyMap<string, ElementModel>
  /** Every invariant, inherited ones included, save those of the elements' own types. */
  readonly constraints: readonly ConstraintModel[]
  /** For primitives: the anchored regular expression of their JSON string form, as the specification gives it; none for xhtml. */
  readonly pattern?: string
}

export type SearchParamType =
  | 'number'
  | 'date'
  | 'string'
  | 'token'
  | 'reference'
  | 'composite'
  | 'quantity'
  | 'uri'
  | 'special'

/** A search parameter of one resource type. */
export interface SearchParamModel {
  readonly code: string
  /** Canonical URL. */
  readonly url: string
  readonly type: SearchParamType
  /** The part of the FHIRPath expression that concerns this resource type; absent where R4 gives none (`_text`, `_content`, `_query`). */
  readonly expression?: string
  /** Target types of a reference parameter; absent when any may be. Only Patient where the expression resolves to one. */
  readonly targets?: readonly string[]
  /** For composites: the component parameters' canonical URLs and their expressions, relative to `expression`. */
  readonly components?: readonly { readonly definition: string; readonly expression: string }[]
  readonly description: string
}
