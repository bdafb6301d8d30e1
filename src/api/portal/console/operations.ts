// The operations that the console offers: those of Connect, SDK, Bridge and FHIR, read from the service's own description of its API.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LibraryMethod, Proof } from '../../../../web/samples.js'
import { exampleOf, type Schema, type Schemas } from './example.ts'

/** A parameter of the path or the query. */
export interface OperationField {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly description: string
  /** What the form begins with; empty for what may be left out. */
  readonly sample: string
  /** The values it may have; none: any. */
  readonly choices: readonly string[]
}

export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  readonly proof: Proof
  /** One of these is needed; none: the store decides by what is asked for. */
  readonly scopes: readonly string[]
  readonly fields: readonly OperationField[]
  readonly body?: { readonly types: readonly string[]; readonly isRequired: boolean; readonly sample: string }
  readonly replies: readonly (readonly [status: string, description: string])[]
  /** Further parameters of the query, as in an address: what the form begins with; undefined: none are taken. */
  readonly more: string | undefined
  /** Values of parameters that the path already has. */
  readonly fixed: Readonly<Record<string, string>>
  readonly library?: LibraryMethod
}

/** The parts of an OpenAPI document that are read here. */
export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: {
    readonly schemas: Schemas
    readonly responses: Readonly<Record<string, { readonly description: string }>>
  }
}

interface Described {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly required?: boolean
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>
  }
  readonly responses: Readonly<Record<string, { readonly description?: string; readonly $ref?: string }>>
}

interface Parameter {
  readonly name?: string
  readonly in?: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
}

const prefixes = ['/api/v1/connect/', '/api/v1/sdk/', '/api/v1/bridge/', '/api/fhir/R4']

/** Returns the operations in the order of the description. */
export function operationsOf({ paths, components }: Description): Operation[] {
  return Object.entries(paths)
    .filter(([path]) => prefixes.some(each => path.startsWith(each)) && !path.includes('/.well-known/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) =>
        operation(path, method.toUpperCase(), described, components),
      ),
    )
}

function operation(
  path: string,
  method: string,
  described: Described,
  components: Description['components'],
): Operation {
  const { operationId: id, summary, description = '', tags, requestBody, responses } = described
  const [security = {}] = described.security ?? []
  const fixed = fixedOf(path, method)
  const library = libraryOf(method, Object.keys(fixed).length > 0 ? '/api/fhir/R4/{type}' : path)
  return {
    ...{ id, method, path, tag: tags[0] ?? '', summary, description, fixed, more: moreOf(path, method) },
    proof: proofOf(Object.keys(security)),
    scopes: security['BearerAuth'] ?? [],
    fields: (described.parameters ?? []).flatMap(each => fieldOf(path, method === 'GET', each, components.schemas)),
    ...(requestBody && { body: bodyOf(id, path, requestBody, components.schemas) }),
    replies: Object.entries(responses).map(
      ([status, { description: text, $ref }]) =>
        [status, text ?? components.responses[$ref?.split('/').at(-1) ?? '']?.description ?? ''] as const,
    ),
    ...(library && { library }),
  }
}

function proofOf(schemes: readonly string[]): Proof {
  if (schemes.includes('BearerAuth')) return 'token'
  if (schemes.includes('BridgeAgentKey')) return 'agent'
  return schemes.includes('ClientBasic') ? 'client' : 'none'
}

/** A search that is described for one type of its own. */
const fixedOf = (path: string, method: string): Record<string, string> => {
  const type = method === 'GET' ? /^\/api\/fhir\/R4\/([A-Z][A-Za-z]+)$/.exec(path)?.[1] : undefined
  return type === undefined ? {} : { type }
}

/** What operations on terminology ask about. */
const asked: Readonly<Record<string, readonly (readonly [name: string, type: string, value: string])[]>> = {
  $expand: [['url', 'valueUri', 'http://hl7.org/fhir/ValueSet/administrative-gender']],
  'CodeSystem/$validate-code': [
    ['url', 'valueUri', 'http://hl7.org/fhir/administrative-gender'],
    ['code', 'valueCode', 'female'],
  ],
  '$validate-code': [
    ['url', 'valueUri', 'http://hl7.org/fhir/ValueSet/administrative-gender'],
    ['code', 'valueCode', 'female'],
    ['system', 'valueUri', 'http://hl7.org/fhir/administrative-gender'],
  ],
  $lookup: [
    ['code', 'valueCode', 'female'],
    ['system', 'valueUri', 'http://hl7.org/fhir/administrative-gender'],
  ],
  $subsumes: [
    ['codeA', 'valueCode', 'male'],
    ['codeB', 'valueCode', 'female'],
    ['system', 'valueUri', 'http://hl7.org/fhir/administrative-gender'],
  ],
  $transform: [['source', 'valueUri', 'http://example.org/StructureMap/example']],
  $translate: [
    ['url', 'valueUri', 'http://example.org/ConceptMap/example'],
    ['code', 'valueCode', 'female'],
    ['system', 'valueUri', 'http://hl7.org/fhir/administrative-gender'],
  ],
}

/** The address of one resource says which one. */
function askedOf(path: string) {
  const [name, type] = [path.split('/').at(-1)!, path.split('/')[4]]
  const found = asked[`${type}/${name}`] ?? asked[name] ?? []
  return found.filter(([each]) => !['url', 'source'].includes(each) || !path.includes('/{id}/'))
}

function fieldOf(
  path: string,
  isGet: boolean,
  { name, in: place, required = false, description = '', schema = {} }: Parameter,
  schemas: Schemas,
): OperationField[] {
  if (name === undefined || (place !== 'path' && place !== 'query')) return []
  const known = isGet ? askedOf(path).find(each => each[0] === name)?.[2] : undefined
  const sample = known ?? (required ? String(exampleOf(schema, schemas, name)) : '')
  return [{ name, in: place, required, description, sample, choices: (schema.enum ?? []).map(String) }]
}

/** Searches take any parameters of the type; what is changed without an id is found by some. */
function moreOf(path: string, method: string): string | undefined {
  if (!path.startsWith('/api/fhir/R4')) return undefined
  if (method === 'GET') return ''
  const isConditional = path.endsWith('/{type}') && method !== 'POST'
  return isConditional ? 'identifier=http://hospital.example.org/mrn|12345' : undefined
}

const patient = { resourceType: 'Patient', name: [{ family: 'Abena', given: ['Jeanne'] }], birthDate: '1992-04-17' }

const parameters = (...parameter: object[]) => ({ resourceType: 'Parameters', parameter })

/** What FHIR takes is described as any resource. */
function ofFhir(path: string): unknown {
  if (path.endsWith('$match')) return parameters({ name: 'resource', resource: patient })
  if (/\$(?:un)?merge$/.test(path))
    return parameters(
      { name: 'source-patient', valueReference: { reference: 'Patient/example-2' } },
      { name: 'target-patient', valueReference: { reference: 'Patient/example' } },
    )
  const content = path.endsWith('$transform') ? [{ name: 'content', resource: patient }] : []
  if (path.includes('$') && !/\$(?:validate|import)$/.test(path))
    return parameters(...content, ...askedOf(path).map(([name, type, value]) => ({ name, [type]: value })))
  return path.endsWith('/{id}') ? { ...patient, id: 'example' } : patient
}

const bySchema: Readonly<Record<string, (path: string) => unknown>> = {
  FhirResource: ofFhir,
  FhirBundle: () => ({
    resourceType: 'Bundle',
    type: 'batch',
    entry: [{ request: { method: 'GET', url: 'Patient?_count=1' } }],
  }),
  FhirPatch: () => [{ op: 'add', path: '/active', value: true }],
}

/** Bodies of which the schema requires little, or knows too much. */
const byOperation: Readonly<Record<string, unknown>> = {
  connectToken: { grant_type: 'client_credentials' },
  connectIntrospect: { token: 'eyJhbGciOi…' },
  connectRevoke: { token: 'eyJhbGciOi…' },
  resolvePatient: { first_name: 'Jeanne', last_name: 'Abena', date_of_birth: '1992-04-17' },
  requestConsent: { consent_type: 'full_record' },
  grantConsent: { consent_type: 'full_record', verification_method: 'in_person' },
  pushEncounter: { health_id: 'CM-TQYE-6SRK-YQ6S', encounter_type: 'outpatient' },
  rotateWebhookSecret: {},
  testWebhookSubscription: {},
}

function bodyOf(
  id: string,
  path: string,
  { required = false, content }: NonNullable<Described['requestBody']>,
  schemas: Schemas,
): Operation['body'] {
  // Any type, and a synonym of the first.
  const types = Object.keys(content).filter(each => each !== '*/*' && each !== 'text/json')
  const schema = content[types[0]!]?.schema ?? {}
  const made = bySchema[schema.$ref?.split('/').at(-1) ?? '']
  const value = byOperation[id] ?? (made ? made(path) : exampleOf(schema, schemas))
  const isForm = types.every(each => each.endsWith('urlencoded'))
  // A line for each resource.
  const isLines = types[0]!.includes('ndjson')
  const sample = isForm ? '_count=10' : JSON.stringify(value, null, isLines ? undefined : 2)
  // JSON first: what the console shows is JSON.
  const isJson = (type: string): boolean => type.endsWith('json') && !type.includes('ndjson')
  return {
    types: isLines ? types : types.toSorted((one, other) => Number(isJson(other)) - Number(isJson(one))),
    isRequired: required,
    sample,
  }
}

interface Contract {
  readonly modules: Readonly<Record<string, Readonly<Record<string, ContractMethod>>>>
}

interface ContractMethod {
  readonly method?: string
  readonly path?: string
  readonly returns: string
  readonly parameters: LibraryMethod['parameters'] | null
}

const contract = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../../clients/contract.json'), 'utf8'),
) as Contract

const methods: ReadonlyMap<string, LibraryMethod> = new Map(
  Object.entries(contract.modules).flatMap(([module, all]) =>
    Object.entries(all).flatMap(([name, { method, path, returns, parameters }]) =>
      path === undefined
        ? []
        : [[`${method} ${path}`, { module, method: name, returns, parameters: parameters ?? [] }] as const],
    ),
  ),
)

const libraryOf = (method: string, path: string): LibraryMethod | undefined => methods.get(`${method} ${path}`)
