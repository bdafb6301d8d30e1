// The story of support/story.ts, told with the TypeScript client library.
import type { ServiceClient, ServiceError } from '../../../clients/typescript/src/index.ts'
import { until } from '../../support/process.ts'
import { type startStory, told } from './story.ts'
import type { Installed } from './typescript-package.ts'
import { startReceiver } from './typescript-receiver.ts'

type Story = Awaited<ReturnType<typeof startStory>>['story']

/** Tells the story, as support/story.ts describes it. */
export async function tell(
  client: ServiceClient,
  story: Story,
  installed: Installed,
): Promise<Record<string, unknown>> {
  const { healthIds, consents, patients, webhooks, records, fhir } = client
  const resolved = await healthIds.resolve(story.person)
  const healthId = resolved.health_id
  const before = {
    resolved: resolved.status,
    resolvedAgain: statusOf(await healthIds.resolve(story.person)),
    verified: statusOf(await healthIds.verify(healthId)),
    refused: await patients.getSummary(healthId).then(String, errorOf),
    requested: statusOf(await consents.request(healthId, story.purpose, story.requestedScopes)),
    status: statusOf(await consents.status(healthId)),
    granted: statusOf(await consents.grant(healthId, story.grant)),
  }
  const { id, webhook_secret } = await webhooks.subscribe(story.receiverUrl, story.events)
  const subscribed = (await all(webhooks.listAll())).length
  const environment = { WEBHOOK_SECRET: webhook_secret ?? '', PORT: new URL(story.receiverUrl).port }
  const receiver = await startReceiver(installed, 'express', environment)
  const events = () => receiver.output().match(/^\w+\.\w+$/gm) ?? []
  try {
    const pushed = []
    for (const each of story.labResults)
      pushed.push(statusOf(await records.pushLabResult({ health_id: healthId, ...each })))
    const alert = statusOf(await records.pushEncounter({ health_id: healthId, ...story.encounter }))
    const [one, two] = story.labResults.map(each => ({ health_id: healthId, ...each }))
    const first = await records.pushLabResult(one!, { idempotencyKey: story.key })
    const second = await records.pushLabResult(one!, { idempotencyKey: story.key })
    const replayed = client.lastResponse?.replayed
    const reused = await records.pushLabResult(two!, { idempotencyKey: story.key }).then(String, errorOf)
    const { patient, recent_labs } = await patients.getSummary(healthId)
    const reports = await all(fhir.iterate(await fhir.diagnosticReports(healthId, { _count: 1 })))
    const listed = (await all(records.listAll(healthId, 'lab_results', { limit: 1 }))).map(each => each.test_name)
    await until('the webhooks came', () => events().length >= told.events.length)
    return {
      ...{ ...before, subscribed, pushed, alert, repeated: first.id === second.id, replayed, reused },
      summary: [patient.first_name, recent_labs.length],
      found: reports.map(({ code }) => (code as { text: string }).text).toSorted(),
      listed: listed.toSorted(),
      events: events(),
      revoked: statusOf(await consents.revoke(healthId)),
      refusedAgain: await patients.getSummary(healthId).then(String, errorOf),
      unsubscribed: await webhooks.unsubscribe(id).then(async () => (await all(webhooks.listAll())).length),
    }
  } finally {
    receiver.child.kill()
    await receiver.ended
  }
}

const statusOf = (reply: { status: string }): string => reply.status
const errorOf = ({ name, errorCode }: ServiceError): string => `${name} ${errorCode}`

async function all<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const each of entries) found.push(each)
  return found
}
