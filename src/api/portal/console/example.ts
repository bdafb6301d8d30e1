// A value that fits a schema of the API description, as a developer would begin with it.

/** A schema, as far as it says what a value is like. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly examples?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly minItems?: number
  readonly minimum?: number
  readonly format?: string
}

export type Schemas = Readonly<Record<string, Schema>>

/** The names of fields that say more than their type. */
const byName: Readonly<Record<string, unknown>> = {
  health_id: 'CM-TQYE-6SRK-YQ6S',
  callback_url: 'https://hospital.example.org/webhooks',
  facility_id: 'ward-7',
  subscription_id: 'whs_1',
  job: 'job-1',
  file: 'Patient-1.ndjson',
  id: 'example',
  version: '1',
  compartment: 'Patient',
  medication_code: 'J01CA04',
  name: 'Amoxicillin 500 mg',
  unit: 'capsule',
  currency: 'XAF',
  result_value: '6.8 mmol/L',
  test_name: 'Serum potassium',
}

/** Returns an example: what the schema names as one, else the least that it requires. @param name of the field */
export function exampleOf(schema: Schema, schemas: Schemas, name = ''): unknown {
  if (schema.$ref !== undefined) return exampleOf(schemas[schema.$ref.split('/').at(-1)!] ?? {}, schemas, name)
  if (schema.examples?.length) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  const choice = (schema.anyOf ?? schema.oneOf)?.find(({ type }) => type !== 'null')
  if (choice) return exampleOf(choice, schemas, name)
  if (Object.hasOwn(byName, name)) return byName[name]
  if (schema.type === 'object') return objectOf(schema, schemas)
  if (schema.type === 'array') return schema.items ? [exampleOf(schema.items, schemas, name)] : []
  return plainOf(schema, name)
}

function plainOf({ type, format, minimum, default: usual }: Schema, name: string): unknown {
  if (usual !== undefined) return usual
  if (type === 'integer' || type === 'number') return minimum ?? 1
  if (type === 'boolean') return true
  if (format === 'date') return '2026-01-31'
  if (format === 'date-time') return '2026-01-31T08:30:00Z'
  return name.replaceAll('_', ' ') || 'text'
}

/** What is required, and what has an example. */
function objectOf({ properties = {}, required = [] }: Schema, schemas: Schemas): Record<string, unknown> {
  const shown = Object.entries(properties).filter(([name, each]) => required.includes(name) || each.examples)
  return Object.fromEntries(shown.map(([name, each]) => [name, exampleOf(each, schemas, name)]))
}
