// The Bulk Data operations as values: routes and CapabilityStatement are read from them
// (https://hl7.org/fhir/uv/bulkdata/STU2/export.html).

/** Where an export is asked for: all data, all patients, or the members of a group. */
export type Level = 'system' | 'patient' | 'group'

export interface BulkOperation {
  readonly level: Level
  readonly definition: string
  /** The one type that has it; undefined: the whole endpoint. */
  readonly of: 'Patient' | 'Group' | undefined
  /** Below the FHIR base. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
}

const definition = (name: string): string => `http://hl7.org/fhir/uv/bulkdata/OperationDefinition/${name}`

export const exportOperations: readonly BulkOperation[] = [
  {
    level: 'system',
    definition: definition('export'),
    of: undefined,
    path: '$export',
    operationId: 'exportSystem',
    summary: 'Export all data to NDJSON files',
  },
  {
    level: 'patient',
    definition: definition('patient-export'),
    of: 'Patient',
    path: 'Patient/$export',
    operationId: 'exportPatients',
    summary: 'Export all patients and their records',
  },
  {
    level: 'group',
    definition: definition('group-export'),
    of: 'Group',
    path: 'Group/{id}/$export',
    operationId: 'exportGroup',
    summary: 'Export the patients of a group and their records',
  },
]

/** Parameters of an export in the query of its address, in words; in a Parameters body they have the same names. */
export const exportParameters: Readonly<Record<string, string>> = {
  _outputFormat: 'application/fhir+ndjson, application/ndjson or ndjson.',
  _since: 'Export only resources changed after this instant, including deletions.',
  _until: 'Export only resources changed before this instant.',
  _type: 'Comma-separated resource types to return.',
  _typeFilter: 'A search such as Observation?status=final. Several searches of one type are combined with OR.',
  _elements: 'Elements to return, such as id or Patient.name, besides the mandatory ones.',
}

/** The statement of the guide that this server conforms to. */
export const instantiated = 'http://hl7.org/fhir/uv/bulkdata/CapabilityStatement/bulk-data'

/** The entries of a CapabilityStatement for a type, or for the whole endpoint. */
export function bulkOperationsOf(type: string | undefined): { name: string; definition: string }[] {
  return exportOperations
    .filter(each => each.of === type)
    .map(each => ({ name: 'export', definition: each.definition }))
}
