// What the pages of the API console work with.
import type { Database } from '../../../db/database.ts'
import type { ConsoleTokenParts } from '../../../identity/console-token.ts'
import type { Environment } from '../../../lib/config.ts'
import { Failure } from '../../../lib/failure.ts'
import type { SearchParams } from '../../../store/search-params/known.ts'
import type { Description, Operation } from './operations.ts'
import { operationsOf } from './operations.ts'

export interface ConsolePageParts {
  readonly database: Database
  readonly tokens: ConsoleTokenParts['tokens']
  readonly environment: Environment
  /** The description of the API, once the routes are put together. */
  readonly description: () => unknown
  readonly searchParams: () => SearchParams
}

/** The operations by id, read once. */
export function createOperations({ description }: Pick<ConsolePageParts, 'description'>) {
  let known: ReadonlyMap<string, Operation> | undefined
  const all = (): ReadonlyMap<string, Operation> =>
    (known ??= new Map(operationsOf(description() as Description).map(each => [each.id, each])))
  return {
    all: () => [...all().values()],
    /** @throws Failure NOT_FOUND */
    one(id: string): Operation {
      const found = all().get(id)
      if (found) return found
      throw new Failure('NOT_FOUND', 'The console has no such operation.')
    },
  }
}

export type Operations = ReturnType<typeof createOperations>
