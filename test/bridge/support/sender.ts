// A machine of a clinic that speaks MLLP, and the messages that it sends.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { onCleanup } from '../../support/cleanup.ts'
import { until } from '../../support/process.ts'

/** A message about one patient; every control id makes another one. */
export const admission = (controlId: string, header = ''): string =>
  [
    `MSH|^~\\&|HIS|WARD|AGENT|CLINIC|20260301080000||ADT^A01^ADT_A01|${controlId}|P|2.5${header}`,
    'EVN||20260301080000',
    'PID|1||4711^^^WARD^MR||Abena^Jeanne||19920417|F',
    'PV1|1|I|W1^101^1',
    '',
  ].join('\r')

export interface Sender {
  readonly socket: Socket
  /** What came back so far, without frames. */
  readonly answers: string[]
  /** Sends bytes as they are. */
  raw(bytes: string | Buffer): void
  /** Frames a message and sends it. */
  send(message: string | Buffer): void
  /** Sends a message and returns the next answer. */
  ask(message: string | Buffer): Promise<string>
  answered(count: number): Promise<string[]>
  readonly closed: Promise<void>
}

export async function openSender(port: number, socket: Socket = connect(port, '127.0.0.1')): Promise<Sender> {
  const answers: string[] = []
  let text = ''
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', chunk => {
    text += chunk.toString('utf8')
    for (let end = text.indexOf('\x1c\r'); end >= 0; end = text.indexOf('\x1c\r')) {
      answers.push(text.slice(text.indexOf('\x0b') + 1, end))
      text = text.slice(end + 2)
    }
  })
  const closed = new Promise<void>(done => socket.once('close', () => done()))
  onCleanup(async () => void socket.destroy())
  if (socket.connecting) await once(socket, 'connect').catch(() => {})
  const sender: Sender = {
    socket,
    answers,
    closed,
    raw: bytes => void socket.write(bytes),
    send: message => void socket.write(Buffer.concat([Buffer.of(0x0b), Buffer.from(message), Buffer.of(0x1c, 0x0d)])),
    async ask(message) {
      const before = answers.length
      sender.send(message)
      return (await sender.answered(before + 1))[before]!
    },
    async answered(count) {
      await until(`${count} answers, got ${answers.length}`, () => answers.length >= count, 10)
      return answers
    },
  }
  return sender
}

/** A message with a line that is no segment. */
export const broken = (controlId: string, header = ''): string => admission(controlId, header).replace('PV1|', 'PV1 ')

/** A field of a segment, as HL7 counts. */
export function fieldOf(message: string, place: string): string | undefined {
  const [segment, field] = place.split('-') as [string, string]
  const line = message.split('\r').find(each => each.startsWith(segment))
  return line?.split(line[3] ?? '|')[Number(field) - (segment === 'MSH' ? 1 : 0)]
}

/** What an answer says: code and control id. */
export const verdictOf = (answer: string): string => `${fieldOf(answer, 'MSA-1')} ${fieldOf(answer, 'MSA-2')}`
