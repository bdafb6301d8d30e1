// Calls the FHIR endpoint as a client would, and hands back what tests look at.
import { Agent, request } from 'undici'
import { expect } from 'vitest'
import type { Service } from './service.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // Tests look into resources freely; what they find is what they assert.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any
  readonly text: string
}

export interface CallOptions {
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly token?: string
}

type FhirCaller = ReturnType<typeof fhirCaller>

// Thousands of requests are sent: fetch takes three times as long for each, most of it for web streams.
const dispatcher = new Agent()

/** A caller bound to a service: `call('GET', 'Patient/1')`, relative to the FHIR base unless the path begins with a slash. */
export function fhirCaller(service: () => Service) {
  return async (method: string, path: string, options: CallOptions = {}): Promise<Answer> => {
    const { body, headers = {} } = options
    const url = /^https?:/.test(path)
      ? path
      : path.startsWith('/')
        ? service().url + path
        : `${service().url}/api/fhir/R4${path === '' ? '' : `/${path}`}`
    const [type, sent] = written(body)
    const response = await request(url, {
      dispatcher,
      method: method as 'GET',
      headers: {
        authorization: `Bearer ${options.token ?? service().token}`,
        ...(type &&
          !Object.keys(headers).some(name => name.toLowerCase() === 'content-type') && { 'content-type': type }),
        ...headers,
      },
      body: sent,
    })
    const text = await response.body.text()
    return {
      status: response.statusCode,
      headers: headersOf(response.headers),
      text,
      body: text === '' ? undefined : JSON.parse(text),
    }
  }
}

/** A body as it is sent, and the media type of one that comes without. */
function written(body: unknown): [string | undefined, string | Uint8Array | undefined] {
  if (body === undefined) return [undefined, undefined]
  if (typeof body === 'string') return ['text/plain;charset=UTF-8', body]
  if (body instanceof Uint8Array) return [undefined, body]
  if (body instanceof URLSearchParams) return ['application/x-www-form-urlencoded;charset=UTF-8', `${body}`]
  return ['application/fhir+json', JSON.stringify(body)]
}

function headersOf(received: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(received))
    for (const value of [values ?? []].flat()) headers.append(name, value)
  return headers
}

/** The ids of a search's matches, in order. */
export function matchIds(body: Answer['body']): string[] {
  return (body.entry ?? [])
    .filter((entry: { search: { mode: string } }) => entry.search.mode === 'match')
    .map((entry: { resource: { id: string } }) => entry.resource.id)
}

interface Named {
  readonly resourceType: string
  readonly id: string
  readonly [more: string]: unknown
}

/** Creates resources under ids of their own, in order: `store(patient, observation)`. Each must be new. */
export function creatorBy(call: FhirCaller) {
  return async (...resources: readonly Named[]): Promise<void> => {
    for (const resource of resources) {
      const { status, text } = await call('PUT', `${resource.resourceType}/${resource.id}`, { body: resource })
      expect(status, text).toBe(201)
    }
  }
}

/** The ids that a search finds, sorted: `found('Patient?name=ada')`. The search must succeed. */
export function finderBy(call: FhirCaller) {
  return async (query: string): Promise<string[]> => {
    const { status, text, body } = await call('GET', query)
    expect(status, text).toBe(200)
    return matchIds(body).sort()
  }
}

/** The address of a bundle's link, e.g. `next`; undefined if it has none. */
export function linkOf(body: Answer['body'], relation: string): string | undefined {
  return body.link?.find((link: { relation: string }) => link.relation === relation)?.url
}

/** The ids of the matches on some pages, in order. */
export const idsOn = (pages: readonly Answer[]): string[] => pages.flatMap(({ body }) => matchIds(body))

/** A page, and those that its links of this relation lead to, as far as the most that are asked for. */
export async function followed(
  call: FhirCaller,
  first: Answer,
  relation: 'next' | 'previous',
  { most = Infinity, ...options }: CallOptions & { readonly most?: number } = {},
): Promise<Answer[]> {
  const pages = [first]
  for (
    let link = linkOf(first.body, relation);
    link && pages.length < most;
    link = linkOf(pages.at(-1)!.body, relation)
  )
    pages.push(await call('GET', link, options))
  return pages
}

/** Returns a function for the ids on all pages of a search: from the first on, and from the last back, both in the order of the answer. */
export const pagesBy =
  (call: FhirCaller) =>
  async (query: string): Promise<{ forth: string[]; back: string[] }> => {
    const pages = await followed(call, await call('GET', query), 'next')
    const back = await followed(call, pages.at(-1)!, 'previous')
    return { forth: idsOn(pages), back: idsOn(back.reverse()) }
  }

/** What an OperationOutcome says first: its code and its words. */
export function issueOf(body: Answer['body']): { code: string; diagnostics: string; expression?: string[] } {
  return body.issue[0]
}

/** Does something this many times at once. */
export const many = <T>(count: number, each: (number: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, number) => each(number)))
