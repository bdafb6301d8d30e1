// The answer to a message: MSH, MSA and, where it is refused, ERR. Every segment ends with a carriage return, the last too.
import type { Fault, Header } from './message.ts'

export type Kind = 'accept' | 'error' | 'reject'

/** What a sender without a readable header is answered with. */
const unknown: Header = {
  separator: '|',
  encoding: '^~\\&',
  sendingApplication: '',
  sendingFacility: '',
  receivingApplication: '',
  receivingFacility: '',
  type: '',
  controlId: '',
  processingId: 'P',
  version: '2.5',
  acceptAcknowledgement: '',
  applicationAcknowledgement: '',
  charset: '',
}

const codes = {
  original: { accept: 'AA', error: 'AE', reject: 'AR' },
  commit: { accept: 'CA', error: 'CE', reject: 'CR' },
} as const

/**
 * Returns the code to answer with; undefined: the sender wants none. Without MSH-15 and MSH-16 every message is answered
 * (original mode). With MSH-15 it is the commit that is answered; if MSH-15 is empty or NE, MSH-16 decides on AA, AE and AR.
 */
export function codeFor(header: Header | undefined, kind: Kind): string | undefined {
  const accept = (header?.acceptAcknowledgement ?? '').toUpperCase()
  const application = (header?.applicationAcknowledgement ?? '').toUpperCase()
  if (accept === '' && application === '') return codes.original[kind]
  if (isWanted(accept, kind)) return codes.commit[kind]
  return (accept === '' || accept === 'NE') && isWanted(application, kind) ? codes.original[kind] : undefined
}

/** HL7 table 0155: always, on error, on success, never. */
function isWanted(condition: string, kind: Kind): boolean {
  if (condition === 'ER') return kind !== 'accept'
  if (condition === 'SU') return kind === 'accept'
  return condition !== '' && condition !== 'NE'
}

export interface Answer {
  readonly header: Header | undefined
  readonly code: string
  /** MSH-10 of the answer itself. */
  readonly controlId: string
  readonly now: Date
  /** For people at the sender's end; never a value of the message. */
  readonly fault?: Fault | undefined
  readonly text?: string
}

/** Writes the answer in the sender's own delimiters. MSA-2 is MSH-10 of the message that is answered. */
export function acknowledgement({ header, code, controlId, now, fault, text = fault?.text }: Answer): string {
  const to = header ?? unknown
  const encoding = /^[^A-Za-z0-9\s]{4,5}$/.test(to.encoding) ? to.encoding : unknown.encoding
  const event = to.type.split(encoding[0]!)[1] ?? ''
  const type = ['ACK', ...(event ? [event, 'ACK'] : [])].join(encoding[0])
  const words = escaped(text ?? '', to.separator, encoding)
  const segments = [
    ['MSH', encoding, to.receivingApplication, to.receivingFacility, to.sendingApplication, to.sendingFacility].concat([
      timestamp(now),
      '',
      type,
      controlId,
      to.processingId || 'P',
      to.version || unknown.version,
    ]),
    ['MSA', code, to.controlId, ...(words ? [words] : [])],
    ...(fault ? [errOf(fault, to, encoding, words)] : []),
  ]
  return segments.map(fields => `${fields.join(to.separator)}\r`).join('')
}

/** ERR as of version 2.5: location, code, severity and words; before, all in its first field. */
function errOf(
  { segment, sequence, field, code }: Fault,
  { version }: Header,
  encoding: string,
  words: string,
): string[] {
  const [component, , , sub] = [...encoding] as [string, string, string, string]
  const place = [segment, sequence, ...(field ? [field] : [])]
  const coded = [String(code), names[code] ?? '', 'HL70357']
  if (/^2\.[0-4](?:\.|$)/.test(version))
    return ['ERR', [segment, sequence, field ?? '', coded.join(sub)].join(component)]
  return ['ERR', '', place.join(component), coded.join(component), 'E', '', '', '', words]
}

/** HL7 table 0357. */
const names: Readonly<Record<number, string>> = {
  100: 'Segment sequence error',
  101: 'Required field missing',
  102: 'Data type error',
  103: 'Table value not found',
  200: 'Unsupported message type',
  207: 'Application internal error',
}

function escaped(text: string, separator: string, encoding: string): string {
  const [component, repetition, lead, sub] = [...encoding]
  const letters = new Map([
    [separator, 'F'],
    [component, 'S'],
    [repetition, 'R'],
    [lead, 'E'],
    [sub, 'T'],
  ])
  return [...text.replaceAll(/[\r\n]+/g, ' ')]
    .map(each => (letters.has(each) ? `${lead}${letters.get(each)}${lead}` : each))
    .join('')
}

/** HL7's time of a day in UTC. */
const timestamp = (now: Date): string => `${now.toISOString().replaceAll(/[-:T]|\.\d+Z/g, '')}+0000`
