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

export interface Operation {
  readonly type: LibraryType
  /** Without the dollar sign. */
  readonly name: string
  readonly summary: string
  /** True if it can be asked of one resource as well: `Type/id/$name`. */
  readonly ofInstance: boolean
  /** The parameters it takes. */
  readonly takes: readonly string[]
  readonly run: (inputs: Inputs) => Promise<FhirReply>
}

export const operations: readonly Operation[] = [
  {
    type: 'ValueSet',
    name: 'expand',
    summary: 'The codes of a value set',
    ofInstance: true,
    takes: expandTakes,
    run: expand,
  },
  {
    type: 'ValueSet',
    name: 'validate-code',
    summary: 'Whether a code is in a value set',
    ofInstance: true,
    takes: validateCodeTakes,
    run: validateCode,
  },
  {
    type: 'CodeSystem',
    name: 'lookup',
    summary: 'What a code means',
    ofInstance: false,
    takes: lookupTakes,
    run: lookup,
  },
  {
    type: 'ConceptMap',
    name: 'translate',
    summary: 'What a code is in another code system',
    ofInstance: true,
    takes: translateTakes,
    run: translate,
  },
]

type Methods = Readonly<Record<string, (store: Store, request: FhirRequest) => Promise<FhirReply>>>

const table = new Map<string, Methods>(
  operations.flatMap((operation): [string, Methods][] => {
    const answer = async (store: Store, request: FhirRequest): Promise<FhirReply> => {
      const library = store.library()
      library.mustSee(operation.type)
      return operation.run(inputsOf(library, request, operation.takes))
    }
    const methods = { GET: answer, POST: answer }
    const ofType: [string, Methods] = [`${operation.type}/$${operation.name}`, methods]
    return operation.ofInstance ? [ofType, [`${operation.type}//$${operation.name}`, methods]] : [ofType]
  }),
)

/** The methods of a terminology operation's address; undefined if it is none. */
export function terminologyAt(segments: readonly string[]): Methods | undefined {
  const [type, second, third] = segments
  if (segments.length === 2) return table.get(`${type}/${second}`)
  return segments.length === 3 ? table.get(`${type}//${third}`) : undefined
}
