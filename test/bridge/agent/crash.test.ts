// kill -9 between every two steps: what was acknowledged is never lost, and nothing arrives twice.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { freshFolder, startProcess, writeAgent } from '../support/agent.ts'
import { admission, openSender, verdictOf } from '../support/sender.ts'
import { type SentItem, type StandIn, startStandIn } from '../support/stand-in.ts'

const lab = { kind: 'mllp', port: 0 }

/** Sends a message as machines do: again and again, on new connections, until it is acknowledged. */
async function insist(port: number, controlId: string): Promise<boolean> {
  const sender = await openSender(port)
  await Promise.race([sender.ask(admission(controlId)).catch(() => undefined), sender.closed])
  return sender.answers.map(verdictOf).includes(`AA ${controlId}`)
}

const messagesOf = (standIn: StandIn): string[] =>
  [...standIn.done.values()].map((item: SentItem) => /\|(M-\d)\|P\|/.exec(item.payload.message)![1]!).sort()

describe('a message over MLLP arrives once, though the agent dies', () => {
  test.each([
    ['when it has received, and not stored', 'before-commit:1'],
    ['when it has stored, and not answered', 'before-answer:1'],
    ['when it has answered, and not bound a batch', 'after-answer:1'],
    ['when it binds the batch', 'before-commit:2'],
    ['when it has bound the batch, and not sent', 'after-commit:2'],
    ['when the server has answered, and the answer is not stored', 'before-commit:3'],
    ['when the answer is stored', 'after-commit:3'],
  ])('%s', async (_, moment) => {
    const standIn = await startStandIn()
    const file = writeAgent(freshFolder(), standIn.url, { sources: { lab } })
    const first = startProcess(file, moment)
    const isAcknowledged = await insist((await first.ports())['lab']!, 'M-1')
    expect(await first.ended).toBe('SIGKILL')
    const second = startProcess(file)
    const port = (await second.ports())['lab']!
    if (!isAcknowledged) expect(await insist(port, 'M-1')).toBe(true)
    expect(await insist(port, 'M-2')).toBe(true)
    await standIn.until('both messages are done', () => standIn.done.size >= 2)
    expect(messagesOf(standIn)).toEqual(['M-1', 'M-2'])
    expect(standIn.ackedThrough()).toBe(2)
    second.child.kill('SIGTERM')
    expect(await second.ended).toBe(0)
  })

  test.each([
    ['was done', undefined],
    ['was not done', 'cut' as const],
  ])('when it has sent, and what it sent %s', async (_, result) => {
    const standIn = await startStandIn()
    const file = writeAgent(freshFolder(), standIn.url, { sources: { lab } })
    const first = startProcess(file)
    standIn.script = ({ path }) => {
      if (!path.endsWith('/sync')) return undefined
      standIn.script = () => undefined
      first.child.kill('SIGKILL')
      return result
    }
    expect(await insist((await first.ports())['lab']!, 'M-1')).toBe(true)
    expect(await first.ended).toBe('SIGKILL')
    startProcess(file)
    await standIn.until('the batch was repeated', () => standIn.paths('/sync').length >= 2 && standIn.done.size >= 1)
    const [one, two] = standIn.paths('/sync')
    expect(two!.text).toBe(one!.text)
    expect(messagesOf(standIn)).toEqual(['M-1'])
    expect(standIn.duplicates).toBe(0)
  })
})

describe('a file is taken once, though the agent dies', () => {
  test.each([
    ['when it has read, and not stored', 'before-commit:1'],
    ['when it has stored, and not moved the file', 'before-move:1'],
    ['when it has moved the file', 'after-move:1'],
  ])('%s', async (_, moment) => {
    const standIn = await startStandIn()
    const folder = freshFolder()
    const files = { kind: 'folder', path: 'in', settle_seconds: 0, poll_seconds: 1 }
    mkdirSync(join(folder, 'in'))
    writeFileSync(join(folder, 'in/a.hl7'), `${admission('M-1')}\r\n${admission('M-2')}`)
    const file = writeAgent(folder, standIn.url, { sources: { files } })
    expect(await startProcess(file, moment).ended).toBe('SIGKILL')
    startProcess(file)
    await standIn.until('both messages are done', () => standIn.done.size >= 2)
    await standIn.until('the file is moved', () => existsSync(join(folder, 'in/done/a.hl7')))
    expect(messagesOf(standIn)).toEqual(['M-1', 'M-2'])
    expect(readdirSync(join(folder, 'in/done'))).toEqual(['a.hl7'])
  })
})

test('two agents on one database: the second one says so and ends, and a killed one leaves no lock', async () => {
  const standIn = await startStandIn()
  const file = writeAgent(freshFolder(), standIn.url, { sources: { lab } })
  const first = startProcess(file)
  await first.ports()
  const second = startProcess(file)
  expect(await second.ended).toBe(1)
  expect(second.output()).toMatch(/Another agent runs on .*state: stop it first/)
  first.child.kill('SIGKILL')
  await first.ended
  const third = startProcess(file)
  expect(await insist((await third.ports())['lab']!, 'M-1')).toBe(true)
})
