// The schema that this version of the code knows: its migrations, and the name by which later versions recognise its connections.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of the migrations. */
export const migrations = join(import.meta.dirname, 'migrations')

/** The names of the migrations in a folder, in their order. */
export const migrationsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter(name => name.endsWith('.sql'))
    .sort()

/** The number of a migration. */
export const numberOf = (name: string): number => Number.parseInt(name, 10)

const prefix = 'health-interop, schema '

/** The application_name of connections of this version: `health-interop, schema 36`. */
export const applicationName = prefix + numberOf(migrationsIn(migrations).at(-1)!)

/** SQL for the number of the schema that a connection knows, from its application_name; null: it is none of a service. */
export const schemaOf = (name: string): string => `substring(${name} from '^${prefix}(\\d+)$')::integer`
