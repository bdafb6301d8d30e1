// The channel type `rest-hook`: the service calls a URL of the subscriber. https://hl7.org/fhir/R4/subscription.html#2.46.7.1
import { cutAt } from '../lib/text.ts'
import { mustBeCallable, type Reach } from '../outbound/address.ts'
import { type Channel, type ChannelElement, linesOf, wrong } from './channel.ts'

/** @throws Failure VALIDATION_FAILED for what is not supported. */
export function restHook({ endpoint, payload, header }: ChannelElement, reach: Reach): Channel {
  if (typeof endpoint !== 'string') throw wrong('channel.endpoint', 'required', 'is required')
  const mediaType = mediaTypeOf(payload)
  return { url: callable(endpoint, mediaType !== undefined, reach), mediaType, headers: headersOf(header) }
}

/** Resources are put below it, so it cannot have a query then. */
function callable(endpoint: string, isBase: boolean, reach: Reach): string {
  const url = mustBeCallable(endpoint, reach, 'Subscription.channel.endpoint')
  if (isBase && new URL(url).search !== '')
    throw wrong('channel.endpoint', 'value', 'must have no query, because the path of the resource is appended to it')
  return url
}

function mediaTypeOf(payload: unknown): string | undefined {
  if (payload === undefined || payload === '') return undefined
  if (payload === 'application/fhir+json' || payload === 'application/json') return payload
  throw wrong(
    'channel.payload',
    'not-supported',
    'must be application/fhir+json, or absent for a notification without content',
  )
}

/** Headers that this side sets itself, or that would change what the request is. */
const reserved =
  /^(host|content-length|content-type|connection|transfer-encoding|expect|upgrade|te|trailer|keep-alive|proxy-.*)$/i

function headersOf(header: unknown): Record<string, string> {
  return Object.fromEntries(
    linesOf(header).map((line, index) => {
      const [name, value] = cutAt(line, ':').map(part => part.trim()) as [string, string]
      const isHeader = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name) && /^[\t\x20-\x7e]{1,4000}$/.test(value)
      if (!isHeader || reserved.test(name))
        throw wrong(
          `channel.header[${index}]`,
          'value',
          'must be a header of your own, such as Authorization: Bearer abc',
        )
      return [name.toLowerCase(), value]
    }),
  )
}
