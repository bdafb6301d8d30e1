// The terminology operations, each as one value: interact, the routes and the CapabilityStatement are read from them.
// https://hl7.org/fhir/R4/terminology-service.html
import type { Store } from '../../store/store.ts'
import type { LibraryType } from '../../store/terminology/library.ts'
import type { FhirReply, FhirRequest } from '../request.ts'
import { expand, expandTakes } from './expand.ts'
import { type Inputs, inputsOf } from './inputs.ts'
import { lookup, lookupTakes } from './lookup.ts'
import { translate, translateTakes } from './translate.ts'
import { validateCode, validateCodeTakes } from './validate-code.ts'

type Method = 'GET' | 'POST'
type Run = (store: Store, request: FhirRequest) => Promise<FhirReply>

export interface TerminologyOperation {
  /** Without the dollar sign. */
  readonly name: string
  readonly definition: string
  readonly of: LibraryType
  /** How it is called on the type, and on one resource of it. */
  readonly onType: readonly Method[]
  readonly onInstance: readonly Method[]
  readonly summary: string
  /** What an address may carry, in words. */
  readonly takes: Readonly<Record<string, string>>
  readonly run: Run
}

const both: readonly Method[] = ['GET', 'POST']

/** The operation for those who may read the type; `inBody` names the parameters that only a body can hold. */
function about(
  type: LibraryType,
  takes: Readonly<Record<string, string>>,
  inBody: readonly string[],
  answer: (inputs: Inputs) => Promise<FhirReply>,
): Run {
  const taken = [...Object.keys(takes), ...inBody]
  return async (store, request) => {
    const library = store.library()
    library.mustSee(type)
    return answer(inputsOf(library, request, taken))
  }
}

export const terminologyOperations: readonly TerminologyOperation[] = [
  {
    name: 'expand',
    definition: 'http://hl7.org/fhir/OperationDefinition/ValueSet-expand',
    of: 'ValueSet',
    onType: both,
    onInstance: both,
    summary: 'The codes of a value set',
    takes: expandTakes,
    run: about('ValueSet', expandTakes, ['valueSet'], expand),
  },
  {
    name: 'validate-code',
    definition: 'http://hl7.org/fhir/OperationDefinition/ValueSet-validate-code',
    of: 'ValueSet',
    onType: both,
    onInstance: both,
    summary: 'Whether a code is in a value set',
    takes: validateCodeTakes,
    run: about('ValueSet', validateCodeTakes, ['valueSet', 'coding', 'codeableConcept'], validateCode),
  },
  {
    name: 'lookup',
    definition: 'http://hl7.org/fhir/OperationDefinition/CodeSystem-lookup',
    of: 'CodeSystem',
    onType: both,
    onInstance: [],
    summary: 'What a code means',
    takes: lookupTakes,
    run: about('CodeSystem', lookupTakes, ['coding'], lookup),
  },
  {
    name: 'translate',
    definition: 'http://hl7.org/fhir/OperationDefinition/ConceptMap-translate',
    of: 'ConceptMap',
    onType: both,
    onInstance: both,
    summary: 'What a code is in another code system',
    takes: translateTakes,
    run: about('ConceptMap', translateTakes, ['conceptMap', 'coding', 'codeableConcept'], translate),
  },
]

/** What an address such as `ValueSet/1/$expand` can be called with; undefined if it is no terminology operation. */
export function terminologyAt(segments: readonly string[]): Readonly<Record<string, Run>> | undefined {
  const [type, ...rest] = segments
  const name = rest.at(-1)
  const operation = terminologyOperations.find(each => each.of === type && `$${each.name}` === name)
  const methods = rest.length === 1 ? operation?.onType : rest.length === 2 ? operation?.onInstance : undefined
  if (!operation || !methods?.length) return undefined
  return Object.fromEntries(methods.map(method => [method, operation.run]))
}
