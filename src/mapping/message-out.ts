// FHIR resources to HL7 v2 messages, by the maps that are live: a laboratory gets its order, a hospital its result.

import { MapError } from '../fml/run/map-error.ts'
import { isMessageType } from '../hl7v2/models.ts'
import type { Tree } from '../hl7v2/tree.ts'
import { writeMessage } from '../hl7v2/write.ts'
import { Failure } from '../lib/failure.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Mappings } from './mappings.ts'
import type { MessageContext } from './messages.ts'

/** What the header says beside the type of the message: who sends it to whom, when, under which id. */
export interface MessageHeader {
  /** MSH-10, by which an acknowledgement names the message. */
  readonly controlId: string
  /** MSH-7, in ISO 8601 with an offset. */
  readonly sentAt: string
  readonly sendingApplication: string
  readonly sendingFacility: string
  readonly receivingApplication: string
  readonly receivingFacility: string
  /** MSH-11: P for production, T for training; default P. */
  readonly processingId?: string
  /** MSH-12; default 2.5.1. */
  readonly version?: string
}

/**
 * Returns the message that a map makes of a resource, or of a Bundle with what belongs to it. Its characters are for UTF-8, which
 * MSH-18 says.
 * @param map its name: `hl7v2/oml-o21-from-fhir`
 * @throws Failure VALIDATION_FAILED if the map cannot translate the resource
 */
export function composeMessage(
  mappings: Pick<Mappings, 'program'>,
  map: string,
  resource: JsonObject,
  context: MessageContext,
  header: MessageHeader,
): string {
  const program = mappings.program(map)
  const structure = program.targets[0]?.type
  if (!isMessageType(structure)) throw new Error(`the map ${map} makes no message`)
  try {
    const tree = program.run(program.sources.length > 1 ? [resource, context] : [resource]) as Tree
    return writeMessage({ ...tree, MSH: { ...(tree['MSH'] as Tree), ...headerOf(header) } }, structure)
  } catch (error) {
    if (!(error instanceof MapError)) throw error
    throw new Failure('VALIDATION_FAILED', `The resource cannot be converted to HL7 v2: ${error.reason}.`, {
      details: [{ ...(error.path !== undefined && { field: error.path }), code: 'mapping', message: error.reason }],
      cause: error,
    })
  }
}

function headerOf({ processingId = 'P', version = '2.5.1', ...header }: MessageHeader): Tree {
  return {
    MSH_3: { HD_1: header.sendingApplication },
    MSH_4: { HD_1: header.sendingFacility },
    MSH_5: { HD_1: header.receivingApplication },
    MSH_6: { HD_1: header.receivingFacility },
    MSH_7: header.sentAt,
    MSH_10: header.controlId,
    MSH_11: { PT_1: processingId },
    MSH_12: { VID_1: version },
    MSH_18: ['UNICODE UTF-8'],
  }
}
