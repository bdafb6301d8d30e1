// The answer to a message (HL7 v2 chapter 2.9): accepted, or what is wrong with it, as segment, field and code in ERR. Written without the dictionary, since an agent answers too.

import { type Delimiters, escapeText } from './delimiters.ts'
import { type Header, headerOf } from './header.ts'
import { errorCodes, type MessageProblem, textOf } from './problem.ts'

export interface AcknowledgeOptions {
  readonly now?: Date
  /** MSH-10 of the answer. */
  readonly controlId: string
}

/** What a text without a header is answered with. */
const unknown = headerOf('MSH|^~\\&|')!

const codes = {
  original: { accept: 'AA', error: 'AE', reject: 'AR' },
  commit: { accept: 'CA', error: 'CE', reject: 'CR' },
} as const

type Verdict = keyof typeof codes.original

/**
 * Returns the acknowledgement of a message in the delimiters of its sender, each segment ended by a carriage return: AA without a
 * problem; AR if the receiver cannot take such messages, AE if the message is wrong. MSA-2 is the control id of the message, empty if
 * it has none. Undefined: the sender asks for no answer.
 *
 * With MSH-15 the answer is CA, CR or CE, where it asks for one; if MSH-15 is empty or NE, MSH-16 decides on AA, AR and AE.
 */
export function acknowledge(
  header: Header | undefined,
  problem: MessageProblem | undefined,
  { controlId, now = new Date() }: AcknowledgeOptions,
): string | undefined {
  const to = header ?? unknown
  const code = codeFor(to, problem)
  if (code === undefined) return undefined
  const { delimiters } = to
  const version = to.version || '2.5.1'
  const said = problem && escapeText(textOf(problem), delimiters)
  const msh = mshOf(to, version, controlId, now)
  // MSA-3 was withdrawn with version 2.7.
  const msa = ['MSA', code, to.controlId, ...(said !== undefined && isBefore(version, 2.7) ? [said] : [])]
  const err = problem && errOf(problem, version, said!, delimiters)
  const lines = [msh, msa, ...(err ? [err] : [])]
  // Without MSH-18 an answer is ASCII.
  if (lines.some(fields => /[^\0-\x7f]/.test(fields.join('')))) msh.push('', '', '', '', '', 'UNICODE UTF-8')
  return lines.map(fields => `${fields.join(delimiters.field)}\r`).join('')
}

function codeFor({ acceptAcknowledgement, applicationAcknowledgement }: Header, problem: MessageProblem | undefined) {
  const verdict: Verdict = problem === undefined ? 'accept' : problem.isRejection ? 'reject' : 'error'
  const [accept, application] = [acceptAcknowledgement.toUpperCase(), applicationAcknowledgement.toUpperCase()]
  if (accept === '' && application === '') return codes.original[verdict]
  if (isWanted(accept, verdict)) return codes.commit[verdict]
  return (accept === '' || accept === 'NE') && isWanted(application, verdict) ? codes.original[verdict] : undefined
}

/** HL7 table 0155: always, on error, on success, never. */
function isWanted(condition: string, verdict: Verdict): boolean {
  if (condition === 'ER') return verdict !== 'accept'
  if (condition === 'SU') return verdict === 'accept'
  return condition !== '' && condition !== 'NE'
}

/** The fields of MSH, of which the first is the separator between all. */
function mshOf(header: Header, version: string, controlId: string, now: Date): string[] {
  const { component, repetition, escapeSign, subcomponent } = header.delimiters
  return [
    'MSH',
    `${component}${repetition}${escapeSign}${subcomponent}`,
    header.receivingApplication,
    header.receivingFacility,
    header.sendingApplication,
    header.sendingFacility,
    timestamp(now),
    '',
    ['ACK', ...(header.event ? [header.event, 'ACK'] : [])].join(component),
    controlId,
    header.processingId || 'P',
    version,
  ]
}

const isBefore = (version: string, other: number): boolean => Number.parseFloat(version) < other

/** ERR: since version 2.5 place, code, severity and words; before, place and code in its first field. */
function errOf(problem: MessageProblem, version: string, said: string, { component, subcomponent }: Delimiters) {
  const { segment, field, repetition, component: part, code } = problem
  const occurrence = segment === undefined ? undefined : (problem.occurrence ?? 1)
  const coded = [String(code), errorCodes[code], 'HL70357']
  if (isBefore(version, 2.5))
    return ['ERR', [segment ?? '', occurrence ?? '', field ?? '', coded.join(subcomponent)].join(component)]
  const numbers = [occurrence, field, repetition ?? (part === undefined ? undefined : 1), part]
  const place = [segment, ...numbers].filter(each => each !== undefined)
  return ['ERR', '', place.join(component), coded.join(component), 'E', '', '', '', said]
}

/** HL7's time of a day, in UTC. */
function timestamp(now: Date): string {
  return `${now.toISOString().replace(/\D/g, '').slice(0, 14)}+0000`
}
