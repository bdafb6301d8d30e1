// Published messages that nobody here wrote, through the MLLP door of an agent: what the reader of the service takes, the agent takes.
import { describe, expect, test } from 'vitest'
import { publishedMessages } from '../../bench/messages.ts'
import { until } from '../../support/process.ts'
import { freshFolder, portOf, runAgent, storedMessages, writeAgent } from '../support/agent.ts'
import { fieldOf, openSender, verdictOf } from '../support/sender.ts'
import { startStandIn } from '../support/stand-in.ts'

const messages = publishedMessages()

describe.skipIf(messages.length === 0)(
  `published messages${messages.length === 0 ? ' (skipped: no shared data)' : ''}`,
  () => {
    test('are all accepted, with their own control id, and each is stored as it was sent, once', async () => {
      expect(messages.length).toBe(722)
      const folder = freshFolder()
      const standIn = await startStandIn()
      standIn.script = ({ path }) => (path.endsWith('/sync') ? { status: 503 } : undefined)
      const agent = await runAgent(writeAgent(folder, standIn.url, { sources: { lab: { kind: 'mllp', port: 0 } } }))
      const sender = await openSender(await portOf(agent))
      const sent = messages.map(each => `${each.trim().split(/\n+/).join('\r')}\r`)
      for (const each of sent) sender.send(each)
      // 16 want an answer to errors only, or none.
      const answered = sent.filter(each => !['ER|AL', 'NE|NE'].includes(modeOf(each)))
      const answers = await sender.answered(706)
      const verdicts = answered.map(each => `${/^(?:NE)?\|/.test(modeOf(each)) ? 'AA' : 'CA'} ${controlIdOf(each)}`)
      expect(answers.map(verdictOf)).toEqual(verdicts)
      expect(sent.filter(each => controlIdOf(each) === '').length).toBe(35)
      expect(sent.filter(each => fieldOf(each, 'MSH-2') === '^~\\\\&').length).toBe(10)
      await until('all are stored', async () => (await agent.status()).queue.pending === new Set(sent).size)
      expect((await agent.status()).quarantined).toBe(0)
      expect(storedMessages(folder)).toEqual([...new Set(sent)])
    })
  },
)

const controlIdOf = (message: string): string => fieldOf(message, 'MSH-10')?.trim() ?? ''

/** MSH-15 and MSH-16. */
const modeOf = (message: string): string => `${fieldOf(message, 'MSH-15') ?? ''}|${fieldOf(message, 'MSH-16') ?? ''}`
