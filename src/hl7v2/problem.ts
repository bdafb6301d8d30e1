// What is wrong with an HL7 v2 message, as the ERR segment of an acknowledgement names it: segment, its number, field, and a code of HL7's table 0357.

/** HL7 table 0357, message error condition codes: those that are raised here. */
export const errorCodes = {
  100: 'Segment sequence error',
  101: 'Required field missing',
  102: 'Data type error',
  103: 'Table value not found',
  104: 'Value too long',
  200: 'Unsupported message type',
  201: 'Unsupported event code',
  202: 'Unsupported processing id',
  203: 'Unsupported version id',
  204: 'Unknown key identifier',
  207: 'Application internal error',
} as const

type ErrorCode = keyof typeof errorCodes

/** A place in a message, as ERR-2 has it; numbers begin with 1. */
interface MessagePlace {
  readonly segment: string
  /** Which segment of this name: 2 is the second OBX. */
  readonly occurrence: number
  readonly field?: number
  readonly repetition?: number
  readonly component?: number
}

export interface MessageProblem extends Partial<MessagePlace> {
  readonly code: ErrorCode
  /** Holds no value of a field, since it goes into logs. */
  readonly message: string
  /**
   * True if the receiver cannot take such messages (AR): no message at all, its type, version or size, or a receiver that is full. False
   * if the message itself is wrong (AE): it must be mended.
   */
  readonly isRejection?: boolean
}

/** The message cannot be read, or not translated. */
export class MessageError extends Error {
  override readonly name = 'MessageError'
  readonly problem: MessageProblem

  constructor(problem: MessageProblem, cause?: unknown) {
    super(textOf(problem), { cause })
    this.problem = problem
  }
}

/** The place as people write it: `PID-3`, `OBX[2]-5.1`; undefined if the problem is of the whole message. */
export function placeText({ segment, occurrence = 1, field, component }: Partial<MessagePlace>): string | undefined {
  if (segment === undefined) return undefined
  const which = occurrence > 1 ? `[${occurrence}]` : ''
  const part = component === undefined ? '' : `.${component}`
  return `${segment}${which}${field === undefined ? '' : `-${field}${part}`}`
}

/** The problem with its place: `PID-7: 20261301 …`. */
export function textOf(problem: MessageProblem): string {
  const place = placeText(problem)
  return place === undefined ? problem.message : `${place}: ${problem.message}`
}
