// The answer to a message (HL7 v2 chapter 2.9): accepted, or what is wrong with it, as segment, field and code in ERR.

import { type Delimiters, usual } from './delimiters.ts'
import { errorCodes, type MessageProblem, textOf } from './problem.ts'
import { readMessage } from './read.ts'
import type { Tree } from './tree.ts'
import { segmentLine } from './write.ts'

export interface AcknowledgeOptions {
  readonly now?: Date
  /** MSH-10 of the answer. */
  readonly controlId: string
}

/**
 * Returns the acknowledgement of a message: AA without a problem; AR if the message as such is refused, AE if its content is.
 * A text that is no message has an answer too.
 */
export function acknowledge(message: string, problem: MessageProblem | undefined, options: AcknowledgeOptions): string {
  const { delimiters, fields } = headerOf(message)
  const version = fields[12] || '2.5.1'
  const trigger = fields[9]?.split(delimiters.component)[1]
  const swapped = [fields[5], fields[6], fields[3], fields[4]]
  const { field, component, repetition, escapeSign, subcomponent } = delimiters
  const msh = [
    `MSH${field}${component}${repetition}${escapeSign}${subcomponent}`,
    ...swapped.map(each => each ?? ''),
    timestamp(options.now ?? new Date()),
    '',
    ['ACK', ...(trigger ? [trigger, 'ACK'] : [])].join(component),
    options.controlId,
    fields[11] || 'P',
    version,
    ...(fields[18] ? ['', '', '', '', '', fields[18]] : []),
  ].join(field)
  const said: Tree = {
    MSA_1: codeOf(problem),
    MSA_2: fields[10] ?? '',
    ...(problem && olderThan25(version) && { MSA_3: textOf(problem) }),
  }
  const msa = segmentLine('MSA', said, delimiters)
  return [msh, msa, ...(problem ? [errorLine(problem, delimiters)] : [])].map(line => `${line}\r`).join('')
}

function codeOf(problem: MessageProblem | undefined): string {
  return problem === undefined ? 'AA' : problem.isRejection ? 'AR' : 'AE'
}

/** MSA-3 holds the reason in versions that have no ERR-8. */
function olderThan25(version: string): boolean {
  return Number.parseFloat(version) < 2.5
}

function errorLine(problem: MessageProblem, delimiters: Delimiters): string {
  const { segment, occurrence = 1, field, repetition, component, code } = problem
  const numbers = [occurrence, field, repetition ?? (component === undefined ? undefined : 1), component]
  const location: Tree = { ERL_1: segment }
  for (const [index, each] of numbers.entries()) if (each !== undefined) location[`ERL_${index + 2}`] = String(each)
  const error: Tree = {
    ...(segment !== undefined && { ERR_2: [location] }),
    ERR_3: { CWE_1: String(code), CWE_2: errorCodes[code], CWE_3: 'HL70357' },
    ERR_4: 'E',
    ERR_8: textOf(problem),
  }
  return segmentLine('ERR', error, delimiters)
}

interface Header {
  readonly delimiters: Delimiters
  readonly fields: readonly string[]
}

function headerOf(message: string): Header {
  try {
    const { delimiters, segments } = readMessage(/MSH[^\r\n]*/.exec(message)?.[0] ?? '')
    return {
      delimiters: delimiters.escapeSign === '' ? { ...delimiters, escapeSign: '\\' } : delimiters,
      fields: segments[0]!.fields,
    }
  } catch {
    return { delimiters: usual, fields: [] }
  }
}

function timestamp(now: Date): string {
  return `${now.toISOString().replace(/\D/g, '').slice(0, 14)}+0000`
}
