// The terminology operations, each as one value: they join those of the surface.
// https://hl7.org/fhir/R4/terminology-service.html
import type { LibraryType } from '../../store/terminology/library.ts'
import type { Operation } from '../operation.ts'
import type { FhirReply } from '../request.ts'
import { expand, expandTakes } from './expand.ts'
import { type Inputs, inputsOf } from './inputs.ts'
import { lookup, lookupTakes } from './lookup.ts'
import { subsumes, subsumesTakes } from './subsumes.ts'
import { translate, translateTakes } from './translate.ts'
import { validateCode, validateCodeTakes } from './validate-code.ts'
import { validateSystemCode, validateSystemCodeTakes } from './validate-system-code.ts'

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
    name: 'validate-code',
    id: 'validateCodeOfSystem',
    definition: 'http://hl7.org/fhir/OperationDefinition/CodeSystem-validate-code',
    of: 'CodeSystem',
    onType: both,
    onInstance: both,
    summary: 'Check that a code is in a code system',
    takes: validateSystemCodeTakes,
    run: about('CodeSystem', validateSystemCodeTakes, ['codeSystem', 'coding', 'codeableConcept'], validateSystemCode),
  },
  {
    name: 'subsumes',
    definition: 'http://hl7.org/fhir/OperationDefinition/CodeSystem-subsumes',
    of: 'CodeSystem',
    onType: both,
    onInstance: both,
    summary: 'Check which of two codes is the more general one',
    takes: subsumesTakes,
    run: about('CodeSystem', subsumesTakes, ['codingA', 'codingB'], subsumes),
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
