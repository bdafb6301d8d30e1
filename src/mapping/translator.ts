// Records of the interface to FHIR and back, by the maps that are live at the moment.

import type { TObject } from 'typebox'
import { MapError } from '../fml/run/map-error.ts'
import { Failure } from '../lib/failure.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Log } from '../lib/log.ts'
import type { Context } from '../shapes/context.ts'
import { type Filled, filled } from '../shapes/filled.ts'
import type { Base } from '../store/base.ts'
import type { Mappings } from './mappings.ts'

/** Who called, and by which request. */
export interface Called {
  readonly caller: { readonly organizationId: string }
  readonly requestId: string
}

export interface Translator {
  /** Returns the input of a map in addition to the record of a call. */
  contextOf(call: Called): Context
  /**
   * What the map makes of a record that a caller sent.
   * @throws Failure VALIDATION_FAILED saying which field cannot be written as FHIR.
   */
  toFhir(map: string, record: JsonObject, context: Context): JsonObject
  /** Returns a resource as a record of this shape, with every field; undefined, and logged, if the map cannot translate it. */
  fromFhir<Shape extends TObject>(
    map: string,
    shape: Shape,
    resource: JsonObject,
    context: Context,
  ): Filled<Shape> | undefined
}

/** @param base of the data set: maps see its naming systems as they are written today */
export function createTranslator(
  mappings: Pick<Mappings, 'program'>,
  base: Base,
  log: Log,
  now: () => Date = () => new Date(),
): Translator {
  const run = (map: string, record: JsonObject, context: Context): JsonObject => {
    const program = mappings.program(map)
    return program.run(program.sources.length > 1 ? [record, context] : [record]) as JsonObject
  }
  return {
    contextOf: ({ caller, requestId }) => ({
      base_url: base.origin,
      received_at: now().toISOString(),
      request_id: requestId,
      organization_id: caller.organizationId,
    }),
    toFhir(map, record, context) {
      try {
        return run(map, record, context)
      } catch (error) {
        if (!(error instanceof MapError)) throw error
        const field = error.path?.replace(/^[A-Za-z]+\.?/, '')
        throw new Failure('VALIDATION_FAILED', `The record cannot be converted to FHIR: ${error.reason}.`, {
          details: [{ field, code: 'mapping', message: error.reason }],
          cause: error,
        })
      }
    },
    fromFhir(map, shape, resource, context) {
      try {
        return filled(shape, run(map, base.withSystems(resource), context))
      } catch (error) {
        if (!(error instanceof MapError)) throw error
        const { resourceType, id } = resource
        log.error(
          { place: error.place, resource: `${String(resourceType)}/${String(id)}` },
          'mappings: could not convert a stored resource to a record',
        )
        return undefined
      }
    },
  }
}
