// Published HL7 v2 messages that nobody here wrote, as one agent sends them: each is stored or refused with a reason, once.
import { describe, expect, test } from 'vitest'
import { publishedMessages } from '../../bench/messages.ts'
import { fhirCaller } from '../../support/fhir.ts'
import { isAll } from '../../support/rounds.ts'
import { startService } from '../../support/service.ts'
import { agentOf, type TestAgent } from './support.ts'

const messages = isAll ? publishedMessages() : []
const why = isAll ? ' (left out: no shared data)' : ' (left out: in npm run test:all)'

describe.skipIf(messages.length === 0)(`published messages${messages.length === 0 ? why : ''}`, () => {
  test('are stored with all that they change, but for those that lack what they must have; a second time nothing is new', async () => {
    const service = await startService()
    await fhirCaller(() => service)('PUT', 'Organization/etoudi', {
      body: { resourceType: 'Organization', id: 'etoudi', name: 'Etoudi' },
    })
    const agent = await agentOf(service, 'etoudi')
    const sendAll = async () => {
      const answers: Awaited<ReturnType<TestAgent['sync']>>['body'][] = []
      for (let from = 0; from < messages.length; from += 100) {
        const items = messages.slice(from, from + 100).map(message => ({ type: 'hl7v2', payload: { message } }))
        answers.push((await agent.sync(items)).body)
      }
      const sum = (name: 'accepted' | 'duplicates') => answers.reduce((all, each) => all + each[name], 0)
      const rejected = answers.flatMap(each => each.rejected as { error_code: string; field?: string }[])
      const reasons = rejected.map(({ error_code, field }) => `${error_code} ${field ?? ''}`.trim())
      return { accepted: sum('accepted'), duplicates: sum('duplicates'), reasons: reasons.sort() }
    }
    const reasons = [
      'PRECONDITION_FAILED',
      ...['OBX-3', 'PID', 'PID', 'PID', 'PID-7', 'PRB-2', 'PRB-7', 'RXA-3', 'RXA-5', 'RXA-5', 'RXA[3]-22', 'TXA'].map(
        field => `VALIDATION_FAILED ${field}`,
      ),
      // Publishers use one number for several people.
      ...Array.from({ length: 14 }, () => 'VALIDATION_FAILED Patient.identifier'),
    ].sort()
    // The Task of the failures that go on is left out: it is one, and another one a second time.
    const versions = async () => {
      const [row] = await service.application.database.query<{ versions: number }>({
        text: `select sum(version)::int as versions from resource where body not like '%"resourceType":"Task"%'`,
        values: [],
      })
      return row!.versions
    }
    expect(await sendAll()).toEqual({ accepted: 695, duplicates: 0, reasons })
    const before = await versions()
    expect(await sendAll()).toEqual({ accepted: 0, duplicates: 695, reasons })
    expect(await versions()).toBe(before)
  }, 180_000)
})
