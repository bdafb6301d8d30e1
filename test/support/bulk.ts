// Exports and imports as a client sees them: order, ask until it is done, fetch the files.
import { expect } from 'vitest'
import type { Answer, CallOptions, fhirCaller } from './fhir.ts'
import { until } from './process.ts'

type Call = ReturnType<typeof fhirCaller>

export interface Manifest {
  readonly transactionTime: string
  readonly request: string
  readonly requiresAccessToken: boolean
  readonly output: readonly ManifestFile[]
  readonly deleted: readonly ManifestFile[]
  readonly error: readonly ManifestFile[]
}

export interface ManifestFile {
  readonly type: string
  readonly url: string
  readonly count: number
}

/** Orders, and gives the address to ask at. */
export async function ordered(
  call: Call,
  path: string,
  options: CallOptions & { method?: string } = {},
): Promise<string> {
  const { method = options.body === undefined ? 'GET' : 'POST', ...rest } = options
  const headers = { prefer: 'respond-async', ...options.headers }
  const answer = await call(method, path, { ...rest, headers })
  expect({ status: answer.status, text: answer.status === 202 ? '' : answer.text }).toEqual({ status: 202, text: '' })
  return answer.headers.get('content-location')!
}

/** Asks until the job has ended, well or badly. */
export async function ended(call: Call, address: string, options: CallOptions = {}): Promise<Answer> {
  let answer: Answer | undefined
  await until('the job has ended', async () => (answer = await call('GET', address, options)).status !== 202)
  return answer!
}

/** The manifest of an export or import that is done. */
export async function manifestOf(call: Call, path: string, options: CallOptions = {}): Promise<Manifest> {
  const answer = await ended(call, await ordered(call, path, options), { token: options.token })
  expect(answer.status).toBe(200)
  return answer.body
}

/** The lines of files, parsed. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into resources freely
export async function linesOf(files: readonly ManifestFile[], token: string): Promise<any[]> {
  const texts = await Promise.all(
    files.map(async file => {
      const response = await fetch(file.url, { headers: { authorization: `Bearer ${token}` } })
      expect(response.status).toBe(200)
      const lines = (await response.text()).split('\n')
      expect(lines.pop()).toBe('')
      expect(lines.length).toBe(file.count)
      return lines
    }),
  )
  return texts.flat().map(line => JSON.parse(line))
}

/** `Type/id` of what the lines of the files hold, sorted. */
export async function namesIn(files: readonly ManifestFile[], token: string): Promise<string[]> {
  const resources = await linesOf(files, token)
  return resources.map(({ resourceType, id }) => `${resourceType}/${id}`).sort()
}
