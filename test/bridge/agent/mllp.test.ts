// HL7 v2 over MLLP: an acknowledgement says that the message is on disk, and it is of that message and of no other.
import { beforeAll, describe, expect, test } from 'vitest'
import { freshFolder, type InProcess, portOf, runAgent, storedMessages, writeAgent } from '../support/agent.ts'
import { admission, broken, fieldOf, openSender, verdictOf } from '../support/sender.ts'
import { type StandIn, startStandIn } from '../support/stand-in.ts'

let standIn: StandIn
let agent: InProcess
let port: number
const folder = freshFolder()

beforeAll(async () => {
  standIn = await startStandIn()
  // Nothing is sent up here: what is stored stays to be counted.
  standIn.script = ({ path }) => (path.endsWith('/sync') ? { status: 503 } : undefined)
  const lab = { kind: 'mllp', port: 0, message_seconds: 1 }
  const crowded = { kind: 'mllp', port: 0, max_connections: 3 }
  const latin = { kind: 'mllp', port: 0, charset: 'iso-8859-1' }
  agent = await runAgent(
    writeAgent(folder, standIn.url, { sources: { lab, latin, crowded }, limits: { max_message_bytes: 20_000 } }),
  )
  port = await portOf(agent)
})

const pending = async (): Promise<number> => (await agent.status()).queue.pending
const quarantined = async (): Promise<number> => (await agent.status()).quarantined

/** How many items, and entries of quarantine, a piece of work adds. */
async function added(work: () => Promise<unknown>): Promise<[number, number]> {
  const before = [await pending(), await quarantined()] as const
  await work()
  return [(await pending()) - before[0], (await quarantined()) - before[1]]
}

test('a message is answered AA with its own control id, from the one it was sent to', async () => {
  const sender = await openSender(port)
  const answer = await sender.ask(admission('A-1'))
  expect(verdictOf(answer)).toBe('AA A-1')
  expect(answer).toMatch(
    /^MSH\|\^~\\&\|AGENT\|CLINIC\|HIS\|WARD\|\d{14}\+0000\|\|ACK\^A01\^ACK\|[0-9a-f]{16}\|P\|2\.5\rMSA\|AA\|A-1\r$/,
  )
})

test('the answer ends with a carriage return after its last segment, also where it is refused', async () => {
  const sender = await openSender(port)
  expect(await sender.ask(admission('END'))).toMatch(/\r$/)
  expect(await sender.ask(broken('WRONG-END'))).toMatch(/\r$/)
})

test('a message sent again, because its answer was lost, is acknowledged and stored once', async () => {
  const sender = await openSender(port)
  const change = await added(async () => {
    expect(verdictOf(await sender.ask(admission('AGAIN')))).toBe('AA AGAIN')
    sender.socket.destroy()
    const next = await openSender(port)
    expect(verdictOf(await next.ask(admission('AGAIN')))).toBe('AA AGAIN')
  })
  expect(change).toEqual([1, 0])
})

test('another message under a control id that was used before is another message', async () => {
  const sender = await openSender(port)
  const change = await added(async () => {
    await sender.ask(admission('REUSED'))
    await sender.ask(admission('REUSED').replace('Jeanne', 'Marie'))
  })
  expect(change).toEqual([2, 0])
})

test('many messages at once are answered in order, each with its own control id', async () => {
  const sender = await openSender(port)
  const ids = Array.from({ length: 50 }, (_, index) => `P-${index}`)
  sender.raw(Buffer.concat(ids.map(id => Buffer.from(`\x0b${admission(id)}\x1c\r`))))
  expect((await sender.answered(50)).map(verdictOf)).toEqual(ids.map(id => `AA ${id}`))
})

test('the answer to a wrong message is not given to the right one behind it', async () => {
  const sender = await openSender(port)
  sender.raw(`\x0b${broken('V')}\x1c\r\x0b${admission('RIGHT')}\x1c\r\x0b${broken('W')}\x1c\r`)
  expect((await sender.answered(3)).map(verdictOf)).toEqual(['AE V', 'AA RIGHT', 'AE W'])
})

describe('a message that is wrong is refused with segment and field, and is seen in quarantine', () => {
  test.each([
    ['without type', admission('T').replace('ADT^A01^ADT_A01', ''), 'AR', 'MSH^1^9', '101'],
    ['with encoding characters that are none', admission('E').replace('^~\\&', '^^^^'), 'AE', 'MSH^1^2', '102'],
    ['with a line that is no segment', admission('L').replace('PV1|', 'P'), 'AE', 'PID^1', '100'],
    ['with a type that is none', admission('Y').replace('ADT^A01^ADT_A01', 'ADMIT'), 'AR', 'MSH^1^9', '200'],
    ['with another message in it', admission('M') + admission('M2'), 'AE', 'PV1^1', '100'],
    ['of a batch', `BHS|^~\\&|HIS\r${admission('B')}${broken('B2')}BTS|2\r`, 'AE', 'PID^1', '100'],
    ['as a batch without one', 'BHS|^~\\&|HIS\rBTS|0\r', 'AE', 'BHS^1', '100'],
    ['in a character set that is not known', admission('C', '||||||KLINGON'), 'AE', 'MSH^1^18', '103'],
  ])('%s', async (_, message, code, place, number) => {
    const sender = await openSender(port)
    let answer = ''
    const change = await added(async () => void (answer = await sender.ask(message)))
    expect(change).toEqual([0, 1])
    expect(fieldOf(answer, 'MSA-1')).toBe(code)
    expect(fieldOf(answer, 'ERR-2')).toBe(place)
    expect(fieldOf(answer, 'ERR-3')).toMatch(new RegExp(`^${number}\\^`))
    expect(await added(async () => void (await sender.ask(message)))).toEqual([0, 0])
  })

  test('ERR has the form of the sender’s version before 2.5', async () => {
    const sender = await openSender(port)
    const answer = await sender.ask(broken('OLD').replace('|P|2.5', '|P|2.3'))
    expect(fieldOf(answer, 'ERR-1')).toBe('PID^1^^100&Segment sequence error&HL70357')
  })

  test('without MSH it is refused and nothing is kept: it may be anything', async () => {
    const sender = await openSender(port)
    expect(await added(async () => expect(verdictOf(await sender.ask('hello'))).toBe('AR '))).toEqual([0, 0])
  })
})

describe('a message that is unusual is taken as the service takes it', () => {
  test.each([
    ['without control id, known by its content', admission('').replace('Jeanne', 'Anne'), 'AA '],
    ['with an escape character that is doubled', admission('DOUBLED').replace('\\', '\\\\'), 'AA DOUBLED'],
    ['with fewer encoding characters', admission('FEWER').replace('^~\\&', '^~'), 'AA FEWER'],
    ['with a fifth encoding character', admission('FIFTH').replace('^~\\&', '^~\\&#'), 'AA FIFTH'],
    ['with segments that nobody knows', `${admission('ZZZ')}ZPI|1|2\r`, 'AA ZZZ'],
  ])('%s', async (_, message, verdict) => {
    const sender = await openSender(port)
    const change = await added(async () => {
      expect(verdictOf(await sender.ask(message))).toBe(verdict)
      expect(verdictOf(await sender.ask(message))).toBe(verdict)
    })
    expect(change).toEqual([1, 0])
    expect(storedMessages(folder)).toContain(message)
  })

  test('two that differ, both without control id, are two', async () => {
    const sender = await openSender(port)
    const change = await added(async () => {
      await sender.ask(admission('').replace('Jeanne', 'Berthe'))
      await sender.ask(admission('').replace('Jeanne', 'Cécile'))
    })
    expect(change).toEqual([2, 0])
  })

  test('in a batch, whose control id the one answer has; each message is read in its own character set', async () => {
    const sender = await openSender(port)
    const head = 'FHS|^~\\&|HIS|WARD|AGENT|CLINIC|20260301||||F-7\rBHS|^~\\&|HIS|WARD||||||||B-7\r'
    const named = (id: string, set: string) => admission(id, `||||||${set}`).replace('Jeanne', 'Zoé')
    const [one, two] = [named('B-1', '8859/1'), named('B-2', 'UNICODE UTF-8')]
    const batch = [Buffer.from(head), Buffer.from(one, 'latin1'), Buffer.from(two), Buffer.from('BTS|2\rFTS|1\r')]
    const change = await added(async () => {
      expect(verdictOf(await sender.ask(Buffer.concat(batch)))).toBe('AA F-7')
    })
    expect(change).toEqual([2, 0])
    expect(storedMessages(folder)).toEqual(expect.arrayContaining([one, two]))
  })
})

describe('enhanced mode', () => {
  test.each([
    ['AL', 'NE', 'CA'],
    ['SU', '', 'CA'],
    ['NE', 'AL', 'AA'],
    ['', 'SU', 'AA'],
  ])('MSH-15 %s and MSH-16 %s: %s', async (accept, application, code) => {
    const sender = await openSender(port)
    const answer = await sender.ask(admission(`M${accept}${application}`, `|||${accept}|${application}`))
    expect(fieldOf(answer, 'MSA-1')).toBe(code)
  })

  test('who wants no answer gets none, and the message is stored', async () => {
    const sender = await openSender(port)
    const change = await added(async () => {
      sender.send(admission('SILENT', '|||NE|NE'))
      sender.send(admission('ERRORS', '|||ER|NE'))
      expect(verdictOf(await sender.ask(admission('LOUD')))).toBe('AA LOUD')
    })
    expect(change).toEqual([3, 0])
    expect(sender.answers).toHaveLength(1)
  })

  test('an error is answered CE to who wants errors only', async () => {
    const sender = await openSender(port)
    const answer = await sender.ask(broken('CE', '|||ER|NE'))
    expect(fieldOf(answer, 'MSA-1')).toBe('CE')
  })
})

test('any delimiters are taken, and the answer is in the same', async () => {
  const sender = await openSender(port)
  const message = admission('DELIMITERS').replaceAll('|', '#').replaceAll('^', '*').replace('*~\\&', '*!?$')
  const answer = await sender.ask(message)
  expect(answer).toContain('MSH#*!?$#AGENT#')
  expect(answer).toContain('MSA#AA#DELIMITERS\r')
})

test('segments may end with line feeds', async () => {
  const sender = await openSender(port)
  expect(verdictOf(await sender.ask(admission('LF').replaceAll('\r', '\n')))).toBe('AA LF')
  expect(verdictOf(await sender.ask(admission('CRLF').replaceAll('\r', '\r\n')))).toBe('AA CRLF')
})

test('a message is answered at its end, also by a sender that leaves out the carriage return after it', async () => {
  const sender = await openSender(port)
  sender.raw(`\x0b${admission('NO-CR')}\x1c`)
  expect((await sender.answered(1)).map(verdictOf)).toEqual(['AA NO-CR'])
  sender.raw(`\x0b${admission('NO-CR-2')}\x1c`)
  expect((await sender.answered(2)).map(verdictOf)[1]).toBe('AA NO-CR-2')
})

test('a message in parts, a byte at a time, is one message', async () => {
  const sender = await openSender(port)
  for (const byte of Buffer.from(`\x0b${admission('BYTES')}\x1c\r`)) sender.raw(Buffer.of(byte))
  expect((await sender.answered(1)).map(verdictOf)).toEqual(['AA BYTES'])
})

test('noise between messages, and a message broken off by the next, change nothing for those that are whole', async () => {
  const sender = await openSender(port)
  sender.raw(`\r\nnoise\x0b${admission('BROKEN').slice(0, 60)}\x0b${admission('WHOLE')}\x1c\r`)
  expect((await sender.answered(1)).map(verdictOf)).toEqual(['AA WHOLE'])
})

test('a message that is too long is refused with its control id, and the next one is taken', async () => {
  const sender = await openSender(port)
  sender.send(`${admission('LONG')}NTE|1||${'x'.repeat(30_000)}\r`)
  expect((await sender.answered(1)).map(verdictOf)).toEqual(['AR LONG'])
  expect(verdictOf(await sender.ask(admission('NEXT')))).toBe('AA NEXT')
})

test('a sender that is stuck in a message is cut off and keeps no other waiting', async () => {
  const slow = await openSender(port)
  slow.raw(`\x0b${admission('SLOW').slice(0, 50)}`)
  const other = await openSender(port)
  expect(verdictOf(await other.ask(admission('OTHER')))).toBe('AA OTHER')
  await slow.closed
  expect(agent.lines.join('')).toContain('a message began and did not end')
})

test('more connections than allowed are refused', async () => {
  const crowded = await portOf(agent, 'crowded')
  const senders = await Promise.all([1, 2, 3, 4, 5].map(() => openSender(crowded)))
  for (const [index, sender] of senders.entries()) sender.send(admission(`CROWD-${index}`))
  await senders[4]!.closed
  await senders[0]!.answered(1)
  expect(senders.filter(each => each.answers.length > 0)).toHaveLength(3)
  expect(agent.lines.join('')).toContain('there are too many')
})

test('text is read in the character set of MSH-18, or of the config, and goes up as it was meant', async () => {
  const sender = await openSender(port)
  const latin = await openSender(await portOf(agent, 'latin'))
  const message = (id: string, set: string): string => admission(id, `||||||${set}`).replace('Jeanne', 'Zoé')
  await sender.ask(Buffer.from(message('SET-1', '8859/1'), 'latin1'))
  await sender.ask(Buffer.from(message('SET-2', 'UNICODE UTF-8'), 'utf8'))
  await sender.ask(Buffer.from(message('SET-3', ''), 'utf8'))
  await sender.ask(Buffer.from(message('SET-4', ''), 'latin1'))
  await latin.ask(Buffer.from(message('SET-5', 'UNICODE UTF-8'), 'latin1'))
  const wrong = await sender.ask(Buffer.from(message('SET-6', 'UNICODE UTF-8'), 'latin1'))
  expect(fieldOf(wrong, 'ERR-2')).toBe('MSH^1^18')
  const texts = storedMessages(folder).filter(text => text.includes('SET-'))
  expect(texts.map(text => /SET-\d/.exec(text)![0])).toEqual(['SET-1', 'SET-2', 'SET-3', 'SET-4', 'SET-5'])
  expect(texts.every(text => text.includes('Abena^Zoé'))).toBe(true)
})

test('the log holds no word of a message', async () => {
  expect(agent.lines.join('')).not.toMatch(/Abena|Jeanne|\b4711\b|PID\|/)
})
