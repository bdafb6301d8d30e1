// Records of the interface to FHIR and back, by the maps that are live at the moment.

import type { TObject } from 'typebox'
import type { Program } from '../fml/compile.ts'
import type { RunOptions } from '../fml/run/frame.ts'
import { MapError } from '../fml/run/map-error.ts'
import { Failure } from '../lib/failure.ts'
import { type JsonObject, parseJson } from '../lib/json.ts'
import type { Log } from '../lib/log.ts'
import type { Context } from '../shapes/context.ts'
import { type Filled, filled } from '../shapes/filled.ts'
import type { Base } from '../store/base.ts'
import { createMadeBefore } from './made-before.ts'
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
  /** The same of the text of a stored resource. A record that follows from the text alone is kept for some minutes. */
  fromStored<Shape extends TObject>(map: string, shape: Shape, body: string, context: Context): Translated<Shape>
}

/** What became of a stored resource. */
export interface Translated<Shape extends TObject> {
  /** True if it was entered in error: by its status, or by that of its verification. */
  readonly isInError: boolean
  /** Undefined if the map cannot translate it. */
  readonly record: Filled<Shape> | undefined
}

/** @param base of the data set: maps see its naming systems as they are written today */
export function createTranslator(
  mappings: Pick<Mappings, 'program'>,
  base: Base,
  log: Log,
  now: () => Date = () => new Date(),
): Translator {
  const madeBefore = createMadeBefore<Translated<TObject>>()
  const run = (map: string, record: JsonObject, context: Context, options?: RunOptions): JsonObject => {
    const program = mappings.program(map)
    return program.run(takesContext(program) ? [record, context] : [record], options) as JsonObject
  }
  const fromFhir = <Shape extends TObject>(
    map: string,
    shape: Shape,
    resource: JsonObject,
    context: Context,
    options?: RunOptions,
  ): Filled<Shape> | undefined => {
    try {
      return filled(shape, run(map, base.withSystems(resource), context, options))
    } catch (error) {
      if (!(error instanceof MapError)) throw error
      const { resourceType, id } = resource
      log.error(
        { place: error.place, resource: `${String(resourceType)}/${String(id)}` },
        'mappings: could not convert a stored resource to a record',
      )
      return undefined
    }
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
    fromFhir,
    fromStored<Shape extends TObject>(map: string, shape: Shape, body: string, context: Context): Translated<Shape> {
      const program = mappings.program(map)
      const before = madeBefore.recall(shape, program, body)
      if (before) return before as Translated<Shape>
      let isLasting = !takesContext(program)
      /** Is another the next time. */
      const once = <Value>(value: Value): Value => {
        isLasting = false
        return value
      }
      const resource = parseJson(body) as JsonObject
      const asked = { now: () => once(now()), uuid: () => once(crypto.randomUUID()) }
      const record = fromFhir(map, shape, resource, context, asked)
      const stored = { isInError: isInError(resource), record }
      if (isLasting && record) madeBefore.keep(shape, program, body, stored)
      return stored
    },
  }
}

const takesContext = ({ sources }: Program): boolean => sources.length > 1

function isInError({ status, verificationStatus }: JsonObject): boolean {
  if (status === 'entered-in-error') return true
  const codes = (verificationStatus as { coding?: readonly { code?: string }[] } | undefined)?.coding ?? []
  return codes.some(({ code }) => code === 'entered-in-error')
}
