// docs/tags.md: it has the fifty tags of the interface (§1), and each call that it shows is answered as it says, on demo data.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { eventTypes } from '../src/events/event-types.ts'
import { demoClient } from '../src/identity/demo-accounts.ts'
import { adminOn } from './support/admin.ts'
import { type Answer as FhirAnswer, matchIds } from './support/fhir.ts'
import { post } from './support/identity.ts'
import { type Service, startService } from './support/service.ts'

const tags =
  'API, Admin, Analytics, Appointments, Billing, Blood Bank, Bridge, Broadcasts, Care Map, Care Plans, Cdss, Connect, Consents, Discovery, Document Verification, Documents, Encounters, FHIR, Files, Immunizations, Insurance, Inventory, Legal, Lite, Maternity, Messages, Mobile, Notification Preferences, Notifications, Offline, Operational Flow, Patients, Payment Plans, Pharmacy, Public Health, Queues, Radiology, Referrals, Reports, Research, SDK, Search, Security, Staff, Subscriptions, Support, Tasks, Telemedicine, Triage, Ward'.split(
    ', ',
  )
const page = readFileSync(join(import.meta.dirname, '../docs/tags.md'), 'utf8')

/** The one call that carries its credentials in the body. */
const tokenPath = '/api/v1/connect/auth/token'

interface Step {
  /** The request line, or the command. */
  readonly line: string
  readonly headers: Record<string, string>
  readonly body: string
  /** Stated on the page; undefined for a command. */
  readonly status: number | undefined
}

interface Section {
  readonly tag: string
  readonly text: string
  readonly steps: readonly Step[]
}

const sections: readonly Section[] = page
  .split(/^### /m)
  .slice(1)
  .map(text => ({ tag: text.split('\n')[0]!, text, steps: blocksOf(text).flatMap(stepsOf) }))

function blocksOf(text: string): { kind: string; content: string }[] {
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, kind, content]) => ({ kind: kind!, content: content! }))
}

function stepsOf({ kind, content }: { kind: string; content: string }): Step[] {
  const nothing = { headers: {}, body: '', status: undefined }
  if (kind === 'sh')
    return [...content.matchAll(/^npm run admin -- (.+)$/gm)].map(([, line]) => ({ ...nothing, line: line! }))
  expect(kind).toBe('http')
  return content
    .trimEnd()
    .split('\n\n')
    .map(each => exchange(each.split('\n')))
}

/** A request and, in its last line, the status of the reply. */
function exchange(lines: readonly string[]): Step {
  const [line = '', ...rest] = lines.slice(0, -1)
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(lines.at(-1)!)?.[1]
  expect(status, `${line} says how it is answered`).toBeDefined()
  const end = rest.findIndex(each => !/^[A-Z][\w-]+: /.test(each))
  const headers = end < 0 ? rest : rest.slice(0, end)
  return {
    line,
    headers: Object.fromEntries(headers.map(each => each.split(/: (.*)/).slice(0, 2))),
    body: end < 0 ? '' : rest.slice(end).join('\n'),
    status: Number(status),
  }
}

let service: Service
let token: string
const { told } = adminOn(() => service.database)

beforeAll(async () => {
  service = await startService()
  await service.application.prepare()
  const { id: client_id, secret: client_secret } = demoClient
  const { body } = await post(service, tokenPath, { grant_type: 'client_credentials', client_id, client_secret })
  token = body.access_token
})

type Answer = Pick<FhirAnswer, 'status' | 'text' | 'body'>

type Known = Record<string, unknown>

/** Puts in what earlier replies have said. */
const filled = (text: string, known: Known): string =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => {
    expect(known, whole).toHaveProperty(name)
    return String(known[name])
  })

async function send({ line, headers, body }: Step, known: Known): Promise<Answer> {
  const [method = '', path = ''] = filled(line, known).split(/ (.*)/)
  const media = path.startsWith('/api/fhir/R4') ? 'application/fhir+json' : 'application/json'
  const response = await fetch(service.url + path, {
    method,
    headers: {
      ...(path === tokenPath ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === '' ? {} : { 'Content-Type': media }),
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value, known)])),
    },
    ...(body === '' ? {} : { body: filled(body, known) }),
  })
  const text = await response.text()
  return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : undefined }
}

/** How much a list of any surface holds; undefined: the reply is no list. */
function found({ body }: Answer): number | undefined {
  if (body?.resourceType === 'Bundle' && body.type === 'searchset')
    return body.entry ? matchIds(body).length : (body.total ?? 0)
  if (body?.resourceType === 'Bundle' && body.type === 'history') return body.entry.length
  return Array.isArray(body?.data) ? body.data.length : undefined
}

/** How many entries of a search are warnings, or included. */
const modes = ({ body }: Answer, mode: string): number =>
  (body?.entry ?? []).filter((each: { search?: { mode: string } }) => each.search?.mode === mode).length

async function run(step: Step, known: Known): Promise<void> {
  if (step.status === undefined) return void Object.assign(known, await told(step.line.split(' ')))
  const answer = await send(step, known)
  expect(answer.status, `${step.line}\n${answer.text}`).toBe(step.status)
  if (answer.status < 300) {
    expect(found(answer), `${step.line}\n${answer.text}`).not.toBe(0)
    expect(modes(answer, 'outcome'), `${step.line} is understood whole`).toBe(0)
    if (/_(?:rev)?include=/.test(step.line)) expect(modes(answer, 'include'), step.line).toBeGreaterThan(0)
  }
  if (answer.body) Object.assign(known, answer.body)
}

describe('docs/tags.md', () => {
  test('has every tag of the interface once, each with a call and in the list of its group', () => {
    expect(tags).toHaveLength(50)
    expect(sections.map(({ tag }) => tag).toSorted()).toEqual(tags)
    const listed = [...page.split(/^## /m)[0]!.matchAll(/\[([^\]]+)\]\(#[a-z-]+\)/g)].map(([, tag]) => tag)
    expect(listed).toEqual(sections.map(({ tag }) => tag))
    expect(sections.filter(({ steps }) => !steps.some(({ status }) => status)).map(({ tag }) => tag)).toEqual([])
  })

  test('shows nothing in a block but calls, which are all read', () => {
    const lines = page.match(/^(?:(?:GET|POST|PUT|PATCH|DELETE) \/|npm run ).*$/gm)
    expect(sections.flatMap(({ steps }) => steps)).toHaveLength(lines!.length)
  })

  test('names events that there are', () => {
    const kinds = new Set(Object.keys(eventTypes).map(each => each.split('.')[0]))
    const named = [...page.matchAll(/`([a-z_]+)\.([a-z_]+)`/g)].filter(([, kind]) => kinds.has(kind!))
    expect(named.length).toBeGreaterThan(10)
    expect(named.map(([, kind, what]) => `${kind}.${what}`).filter(each => !Object.hasOwn(eventTypes, each))).toEqual(
      [],
    )
    expect(page).toContain(`of ${Object.keys(eventTypes).length} event types`)
  })

  test.each(sections)('$tag is answered as the page says', async ({ steps }) => {
    const known: Known = {}
    for (const step of steps) await run(step, known)
  })
})
