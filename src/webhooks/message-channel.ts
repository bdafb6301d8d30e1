// The channel type `message`: what the criteria find goes as an HL7 v2 message to a receiver behind a Bridge agent.
import { cutAt } from '../lib/text.ts'
import { type Channel, type ChannelElement, linesOf, wrong } from './channel.ts'

/** The media type of HL7 v2 with its delimiters, as HL7 over HTTP names it. */
const messageType = 'application/hl7-v2'

const address = /^urn:health-interop:bridge:([A-Za-z0-9_]{1,100})#([a-z0-9-]{1,64})$/

/** Returns the agent and the receiver that an address of this channel names; undefined for any other address. */
export function receiverOf(url: string): { readonly agent: string; readonly target: string } | undefined {
  const [, agent, target] = address.exec(url) ?? []
  return agent === undefined || target === undefined ? undefined : { agent, target }
}

/** @param types the types of resources that maps make messages of. @throws Failure VALIDATION_FAILED for what is not supported. */
export function messageChannel(
  { endpoint, payload, header }: ChannelElement,
  type: string,
  types: readonly string[],
): Channel {
  const receiver = receiverOf(String(endpoint))
  if (!receiver)
    throw wrong(
      'channel.endpoint',
      'value',
      'must name a Bridge agent and one of its targets: urn:health-interop:bridge:agt_…#laboratory',
    )
  if (payload !== undefined && payload !== messageType)
    throw wrong('channel.payload', 'not-supported', `must be ${messageType}, or absent, for the type message`)
  if (!types.includes(type))
    throw wrong('criteria', 'not-supported', `must search on a type that has an HL7 v2 message: ${types.join(', ')}`)
  return { url: String(endpoint), mediaType: messageType, headers: headerOf(header), agent: receiver.agent }
}

/** What a line may say of the header of the messages. */
const fields: Readonly<Record<string, RegExp>> = {
  'MSH-3': /^\P{Cc}{1,180}$/u,
  'MSH-4': /^\P{Cc}{1,180}$/u,
  'MSH-5': /^\P{Cc}{1,180}$/u,
  'MSH-6': /^\P{Cc}{1,180}$/u,
  'MSH-11': /^[DPT]$/,
  'MSH-12': /^2\.[3-9](\.\d)?$/,
}

function headerOf(header: unknown): Record<string, string> {
  return Object.fromEntries(
    linesOf(header).map((line, index) => {
      const [name, value] = cutAt(line, ':').map(part => part.trim()) as [string, string]
      if (Object.hasOwn(fields, name) && fields[name]!.test(value)) return [name, value]
      throw wrong(
        `channel.header[${index}]`,
        'value',
        `must be a field of the message header and its value, such as MSH-5: LIS (${Object.keys(fields).join(', ')})`,
      )
    }),
  )
}
