// Who may be told of an event at the moment in which it is asked, and who may know the Health ID of the patient.
import { beforeAll, expect, test } from 'vitest'
import { audienceOf, mayKnowPatient, mayReceive, storedAbout } from '../../src/webhooks/audience.ts'
import { openQueue, type Queue } from '../support/queue.ts'

let queue: Queue
beforeAll(async () => {
  queue = await openQueue()
})

/** Whose a version of a resource is: a patient's, who has opened it to the clinic or not, or nobody's; and whether the clinic wrote it. */
interface Version {
  readonly of: 'open' | 'closed' | 'nobody'
  readonly isOwn?: boolean
}

interface Scene {
  /** The event is about version 2; `''`: of a change of which only FHIR subscriptions are told. */
  readonly event?: Record<string, unknown>
  readonly client?: Record<string, unknown>
  readonly endpoint?: Record<string, unknown>
  /** The version that is current, and which one that is. */
  readonly current?: Version & { readonly version: number }
  /** Version 2, if it is over. */
  readonly former?: Version
  /** Of the patient: whether the clinic registered him, and whether he has opened something else to it. */
  readonly isRegistered?: boolean
  readonly hasOpened?: boolean
}

interface Named {
  readonly type: number
  readonly id: string
  readonly version?: number
}

const always = { starts_at: new Date(0), ends_at: new Date('2100-01-01') }
let number = 1000

/** What is decided of it: `[whether the clinic may be told, whether it may know the Health ID]`, once. */
async function decided(scene: Scene): Promise<boolean[][]> {
  const [clinic, author, open, closed] = [++number, ++number, ++number, ++number]
  const id = `resource-${++number}`
  const { current, former } = scene
  const whose = ({ of, isOwn }: Version) => ({
    subject: { open, closed, nobody: 0 }[of],
    author: isOwn ? author : 0,
  })
  const store = async (row: Named, { subject, ...more }: Record<string, unknown>): Promise<void> => {
    const place = await queue.place(row, more['self'] as number | undefined)
    await queue.put('resource', { updated_at: new Date(), method: 2, body: '{}', version: 2, ...place, ...row })
    const postings = { date: 0, date_high: 0, tokens: [], refs: [], texts: [] }
    await queue.put('search', { ...place, self: ++number, type: row.type, ...postings, subject, ...more })
  }
  const past = async (row: Named, version: Version): Promise<void> => {
    const { shard } = await queue.place(row)
    await queue.put('history', { updated_at: new Date(), method: 2, version: 2, shard, ...row, ...whose(version) })
  }
  const grant = (row: Record<string, unknown>) =>
    queue.put('consent_grant', { organization: clinic, ...always, consent: 'c', ...row })

  await grant({ patient: open, types: [3] })
  if (scene.hasOpened) await grant({ patient: closed, types: [9] })
  if (scene.isRegistered !== undefined)
    await store(
      { type: 110, id: `patient-${id}` },
      { self: closed, subject: closed, author: scene.isRegistered ? author : 0 },
    )
  // What others wrote, what the clinic wrote, and of another type or id, decides nothing.
  await store({ type: 3, id: `${id}-other` }, whose({ of: 'nobody', isOwn: true }))
  await store({ type: 4, id }, whose({ of: 'nobody', isOwn: true }))
  await past({ type: 3, id: `${id}-other` }, { of: 'nobody' })
  await past({ type: 4, id }, { of: 'nobody' })
  await past({ type: 3, id, version: 1 }, { of: 'nobody' })
  if (current) await store({ type: 3, id, version: current.version }, whose(current))
  if (former) await past({ type: 3, id }, former)

  const client = await queue.client({ consent_exempt: false, organization_id: 'clinic', ...scene.client })
  const endpoint = await queue.endpoint({ client_id: client, author, organization: clinic, ...scene.endpoint })
  const event = await queue.event({ type: 3, resource_id: id, version: 2, patient: 'ada', ...scene.event })
  const rows = await queue.query<{ told: boolean; known: boolean }>(
    `with ${storedAbout('(select * from event where id = $2)')}
      select ${mayReceive} as told, ${mayKnowPatient} as known from webhook_endpoint p join event e on e.id = $2 ${audienceOf} where p.key = $1`,
    [endpoint, event],
  )
  return rows.map(({ told, known }) => [told, known])
}

const fhir = { event: '' }
const exempt = { consent_exempt: true }
const [open, closed] = [{ of: 'open' }, { of: 'closed' }] as const
const [now, later] = [{ version: 2 }, { version: 3 }]

test.each<[what: string, told: boolean, Scene]>([
  ['the patient has opened it', true, { current: { ...now, ...open } }],
  ['the patient has not opened it', false, { current: { ...now, ...closed } }],
  ['the clinic wrote it itself', true, { current: { ...now, ...closed, isOwn: true } }],
  ['it is nobody’s', true, { current: { ...now, of: 'nobody' } }],
  ['it was open, and is as it is now', true, { former: open, current: { ...later, ...open } }],
  ['it was open, and is closed now', false, { former: open, current: { ...later, ...closed } }],
  ['it was closed, and is open now', false, { former: closed, current: { ...later, ...open } }],
  ['it was open when it was deleted', true, { former: open }],
  ['it was closed when it was deleted', false, { former: closed }],
  ['that version is nowhere', false, { current: { ...later, ...open } }],
  ['nothing of it is there', false, {}],
  ['FHIR: it is open now', true, { event: fhir, former: closed, current: { ...later, ...open } }],
  ['FHIR: it is open, and is the version that is told of', true, { event: fhir, current: { ...now, ...open } }],
  ['FHIR: it is closed now', false, { event: fhir, former: open, current: { ...later, ...closed } }],
  ['FHIR: it is gone', false, { event: fhir, former: open }],
  ['consent does not filter the client', true, { client: exempt, current: { ...now, ...closed } }],
  ['consent does not filter the client, and it is gone', true, { client: exempt }],
  ['the event names the organisation', true, { event: { audience: '["other", "clinic"]' } }],
  ['the event names others', false, { event: { audience: '["other"]' }, current: { ...now, ...open } }],
  [
    'the event names others, and consent does not filter the client',
    true,
    { event: { audience: '[]' }, client: exempt },
  ],
  ['the client is revoked', false, { client: { ...exempt, revoked_at: new Date() } }],
  ['the subscription has ended', false, { client: exempt, endpoint: { ends_at: new Date(Date.now() - 1000) } }],
  ['the subscription will end', true, { client: exempt, endpoint: { ends_at: new Date(Date.now() + 60_000) } }],
])('whether somebody is told: %s: %s', async (_what, told, scene) => {
  expect((await decided(scene)).map(([each]) => each)).toEqual([told])
})

const current = { ...now, ...closed }

test.each<[what: string, known: boolean, Scene]>([
  ['somebody else registered him', false, { current, isRegistered: false }],
  ['the clinic registered him', true, { current, isRegistered: true }],
  ['the clinic registered him, and what is told is over', true, { former: closed, isRegistered: true }],
  ['he has opened something else to the clinic', true, { current, hasOpened: true }],
  ['he has opened it to the clinic', true, { current: { ...now, ...open } }],
  ['nobody has registered him, and it is nobody’s', false, { current: { ...now, of: 'nobody' } }],
  ['the event tells of no Health ID', true, { current, event: { patient: '' } }],
  ['the event names who is told', true, { current, event: { audience: '["clinic"]' } }],
  ['consent does not filter the client', true, { current, client: exempt }],
])('whether somebody may know the Health ID of the patient: %s: %s', async (_what, known, scene) => {
  expect((await decided(scene)).map(([, each]) => each)).toEqual([known])
})
