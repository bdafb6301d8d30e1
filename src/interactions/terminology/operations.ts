// The terminology operations, each as one value: they join those of the surface.
// https://hl7.org/fhir/R4/terminology-service.html
import type { LibraryType } from '../../store/terminology/library.ts'
import type { Operation } from '../operation.ts'
import type { FhirReply } from '../request.ts'
import { expand, expandTakes } from './expand.ts'
import { type Inputs, inputsOf } from './inputs.ts'
import { lookup, lookupTakes } from './lookup.ts'
import { translate, translateTakes } from './translate.ts'
import { validateCode, validateCodeTakes } from './validate-code.ts'

type Run = Operation['run']

const both: Operation['onType'] = ['GET', 'POST']

/** Returns the operation for callers that may read the type; `inBody` names the parameters that only a body can hold. */
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

export const terminologyOperations: readonly Operation[] = [
  {
    name: 'expand',
    definition: 'http://hl7.org/fhir/OperationDefinition/ValueSet-expand',
    of: 'ValueSet',
    onType: both,
    onInstance: both,
    summary: 'Expand a value set into its codes',
    takes: expandTakes,
    run: about('ValueSet', expandTakes, ['valueSet'], expand),
  },
  {
    name: 'validate-code',
    definition: 'http://hl7.org/fhir/OperationDefinition/ValueSet-validate-code',
    of: 'ValueSet',
    onType: both,
    onInstance: both,
    summary: 'Check that a code is in a value set',
    takes: validateCodeTakes,
    run: about('ValueSet', validateCodeTakes, ['valueSet', 'coding', 'codeableConcept'], validateCode),
  },
  {
    name: 'lookup',
    definition: 'http://hl7.org/fhir/OperationDefinition/CodeSystem-lookup',
    of: 'CodeSystem',
    onType: both,
    onInstance: [],
    summary: 'Look up a code',
    takes: lookupTakes,
    run: about('CodeSystem', lookupTakes, ['coding'], lookup),
  },
  {
    name: 'translate',
    definition: 'http://hl7.org/fhir/OperationDefinition/ConceptMap-translate',
    of: 'ConceptMap',
    onType: both,
    onInstance: both,
    summary: 'Translate a code to another code system',
    takes: translateTakes,
    run: about('ConceptMap', translateTakes, ['conceptMap', 'coding', 'codeableConcept'], translate),
  },
]
